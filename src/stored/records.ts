import type { ClientSession } from 'mongoose';
import type { Collection } from '../mongo/collection';
import { atMost } from '../mongo/native';
import { stampedWrite } from '../tenant/openWrites';
import type { OrganisationData } from '../tenant/organisationData';
import type { Writer } from '../tenant/slots';
import type { Fault } from '../errors';
import { faultInRecord, type FindFault } from './invalidRows';
import { ATTACHMENTS } from '../schema/attachmentNames';
import { indexOfRepeatedKey, METADATA, metadataObject, metadataPairs } from '../schema/metadata';
import { ERASED_AT } from '../schema/personal';
import { hasAttachments, type StoredMember, type StoredType } from '../schema/storedTypes';
import { removeFiles } from '../tenant/files';
import { removeDetached, withStoredAttachments } from './attachmentRows';
import { storeAgain } from './elementCalls';
import { erasedCustomerFault, erasedCustomersOf, hasPersonalData } from './erasedCustomers';
import { changedAt, erasedFault, isSameRow, type RowChange, writeRows } from './rows';
import { type UniqueClaim, uniqueClaims } from './uniqueClaims';

/** Rules of a resource's records that the SDL cannot express. */
export interface RecordRules {
  /** Rules across members, for records whose members are valid. */
  readonly rules?: (record: ImportRecord) => Fault[];
  /** Members, at any depth, whose numbers are written with a decimal point even if they are whole. */
  readonly decimals?: readonly string[] | undefined;
}

/**
 * How a resource is imported and exported: a file of NDJSON records in the shape of contract, section 3. `import` validates
 * each record by `type` and `rules`, then stores those that are new or changed.
 */
export interface RecordKind extends Required<Pick<RecordRules, 'rules'>>, Pick<RecordRules, 'decimals'> {
  /** Name of the file without .ndjson. */
  readonly file: string;
  /** The SDL type whose shape a record has. */
  readonly type: string;
  /** Members of the type that a record omits. */
  readonly omit?: readonly string[];
  /** Additional list members of a record, with the SDL type of their items. */
  readonly lists?: Readonly<Record<string, { readonly type: string; readonly omit: readonly string[] }>>;
  /** The collections that it writes; the first has the objects, whose ids are those of the records. */
  readonly writes: OrganisationData['collections'];
  /**
   * Stores records that are new or changed; with `now` that is their time of change instead of the records' own. @throws a duplicate key error
   * if the transaction should be retried.
   */
  readonly store: (
    data: OrganisationData,
    records: readonly ImportRecord[],
    session: ClientSession,
    now?: Date,
  ) => Promise<StoredRecord[]>;
  /** Deletes objects with their parts. */
  readonly remove: (data: OrganisationData, ids: readonly string[], session: ClientSession) => Promise<void>;
  readonly count: (data: OrganisationData) => Promise<number>;
  /** All records, in file order. */
  readonly read: (data: OrganisationData) => AsyncIterable<ImportRecord>;
  /** Finds the first member of a record that `import` would refuse. */
  readonly faultIn: FindFault;
}

/** A record in a file: JSON, with ids as `id` and times as strings. */
export type ImportRecord = Record<string, unknown> & { readonly id: string };

export interface StoredRecord {
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'failed';
  readonly errors: readonly Fault[];
}

/** Which `updated_at` imported records get: the time of the import, or that in the file. */
export type Stamp = 'now' | 'file';

/** Stores records in one transaction, again if another writer takes a unique value meanwhile. @throws as {@link storeAgain} */
export async function storeRecords(
  kind: RecordKind,
  data: OrganisationData,
  records: readonly ImportRecord[],
  { by, stamp = 'file' }: { readonly by: Writer; readonly stamp?: Stamp | undefined },
): Promise<StoredRecord[]> {
  const work = (session: ClientSession, now: Date): Promise<StoredRecord[]> =>
    kind.store(data, records, session, stamp === 'now' ? now : undefined);
  return storeAgain(() => stampedWrite(data, work, { writes: kind.writes, rows: records.length, by }));
}

