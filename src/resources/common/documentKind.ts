import { type ClientSession, type mongo, trusted } from 'mongoose';
import type { Collection } from '../../database/collection';
import { nativeCollection } from '../../database/native';
import type { OrganisationData } from '../../database/organisationData';
import type { Fault } from '../../errors';
import type { ImportRecord, RecordKind, StoredRecord } from './records';
import { isSameRow } from './sameRow';

interface DocumentKindSpec<T extends { readonly _id: string }> {
  readonly file: string;
  readonly type: string;
  readonly collection: Collection<T>;
  /** The member that is unique in the organisation; the file is sorted by it. */
  readonly uniqueBy: string;
  /** DateTime members. */
  readonly times: readonly string[];
  /** The search words of a document. */
  readonly search: (document: T) => string[];
  readonly rules?: (record: ImportRecord) => Fault[];
  /** Members written with a decimal point even if they are whole, at any depth. */
  readonly decimals?: readonly string[];
}

/** A record kind whose records are the documents of a collection. */
export function documentKind<T extends { _id: string }>(spec: DocumentKindSpec<T>): RecordKind {
  return {
    file: spec.file,
    type: spec.type,
    rules: spec.rules ?? (() => []),
    ...(spec.decimals && { decimals: spec.decimals }),
    store: async (data, records, session) => {
      const documents = records.map((record) => {
        const document = fromRecord(record, spec.times) as unknown as T;
        return Object.assign(document, { search: spec.search(document) });
      });
      return storeDocuments(data, spec.collection, documents, { uniqueBy: spec.uniqueBy, session });
    },
    count: (data) => data.collection(spec.collection).countDocuments(),
    read: (data) => readRecords(data, spec.collection, { [spec.uniqueBy]: 1 }),
  };
}

/** Converts a record to a document: `id` becomes `_id`, times become dates. */
export function fromRecord(
  record: Readonly<Record<string, unknown>>,
  times: readonly string[],
): Record<string, unknown> {
  const { id, ...members } = record;
  const document: Record<string, unknown> = { _id: id, ...members };
  for (const time of times) document[time] = toDate(members[time]);
  return document;
}

function toDate(value: unknown): Date | null {
  return typeof value === 'string' ? new Date(value) : null;
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
  for await (const document of data.collection(collection).find().sort(sort).lean().cursor({ batchSize: 200 })) {
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
  const model = data.collection(collection);
  const ids = trusted({ $in: documents.map((document) => document._id) });
  const known = (await model
    .find({ _id: ids } as object, undefined, { session, batchSize: documents.length + 1 })
    .lean()) as T[];
  const existing = new Map(known.map((document) => [document._id, document]));
  const claim =
    uniqueBy === undefined
      ? undefined
      : claims(uniqueBy, await ownersOf(data, collection, documents, uniqueBy, session));
  const operations: object[] = [];
  const outcomes = documents.map((document): StoredRecord => {
    const before = existing.get(document._id);
    const conflict = claim?.(document, before);
    if (conflict) return { outcome: 'failed', errors: [conflict] };
    if (before && isSameRow(before, document)) return { outcome: 'unchanged', errors: [] };
    operations.push(
      before ? { replaceOne: { filter: { _id: document._id }, replacement: document } } : { insertOne: { document } },
    );
    return { outcome: before ? 'updated' : 'created', errors: [] };
  });
  if (operations.length > 0) {
    const writes = operations as mongo.AnyBulkWriteOperation<T>[];
    await nativeCollection(model).bulkWrite(writes, { ordered: true, session });
  }
  return outcomes;
}

/** Assigns unique values to documents, in file order; returns a fault if another document has the value. */
function claims<T extends { _id: string }>(
  uniqueBy: string,
  owners: Map<unknown, string>,
): (document: T, before: T | undefined) => Fault | undefined {
  const valueOf = (document: T): unknown => (document as Record<string, unknown>)[uniqueBy];
  return (document, before) => {
    const value = valueOf(document);
    const owner = owners.get(value);
    if (owner !== undefined && owner !== document._id) {
      return {
        pointer: `/${uniqueBy}`,
        code: 'conflict',
        detail: `${String(value)} belongs to another record (id ${owner})`,
      };
    }
    // the previous value is now free for the records that follow
    if (before && owners.get(valueOf(before)) === document._id) owners.delete(valueOf(before));
    owners.set(value, document._id);
    return undefined;
  };
}

async function ownersOf<T extends { _id: string }>(
  data: OrganisationData,
  collection: Collection<T>,
  documents: readonly T[],
  uniqueBy: string,
  session: ClientSession,
): Promise<Map<unknown, string>> {
  const values = documents.map((document) => (document as Record<string, unknown>)[uniqueBy]);
  const rows = await data
    .collection(collection)
    .find({ [uniqueBy]: trusted({ $in: values }) } as object, { [uniqueBy]: 1 }, { session })
    .lean();
  return new Map((rows as Record<string, unknown>[]).map((row) => [row[uniqueBy], String(row._id)]));
}
