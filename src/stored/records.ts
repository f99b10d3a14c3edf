import type { ClientSession } from 'mongoose';
import type { Collection } from '../database/collection';
import { isDuplicateKey } from '../database/faults';
import { stampedWrite } from '../database/openWrites';
import type { OrganisationData } from '../database/organisationData';
import type { Fault } from '../errors';
import type { FindBroken, Numbered } from './brokenNumbers';
import { ERASED_AT } from '../schema/personal';
import type { StoredType } from '../schema/storedTypes';
import { erasedFault, isSameRow, type RowChange, writeRows } from './rows';

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
  readonly writes: OrganisationData['collections'];
  /** Stores records that are new or changed. @throws a duplicate key error if the transaction should be retried. */
  readonly store: (
    data: OrganisationData,
    records: readonly ImportRecord[],
    session: ClientSession,
  ) => Promise<StoredRecord[]>;
  readonly count: (data: OrganisationData) => Promise<number>;
  /** All records, in file order. */
  readonly read: (data: OrganisationData) => AsyncIterable<ImportRecord>;
  /** Finds a number that no file can hold. */
  readonly brokenNumber: FindBroken | undefined;
}

/** A record in a file: JSON, with ids as `id` and times as strings. */
export type ImportRecord = Record<string, unknown> & { readonly id: string };

export interface StoredRecord {
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'failed';
  readonly errors: readonly Fault[];
}

const TRIES = 5;

/** Stores records in one transaction; retries if another writer took a unique value meanwhile. */
export async function storeRecords(
  kind: RecordKind,
  data: OrganisationData,
  records: readonly ImportRecord[],
): Promise<StoredRecord[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const options = { writes: kind.writes, rows: records.length };
      return await stampedWrite(data, (session) => kind.store(data, records, session), options);
    } catch (error) {
      if (attempt === TRIES || !isDuplicateKey(error)) throw error;
    }
  }
}

/** A record kind whose records are the rows of a resource; the file is sorted by the unique member. */
export function documentKind<T extends { readonly _id: string }>(
  resource: Collection<T> & Numbered & { words(row: object): string[] },
  { rules = () => [], decimals }: RecordRules,
): RecordKind {
  const { collection: file, type, unique: uniqueBy = '_id' } = resource.stored;
  return {
    file,
    type,
    rules,
    decimals,
    writes: [resource],
    store: (data, records, session) => {
      const documents = records.map((record) => {
        const document = fromRecord(record, resource.stored);
        return { ...document, search: resource.words(document) } as unknown as T;
      });
      return storeDocuments(data, resource, documents, { uniqueBy, session });
    },
    count: (data) => data.collection(resource).countDocuments(),
    read: (data) => readRecords(data, resource, { [uniqueBy]: 1 }),
    brokenNumber: resource.brokenNumber,
  };
}

/** Converts a record to a document: `id` becomes `_id`, times become dates. */
export function fromRecord(
  record: Readonly<Record<string, unknown>>,
  { members }: StoredType,
): Record<string, unknown> {
  const { id, ...given } = record;
  const document: Record<string, unknown> = { _id: id, ...given };
  for (const { name, kind } of members) {
    const value = given[name];
    if (kind === 'dateTime' && typeof value === 'string') document[name] = new Date(value);
  }
  return document;
}

/** Converts a document to a record: `_id` becomes `id`, without search words. Dates become strings in JSON. */
export function toRecord(document: { readonly _id: string }): ImportRecord {
  const { _id: id, search: _search, ...members } = document as { _id: string; search?: unknown };
  return { id, ...members };
}

export async function* readRecords<T extends { _id: string }>(
  data: OrganisationData,
  collection: Collection<T>,
  sort: Record<string, 1>,
): AsyncGenerator<ImportRecord> {
  for await (const document of data.collection(collection).find<T>({}, { sort, batchSize: 200 })) {
    yield toRecord(document);
  }
}

/**
 * Stores documents that are new or changed; a document fails if its unique value belongs to another id.
 * @throws a duplicate key error if another writer was faster; the transaction can be retried.
 */
export async function storeDocuments<T extends { _id: string }>(
  data: OrganisationData,
  collection: Collection<T>,
  documents: readonly T[],
  { uniqueBy, session }: { uniqueBy?: string; session: ClientSession },
): Promise<StoredRecord[]> {
  const stored = data.collection(collection);
  const same = { _id: { $in: documents.map((document) => document._id) } };
  const known = await stored.find<T>(same as object, { session, batchSize: documents.length + 1 }).toArray();
  const existing = new Map(known.map((document) => [document._id, document]));
  const claim = uniqueBy === undefined ? undefined : await claims(data, collection, documents, uniqueBy, session);
  const changed: RowChange<T>[] = [];
  const outcomes = documents.map((document): StoredRecord => {
    const before = existing.get(document._id);
    const conflict = claim?.(document, before);
    const erased = ERASED_AT in document && document[ERASED_AT] !== null ? undefined : erasedFault(before, '');
    if (erased) return { outcome: 'failed', errors: [erased] };
    if (conflict) return { outcome: 'failed', errors: [conflict] };
    if (before && isSameRow(before, document)) return { outcome: 'unchanged', errors: [] };
    changed.push({ row: document, before });
    return { outcome: before ? 'updated' : 'created', errors: [] };
  });
  await writeRows(stored, changed, { ordered: true, session });
  return outcomes;
}

/** Returns a function that assigns unique values to documents, in file order, and returns a fault if another document has the value. */
async function claims<T extends { _id: string }>(
  data: OrganisationData,
  collection: Collection<T>,
  documents: readonly T[],
  uniqueBy: string,
  session: ClientSession,
): Promise<(document: T, before: T | undefined) => Fault | undefined> {
  const valueOf = (document: T): unknown => (document as Record<string, unknown>)[uniqueBy];
  // a member that rows may lack is unique among the rows that have it
  const hasValue = (document: T): boolean => (valueOf(document) ?? null) !== null;
  const taken = { [uniqueBy]: { $in: documents.filter(hasValue).map(valueOf) } };
  const options = { projection: { [uniqueBy]: 1 }, session };
  const rows = await data
    .collection(collection)
    .find<T>(taken as object, options)
    .toArray();
  const owners = new Map(rows.map((row) => [valueOf(row), row._id]));
  return (document, before) => {
    if (!hasValue(document)) return undefined;
    const value = valueOf(document);
    const owner = owners.get(value);
    if (owner !== undefined && owner !== document._id) {
      const detail = `${String(value)} belongs to another record (id ${owner})`;
      return { pointer: `/${uniqueBy}`, code: 'conflict', detail };
    }
    // the previous value is now free for the records that follow
    if (before && owners.get(valueOf(before)) === document._id) owners.delete(valueOf(before));
    owners.set(value, document._id);
    return undefined;
  };
}