/** A record kind whose records are the rows of a resource. */
export function createDocumentKind<T extends { readonly _id: string }>(
  resource: Collection<T> & { readonly stored: StoredType; words(row: object): string[] },
  { rules = () => [], decimals }: RecordRules,
): RecordKind {
  const { collection: file, type } = resource.stored;
  return {
    file,
    type,
    rules,
    decimals,
    writes: [resource],
    store: (data, records, session, now) => {
      const documents = records.map((record) => {
        const document = fromRecord(record, resource.stored);
        return { ...document, search: resource.words(document) } as unknown as T;
      });
      return storeDocuments(data, resource, documents, { session, now });
    },
    remove: async (data, ids, session) => {
      await data.collection(resource).deleteMany({ _id: { $in: [...ids] } } as object, { session });
      if (hasAttachments(resource.stored))
        await removeFiles(data, { collection: resource.name, objectIds: ids }, session);
    },
    count: (data) => data.collection(resource).countDocuments(),
    read: (data) => readRecords(data, resource),
    faultIn: faultInRecord(resource.stored),
  };
}

/** Converts a record to a document: `id` becomes `_id`, times become dates, and metadata becomes pairs. */
export function fromRecord(
  record: Readonly<Record<string, unknown>>,
  { members }: StoredType,
): Record<string, unknown> {
  const { id, ...others } = withPairs(record);
  return withDates({ _id: id, ...others }, members);
}

/** An object with dates in place of the texts of times, at any depth. */
function withDates(object: Readonly<Record<string, unknown>>, members: readonly StoredMember[]) {
  const document: Record<string, unknown> = { ...object };
  for (const { name, kind, members: inner } of members) {
    const value = object[name];
    if (kind === 'dateTime' && typeof value === 'string') document[name] = new Date(value);
    else if (inner.some(hasTime) && value !== null && typeof value === 'object') {
      const convert = (part: unknown) => withDates(part as Readonly<Record<string, unknown>>, inner);
      document[name] = Array.isArray(value) ? value.map(convert) : convert(value);
    }
  }
  return document;
}

/** Whether a value of a member can have times in it, at any depth. */
export const hasTime = ({ kind, members }: StoredMember): boolean => kind === 'dateTime' || members.some(hasTime);

/** A record with metadata as it is stored: not at all if there is none. */
function withPairs(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!(METADATA in record)) return record;
  const { [METADATA]: metadata, ...others } = record;
  const pairs = metadataPairs(metadata);
  return pairs === undefined ? others : { ...record, [METADATA]: pairs };
}

/** Converts a document to a record: `_id` becomes `id`, without search words, and metadata becomes an object. Dates become strings in JSON. */
export function toRecord(document: { readonly _id: string }): ImportRecord {
  const { _id: id, search: _search, ...others } = document as { _id: string; search?: unknown };
  const members = withoutNullAttachments(others);
  return METADATA in members ? { id, ...members, [METADATA]: metadataObject(members[METADATA]) } : { id, ...members };
}

/** Without the null that another program may have stored in place of attachments. */
function withoutNullAttachments(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (members[ATTACHMENTS] !== null) return members;
  const { [ATTACHMENTS]: _none, ...others } = members;
  return others;
}

/** The records of a collection by their ids, which cannot change: by another member, one that changes meanwhile would be read twice or not at all. */
export async function* readRecords<T extends { _id: string }>(
  data: OrganisationData,
  collection: Collection<T>,
): AsyncGenerator<ImportRecord> {
  for await (const document of data.collection(collection).find<T>({}, { sort: { _id: 1 }, batchSize: 200 })) {
    const record = toRecord(document);
    const { [METADATA]: pairs } = document as { readonly [METADATA]?: unknown };
    // with a key twice as it is stored, which `faultIn` names: an object would lose a value
    yield indexOfRepeatedKey(pairs) === -1 ? record : { ...record, [METADATA]: pairs };
  }
}

