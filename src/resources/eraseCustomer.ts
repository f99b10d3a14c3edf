import type { ClientSession } from 'mongoose';
import { idempotencyRecords } from '../tenant/idempotency';
import { stampedWrite, writesEnded } from '../tenant/openWrites';
import type { OrganisationData } from '../tenant/organisationData';
import type { Writer } from '../tenant/slots';
import { collections } from '.';
import { ERASED_AT, erasedMembers, PERSON, typesOfCustomer } from '../schema/personal';
import { published } from '../schema/model';
import { namedType } from '../schema/sdl';
import { referenceTo } from '../schema/storedTypes';
import type { Resource, Row } from '../stored/resource';
import { changedAt, isSameRow, writeRows } from '../stored/rows';

/*
 * Erases one customer's personal data wherever it was copied: the members with @personal of the customer, of the objects that refer to
 * it, and of their parts (docs/decisions/organisation-life.md); and texts in members that the schema no longer has.
 */

/** Maximum rows changed in one transaction. */
const AT_ONCE = 200;

/** Number of rows changed, by collection. */
export type Erased = Readonly<Record<string, number>>;

/** On whose behalf, and what stops it between two transactions. */
interface Erasure {
  readonly by: Writer;
  readonly signal: AbortSignal;
}

type Filter = Readonly<Record<string, unknown>>;
type Members = Readonly<Record<string, unknown>>;

/** A resource with what replaces its personal members, and its parts, which have the id of their owner in `by`. */
interface Erasable {
  readonly resource: Resource;
  readonly erased: Members;
  /** The members with the customer's id. */
  readonly by: readonly string[];
  readonly parts: readonly { readonly resource: Resource; readonly erased: Members; readonly by: string }[];
}

/** The resources with customers' personal data, customers first. */
function erasables(): Erasable[] {
  const resources = new Map(collections.map((resource) => [resource.stored.type, resource]));
  const erasable = ({ type }: Resource['stored']) => {
    const resource = resources.get(type);
    return resource ? [{ resource, erased: erasedMembers(published, resource.stored) }] : [];
  };
  return typesOfCustomer(published.stored).flatMap(({ stored, by, parts: all }) => {
    const parts = all.flatMap(erasable);
    const columns = by.map((member) => (member === 'id' ? '_id' : member));
    return erasable(stored).map((target) => ({
      ...target,
      by: columns,
      parts: parts.map((part) => ({ ...part, by: referenceTo(stored.type) })),
    }));
  });
}

/**
 * Erases a customer's personal data in all collections: first the customer and then, once the writes that read it before have ended,
 * the copies, so that none is missed. Running it again continues an interrupted erasure, and changes nothing once everything is erased.
 */
export async function eraseCustomer(data: OrganisationData, id: string, erasure: Erasure): Promise<Erased> {
  const { signal } = erasure;
  const counts: Record<string, number> = {};
  const count = (resource: Resource, rows: number, isListed = rows > 0): void => {
    if (!isListed) return;
    counts[resource.name] = (counts[resource.name] ?? 0) + rows;
  };
  for (const { resource, erased, by, parts } of erasables()) {
    const [first = '', ...others] = by;
    const ofCustomer = others.length === 0 ? { [first]: id } : { $or: by.map((member) => ({ [member]: id })) };
    const isListed = (members: Members): boolean => Object.keys(members).length > 0;
    count(resource, 0, isListed(erased) || parts.some((part) => isListed(part.erased)));
    for (const part of parts) count(part.resource, 0, isListed(part.erased));
    count(resource, await eraseRows(data, resource, { ...erasure, filter: ofCustomer, erased }));
    // writes that read these rows before may still store a copy, or an answer
    await writesEnded(data, signal);
    await eraseAnswers(
      data,
      resource,
      by.map((member) => ({ [`answer.${member}`]: id })),
      erased,
    );
    // parts come after their owners, because a new part copies names from its owner
    for await (const rows of batches(data, resource, ofCustomer)) {
      const ids = { $in: rows.map(({ _id }) => _id) };
      // answers from before the objects were the customer's
      await eraseAnswers(data, resource, [{ 'answer._id': ids }], erased);
      for (const part of parts) {
        signal.throwIfAborted();
        count(
          part.resource,
          await eraseRows(data, part.resource, { ...erasure, filter: { [part.by]: ids }, erased: part.erased }),
        );
        await eraseAnswers(data, part.resource, [{ [`answer.${part.by}`]: ids }], part.erased);
      }
    }
  }
  return counts;
}

/** Erases personal members in answers that are kept for retries: those with an object of the resource that meets one of the conditions. */
async function eraseAnswers(
  data: OrganisationData,
  resource: Resource,
  conditions: readonly Filter[],
  erased: Members,
): Promise<void> {
  const { type, members } = resource.stored;
  const isReturned = published.roots.some(({ kind, field }) => kind === 'Mutation' && namedType(field.type) === type);
  if (!isReturned || Object.keys(erased).length === 0) return;
  // answers of other types lack at least one of these members
  const required = members.filter(({ isRequired }) => isRequired).map(({ name }) => (name === 'id' ? '_id' : name));
  const isOne = required.map((name) => ({ [`answer.${name}`]: { $exists: true } }));
  const words = resource.words(erased);
  const erasedAt = type === PERSON && { [ERASED_AT]: new Date(data.now()) };
  const after = Object.entries({ ...erased, ...erasedAt, ...(words.length > 0 && { search: words }) });
  await data
    .collection(idempotencyRecords)
    .updateMany(
      { $and: isOne, $or: [...conditions] },
      { $set: Object.fromEntries(after.map(([name, value]) => [`answer.${name}`, value])) },
    );
}

/** Changes rows in transactions of {@link AT_ONCE}. Resolves with the number of rows that changed. */
async function eraseRows(
  data: OrganisationData,
  resource: Resource,
  { filter, erased, by, signal }: Erasure & { readonly filter: Filter; readonly erased: Members },
): Promise<number> {
  let total = 0;
  for await (const batch of batches(data, resource, filter)) {
    signal.throwIfAborted();
    const ids = batch.map(({ _id }) => _id);
    total += await stampedWrite(data, (session, now) => changeRows(data, resource, { ids, erased, session, now }), {
      ...{ writes: [resource], by },
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
    const searched = 'search' in before ? { ...after, search: resource.words(after) } : after;
    if (isSameRow(before, searched)) return [];
    const { updated_at: last } = before as { updated_at?: Date };
    return { row: { ...searched, ...(last && { updated_at: changedAt(last, now) }) }, before: row };
  });
  await writeRows(stored, changed, { ordered: false, session });
  return changed.length;
}

/** A row without texts in members that its type has no longer, or never had: nobody can say whether they are personal. */
function withoutUnknown({ stored: { members } }: Resource, row: Row & Members): Row & Members {
  const names = new Set(['_id', 'search', ...members.map(({ name }) => name)]);
  return Object.fromEntries(
    Object.entries(row).filter(([name, value]) => names.has(name) || !mayHaveText(value)),
  ) as Row & Members;
}

/** Whether a value is or has a text; an ObjectId or a number of BSON is none. */
function mayHaveText(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'string';
  return !(value instanceof Date || '_bsontype' in value);
}

/** The matching rows, with only their _id, in batches of up to {@link AT_ONCE}. */
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
