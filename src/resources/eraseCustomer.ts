import { type ClientSession, mongo } from 'mongoose';
import { files, ofObjects, removeFiles } from '../tenant/files';
import { idempotencyRecords } from '../tenant/idempotency';
import { stampedWrite, writesEnded } from '../tenant/openWrites';
import type { OrganisationData } from '../tenant/organisationData';
import type { Writer } from '../tenant/slots';
import { collections } from '.';
import { ERASED, ERASED_AT, erasedMembers, PERSON, typesOfCustomer } from '../schema/personal';
import { ATTACHMENTS } from '../schema/attachmentNames';
import { published } from '../schema/model';
import { namedType } from '../sdl/nodes';
import { referenceTo, type StoredMember } from '../schema/storedTypes';
import type { Resource, Row } from '../stored/resource';
import { isSameRow, stampedRow, writeRows } from '../stored/rows';

/*
 * Erases one customer's personal data wherever it was copied: the members with @personal of the customer, of the objects that refer to
 * it, and of their parts (docs/decisions/organisation-life.md); and texts in members that the schema no longer has.
 */

/** Maximum rows changed in one transaction. */
const AT_ONCE = 200;

/** Number of rows changed, by collection: all with personal members, also those with 0, and others in which rows changed. */
export type Erased = Readonly<Record<string, number>>;

/** On whose behalf it is; `signal` stops it between two transactions. */
interface Erasure {
  readonly by: Writer;
  readonly signal: AbortSignal;
}

type Filter = Readonly<Record<string, unknown>>;
type Members = Readonly<Record<string, unknown>>;

/** A resource with personal data of customers. */
interface Erasable {
  readonly resource: Resource;
  /** The values that replace its personal members. */
  readonly erased: Members;
  /** The columns with the customer's id. */
  readonly customerColumns: readonly string[];
  /** Resources whose objects are part of one of these, as messages of a request; `ownerColumn` has the id of that one. */
  readonly parts: readonly { readonly resource: Resource; readonly erased: Members; readonly ownerColumn: string }[];
}

/** The name of a member in the database. */
const columnOf = (member: string): string => (member === 'id' ? '_id' : member);

const hasMembers = (members: Members): boolean => Object.keys(members).length > 0;

/** The resources with customers' personal data, customers first. */
function erasables(): Erasable[] {
  const resources = new Map(collections.map((resource) => [resource.stored.type, resource]));
  const erasable = ({ type }: Resource['stored']) => {
    const resource = resources.get(type);
    if (!resource) throw new Error(`${type} has no collection`);
    return { resource, erased: erasedMembers(published, resource.stored) };
  };
  return typesOfCustomer(published.stored).map(({ stored, customerMembers, parts }) => ({
    ...erasable(stored),
    customerColumns: customerMembers.map(columnOf),
    parts: parts.map((part) => ({ ...erasable(part), ownerColumn: referenceTo(stored.type) })),
  }));
}

/**
 * Erases a customer's personal data in all collections: first the customer and then, once the writes that read it before have ended,
 * the copies, so that none is missed. Running it again continues an interrupted erasure, and changes nothing once everything is erased.
 */