interface StoreOptions<T> {
  readonly session: ClientSession;
  /** The time of change of what changes, instead of the documents' own. */
  readonly now?: Date | undefined;
  /** Whether a document, or a part that is stored with it, has personal data. Default: the document itself. */
  readonly isPersonal?: (document: T) => boolean;
}

/**
 * Stores documents that are new or changed. A document fails if one of its unique values belongs to another id, and if it has personal data of an
 * erased customer.
 * @throws a duplicate key error if another writer was faster; the transaction can be retried.
 */
export async function storeDocuments<T extends { _id: string }>(
  data: OrganisationData,
  collection: Collection<T> & { readonly stored: StoredType },
  documents: readonly T[],
  { session, now, isPersonal = (document) => hasPersonalData(collection, document) }: StoreOptions<T>,
): Promise<StoredRecord[]> {
  const stored = data.collection(collection);
  const filter = { _id: { $in: documents.map((document) => document._id) } };
  const storedDocuments = await stored.find<T>(filter as object, { session, ...atMost(documents.length) }).toArray();
  const existing = new Map(storedDocuments.map((document) => [document._id, document]));
  // also those that a record's stored row refers to: an export may be older than the reference
  const personal = documents.filter(isPersonal).flatMap((document) => [document, existing.get(document._id)]);
  const erasedCustomers = await erasedCustomersOf(data, collection, personal, session);
  const claimants = documents.map((row) => ({ row, before: existing.get(row._id) }));
  const claims = await uniqueClaims(data, collection, claimants, { session });
  const changes: RowChange<T>[] = [];
  const outcomes = documents.map((imported): StoredRecord => {
    const before = existing.get(imported._id);
    const complete = withStoredAttachments(imported, before);
    // with the stored time, so that a difference in time alone is no change
    const document = now ? stampedAs(complete, before) : complete;
    const isUnchanged = before !== undefined && isSameRow(before, document);
    // a record that says that it is erased was exported after the erasure, and has nothing personal
    const own = ERASED_AT in document && document[ERASED_AT] !== null ? undefined : erasedFault(before, '');
    const customers = !isUnchanged && isPersonal(imported) ? [document, before] : [];
    const erased =
      own ?? customers.flatMap((row) => erasedCustomerFault(collection, row, erasedCustomers, '') ?? []).at(0);
    const errors = erased ? [erased] : claims.flatMap((claim) => ownedFault(claim, document) ?? []);
    if (errors.length > 0) return { outcome: 'failed', errors };
    for (const { take } of claims) take(document, before);
    if (isUnchanged) return { outcome: 'unchanged', errors: [] };
    const isDated = now !== undefined && timeOf(document) !== undefined;
    const row = isDated ? { ...document, updated_at: changedAt(timeOf(before) ?? now, now) } : document;
    changes.push({ row, before });
    return { outcome: before ? 'updated' : 'created', errors: [] };
  });
  await writeRows(stored, changes, { ordered: true, session });
  for (const change of changes) await removeDetached(data, collection.name, change, session);
  return outcomes;
}

function timeOf(row: object | undefined): Date | undefined {
  const { updated_at: time }: { readonly updated_at?: Date } = row ?? {};
  return time;
}

/** The row with another's time of change, if that has one. */
function stampedAs<T extends object>(row: T, other: object | undefined): T {
  const time = timeOf(other);
  return time === undefined ? row : { ...row, updated_at: time };
}

function ownedFault({ member, ownerOf }: UniqueClaim, document: object): Fault | undefined {
  const owner = ownerOf(document);
  if (owner === undefined) return undefined;
  const value = String((document as Readonly<Record<string, unknown>>)[member]);
  return { pointer: `/${member}`, code: 'conflict', detail: `${value} belongs to another record (id ${owner})` };
}