export async function eraseCustomer(data: OrganisationData, id: string, erasure: Erasure): Promise<Erased> {
  const { signal } = erasure;
  const counts: Record<string, number> = {};
  const count = ({ name }: Resource, rows: number): void => {
    if (rows > 0) counts[name] = (counts[name] ?? 0) + rows;
  };
  for (const { resource, erased, customerColumns, parts } of erasables()) {
    const [first = '', ...others] = customerColumns;
    const ofCustomer =
      others.length === 0 ? { [first]: id } : { $or: customerColumns.map((column) => ({ [column]: id })) };
    // reported even if none of their rows changes
    const personalParts = parts.filter((part) => hasMembers(part.erased));
    if (hasMembers(erased) || personalParts.length > 0) counts[resource.name] ??= 0;
    for (const part of personalParts) counts[part.resource.name] ??= 0;
    const eraseOwn = async (): Promise<void> => {
      count(resource, await eraseRows(data, resource, { ...erasure, filter: ofCustomer, erased }));
    };
    await eraseOwn();
    // writes of any collection that read these rows before may still store a copy, or an answer
    await writesEnded(data, signal);
    // what a write has stored since that began before and met an erased row only when it ran again
    await eraseOwn();
    const answersOfCustomer = customerColumns.map((column) => ({ [`answer.${column}`]: id }));
    await eraseAnswers(data, resource, answersOfCustomer, erased);
    // parts come after their owners, because a new part copies names from its owner
    for await (const rows of batches(data, resource, ofCustomer)) {
      const ids = { $in: idsOf(rows) };
      // stored answers about these objects from before they were the customer's, which do not name it
      await eraseAnswers(data, resource, [{ 'answer._id': ids }], erased);
      // parts have no attachments (schema/checks/attachables.ts)
      if (ATTACHMENTS in erased) await eraseFiles(data, resource, ids.$in, erasure);
      for (const part of parts) {
        signal.throwIfAborted();
        const filter = { [part.ownerColumn]: ids };
        count(part.resource, await eraseRows(data, part.resource, { ...erasure, filter, erased: part.erased }));
        await eraseAnswers(data, part.resource, [{ [`answer.${part.ownerColumn}`]: ids }], part.erased);
      }
    }
  }
  return counts;
}

/**
 * Erases personal members in answers that are kept for retries: those with an object of the resource that meets one of the conditions. They
 * lose their search words, which no API shows; a customer's answers get the time of this erasure, whatever its row has.
 */
async function eraseAnswers(
  data: OrganisationData,
  resource: Resource,
  conditions: readonly Filter[],
  erased: Members,
): Promise<void> {
  const { type, members } = resource.stored;
  const isReturned = published.roots.some(({ kind, field }) => kind === 'Mutation' && namedType(field.type) === type);
  if (!isReturned || !hasMembers(erased)) return;
  // an answer does not name its type; if another type has all these members, too much is erased of a retry's answer, never too little
  const required = members.filter(({ isRequired }) => isRequired).map(({ name }) => columnOf(name));
  const hasRequiredMembers = required.map((column) => ({ [`answer.${column}`]: { $exists: true } }));
  const erasedAt = type === PERSON && { [ERASED_AT]: new Date(data.now()) };
  const after = Object.entries({ ...erased, ...erasedAt });
  await data.collection(idempotencyRecords).updateMany(
    { $and: hasRequiredMembers, $or: [...conditions] },
    {
      $set: Object.fromEntries(after.map(([name, value]) => [`answer.${name}`, value])),
      $unset: { 'answer.search': '' },
    },
  );
}

/** The files that are deleted in one transaction: each has up to 41 chunks. */
const FILES_AT_ONCE = 20;

/** Deletes the files of objects, also those that their rows have no longer, and their names in answers that are kept for retries. */
async function eraseFiles(
  data: OrganisationData,
  { name }: Resource,
  objectIds: readonly string[],
  { by, signal }: Erasure,
): Promise<void> {
  const owned = ofObjects({ collection: name, objectIds });
  for (;;) {
    signal.throwIfAborted();
    const fileRows = await data
      .collection(files)
      .find(owned, { projection: { _id: 1 }, limit: FILES_AT_ONCE })
      .toArray();
    if (fileRows.length === 0) break;
    const some = { collection: name, objectIds, ids: idsOf(fileRows) };
    await stampedWrite(data, (session) => removeFiles(data, some, session), { writes: [], by, makesRoom: true });
  }
  await data
    .collection(idempotencyRecords)
    .updateMany({ 'answer.attached_to': { $in: [...objectIds] } }, { $set: { 'answer.attachment.file_name': ERASED } });
}

/** Erases personal members of matching rows, {@link AT_ONCE} in a transaction. Resolves with the number of rows that changed. */
async function eraseRows(
  data: OrganisationData,
  resource: Resource,
  { filter, erased, by, signal }: Erasure & { readonly filter: Filter; readonly erased: Members },
): Promise<number> {
  let total = 0;
  for await (const batch of batches(data, resource, filter)) {
    signal.throwIfAborted();
    const ids = idsOf(batch);
    total += await stampedWrite(data, (session, now) => changeRows(data, resource, { ids, erased, session, now }), {
      writes: [resource],
      by,
      makesRoom: true,
    });
  }
  return total;
}

interface RowsToChange {
  readonly ids: readonly string[];
  readonly erased: Members;
  readonly session: ClientSession;
  readonly now: Date;
}

async function changeRows(
  data: OrganisationData,
  resource: Resource,
  { ids, erased, session, now }: RowsToChange,
): Promise<number> {
  const stored = data.collection(resource);
  const rows = await stored.find({ _id: { $in: [...ids] } }, { session }).toArray();
  const changed = rows.flatMap((row) => {
    const before = row as Row & Members;
    const knownMembers = withoutUnknown(resource, before);
    const isPerson = resource.stored.type === PERSON;
    const after = { ...knownMembers, ...erased, ...(isPerson && { [ERASED_AT]: before[ERASED_AT] ?? now }) };
    // not if the row has none: messages have no search words, and to rows of other programs events/tail adds them
    const indexed = 'search' in before ? { ...after, search: resource.words(after) } : after;
    if (isSameRow(before, indexed)) return [];
    return { row: stampedRow(indexed, before, now), before: row };
  });
  await writeRows(stored, changed, { ordered: false, session });
  return changed.length;
}

/** A row without texts in members that its type has no longer, or never had: nobody can say whether they are personal. */
function withoutUnknown({ stored: { members } }: Resource, row: Row & Members): Row & Members {
  return ofMembers(row, members, ['_id', 'search']) as Row & Members;
}

/** The object without texts in members other than these, also in objects inside it. */
function ofMembers(object: Members, members: readonly StoredMember[], others: readonly string[] = []): Members {
  const known = new Map(members.map((member) => [member.name, member]));
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, value]) => {
      const member = known.get(name);
      if (!member) return others.includes(name) || !mayHaveText(value) ? [[name, value]] : [];
      return [[name, member.kind === 'object' ? insideOf(value, member.members) : value]];
    }),
  );
}

/** The same of the value of a member that is an object or a list of objects. */
function insideOf(value: unknown, members: readonly StoredMember[]): unknown {
  if (Array.isArray(value)) return value.map((one) => insideOf(one, members));
  return typeof value === 'object' && value !== null ? ofMembers(value as Members, members) : value;
}

/** Types of BSON whose values hold no text. */
const TEXTLESS = new Set<unknown>([
  'ObjectId',
  'Double',
  'Int32',
  'Long',
  'Decimal128',
  'Timestamp',
  'MinKey',
  'MaxKey',
]);

/** Whether a value is or may hold a text: not a number, boolean, time or id, but binary data, code and regular expressions. */
function mayHaveText(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'string';
  if (value instanceof Date || value instanceof mongo.BSON.UUID) return false;
  return !('_bsontype' in value && TEXTLESS.has(value._bsontype));
}

const idsOf = (rows: readonly { readonly _id: string }[]): string[] => rows.map(({ _id }) => _id);

/** The ids of matching rows, as rows, in batches of up to {@link AT_ONCE}. */
async function* batches(data: OrganisationData, resource: Resource, filter: Filter): AsyncGenerator<readonly Row[]> {
  const rows = data.collection(resource);
  let batch: Row[] = [];
  for await (const row of rows.find(filter as object, { projection: { _id: 1 }, batchSize: AT_ONCE })) {
    batch.push({ _id: row._id });
    if (batch.length < AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
