import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import mongoose, { type mongo } from 'mongoose';
import { MEBIBYTE } from '../../units';
import { createIndexes, type Description, meaningOf } from '../indexes';
import type { OrganisationData } from '../organisationData';
import { openWrites, SETTLED_READ } from '../slots';
import { transactOn } from '../transact';
import { collectionsOf, indexesOf, indexLike, createLike } from './collections';

/*
 * Copies an organisation's database to another cluster while nothing writes to it, and compares the two
 * (docs/decisions/organisation-move.md).
 */

const { BSON } = mongoose.mongo;

/** Limits of one transaction; its last document, of up to 16 MiB, may take it beyond `bytes`. */
const BATCH = { documents: 1000, bytes: 4 * MEBIBYTE };
/** Batches that are copied concurrently. */
const LANES = ['1', '2', '3', '4'];
/** Keeps each value's type, so that what is written is what was read. */
const AS_STORED = { promoteValues: false, promoteLongs: false, promoteBuffers: false, bsonRegExp: true } as const;
/** Read options that see every acknowledged write. */
const ACKNOWLEDGED = { raw: true, ...SETTLED_READ } as const;
/** Rows that expire within this time (ms) are not compared, since each cluster deletes them by itself. */
const EXPIRES_WITHIN = 3_600_000;

/** Another process has taken over the move. */
export class MoverLost extends Error {
  override readonly name = 'MoverLost';

  constructor() {
    super('another process has taken over the move');
  }
}

export class CopyFault extends Error {
  override readonly name = 'CopyFault';
}

export interface Copying {
  readonly source: OrganisationData;
  readonly target: OrganisationData;
  /** Id of this process, which alone may write to the target. */
  readonly mover: string;
  readonly signal: AbortSignal;
  /** Called with how many documents are done, and how many there were at the beginning. */
  readonly onProgress: (done: number, total: number) => void;
}

export interface Compared {
  readonly collections: number;
  readonly documents: number;
  readonly bytes: number;
  /** SHA-256 of all collections' names and documents as the server stores them. */
  readonly sha256: string;
}

/** Marks the mover's transactions in the target. Each lane has a row too, since transactions that change the same row conflict. */
interface MoverRow {
  readonly _id: string;
  readonly batches?: number;
  /** Ids of the mover's sessions. */
  readonly sessions?: readonly mongo.Binary[];
}

const laneOf = (mover: string, lane: string): string => `${mover} ${lane}`;

function moverRows(target: OrganisationData): mongo.Collection<MoverRow> {
  return target.collection(openWrites) as never;
}

/** Makes this process the only one that can write to the target: transactions of others are ended, or store nothing. */
export async function claimTarget({ target, mover }: Copying): Promise<void> {
  const others = await moverRows(target).find().toArray();
  const sessions = others.flatMap((row) => row.sessions ?? []);
  const kill = { killSessions: sessions.map((id) => ({ id })) };
  // the transaction of a killed mover would lock its row until the server's time limit
  if (sessions.length > 0) await target.database.client.db('admin').command(kill);
  await target.slots.fence();
  await createIndexes(target.database, openWrites, []);
  await moverRows(target).insertMany([{ _id: mover }, ...LANES.map((lane) => ({ _id: laneOf(mover, lane) }))]);
}

/** Copies what is missing. @throws MoverLost; AbortError when the signal aborts */
export async function copyAll(copying: Copying): Promise<void> {
  const { source, target, onProgress } = copying;
  const [from, to] = [source.database, target.database];
  const found = await collectionsOf(from);
  const total = await documentsOf(from, found);
  const write = writerOf(copying);
  const indexing: Promise<void>[] = [];
  let done = 0;
  for (const collection of found) {
    const { name } = collection;
    await createLike(to, collection);
    // a killed attempt can have left gaps anywhere
    const isBegun = (await to.collection(name).findOne({}, { projection: { _id: 1 } })) !== null;
    await inLanes(batches(raw(from, name, {})), async (batch, lane) => {
      copying.signal.throwIfAborted();
      const missing = isBegun ? await missingOf(to, name, batch) : batch;
      if (missing.length > 0) await write(name, missing, lane);
      onProgress((done += batch.length), total);
    });
    // building indexes after the documents are there is faster, and the next collection is copied meanwhile
    const indexed = indexLike(to, from, name, copying.signal);
    indexed.catch(() => undefined);
    indexing.push(indexed);
  }
  await Promise.all(indexing);
}

/** Gives each lane one batch after another. @throws the first failure, once all lanes have ended */
async function inLanes(
  all: AsyncGenerator<Buffer[]>,
  work: (batch: readonly Buffer[], lane: string) => Promise<void>,
): Promise<void> {
  const run = async (lane: string): Promise<void> => {
    // leaving the loop ends the batches for all lanes
    for await (const batch of all) await work(batch, lane);
  };
  const ended = await Promise.allSettled(LANES.map(run));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}

/** The documents of a batch that are missing from a collection. */
async function missingOf(database: mongo.Db, name: string, batch: readonly Buffer[]): Promise<readonly Buffer[]> {
  const ids = batch.map((document) => BSON.deserialize(document, AS_STORED)._id as unknown);
  const wanted = { _id: { $in: ids as never[] } };
  const found = database.collection(name).find(wanted, { ...ACKNOWLEDGED, projection: { _id: 1 } });
  const there = new Set<string>();
  for await (const one of found) there.add((one as unknown as Buffer).toString('latin1'));
  return batch.filter((_document, at) => !there.has(Buffer.from(BSON.serialize({ _id: ids[at] })).toString('latin1')));
}

/** About how many documents collections have, for a progress bar. */
async function documentsOf(database: mongo.Db, collections: readonly { readonly name: string }[]): Promise<number> {
  const counts = await Promise.all(collections.map(({ name }) => database.collection(name).estimatedDocumentCount()));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Stores batches, each in a transaction that also updates a row, which proves that this process is still the mover. */
function writerOf({ target, mover }: Copying) {
  const rows = moverRows(target);
  const known = new Set<string>();
  const transact = transactOn(target.database.client, async ({ id: session }) => {
    if (!session || known.has(session.id.toString('hex'))) return;
    await rows.updateOne({ _id: mover }, { $push: { sessions: session.id } });
    known.add(session.id.toString('hex'));
  });
  return (name: string, batch: readonly Buffer[], lane: string): Promise<void> =>
    transact(async (session) => {
      const own = { _id: laneOf(mover, lane) };
      const { matchedCount } = await rows.updateOne(own, { $inc: { batches: 1 } }, { session });
      if (matchedCount === 0) throw new MoverLost();
      const documents = batch.map((document) => BSON.deserialize(document, AS_STORED));
      const options = { session, forceServerObjectId: true };
      await target.database.collection(name).insertMany(documents, options);
    });
}

/** Compares all documents and indexes. @throws CopyFault that names the first difference; AbortError */
export async function compareAll({ source, target, signal, onProgress }: Copying): Promise<Compared> {
  const [from, to] = [source.database, target.database];
  const found = await collectionsOf(from);
  const names = found.map(({ name }) => name);
  const copied = (await collectionsOf(to)).map(({ name }) => name);
  if (!isDeepStrictEqual(names, copied)) throw new CopyFault('the collections differ');
  const hash = createHash('sha256');
  const total = await documentsOf(from, found);
  let [documents, bytes] = [0, 0];
  for (const name of names) {
    const indexes = await indexesOf(from, name);
    const [given, copied] = [indexes, await indexesOf(to, name)].map(describe);
    if (!isDeepStrictEqual(given, copied)) throw new CopyFault(`the indexes of ${name} differ`);
    hash.update(name);
    const kept = lasting(indexes, source.now());
    const others = raw(to, name, kept);
    try {
      for await (const document of raw(from, name, kept)) {
        signal.throwIfAborted();
        const other = await others.next();
        if (other.done === true || !document.equals(other.value)) throw new CopyFault(differs(name, document));
        hash.update(document);
        documents += 1;
        bytes += document.length;
        if (documents % BATCH.documents === 0) onProgress(documents, total);
      }
      const more = await others.next();
      if (more.done !== true) throw new CopyFault(differs(name, more.value));
    } finally {
      await others.return(undefined);
    }
  }
  onProgress(documents, total);
  return { collections: names.length, documents, bytes, sha256: hash.digest('hex') };
}

function differs(name: string, document: Buffer): string {
  return `the copy of ${name} ${JSON.stringify(BSON.deserialize(document)._id)} differs`;
}

const describe = (indexes: readonly Description[]): string[] => indexes.map((one) => `${one.name} ${meaningOf(one)}`);

/** A filter that leaves out the rows that a TTL index is about to delete. */
function lasting(indexes: readonly mongo.IndexDescription[], now: number): Record<string, unknown> {
  return Object.fromEntries(
    indexes.flatMap(({ key, expireAfterSeconds }) => {
      const [member] = Object.keys(key);
      if (expireAfterSeconds === undefined || member === undefined) return [];
      return [[member, { $not: { $lte: new Date(now - expireAfterSeconds * 1000 + EXPIRES_WITHIN) } }]];
    }),
  );
}

/** Documents as the server stores them, in the order of their ids. */
async function* raw(database: mongo.Db, name: string, filter: object): AsyncGenerator<Buffer, undefined> {
  const cursor = database.collection(name).find(filter, ACKNOWLEDGED).sort({ _id: 1 }).batchSize(BATCH.documents);
  // leaving the loop closes the cursor
  for await (const document of cursor) yield document as unknown as Buffer;
  return undefined;
}

async function* batches(documents: AsyncIterable<Buffer>): AsyncGenerator<Buffer[]> {
  let [batch, bytes] = [[] as Buffer[], 0];
  for await (const document of documents) {
    batch.push(document);
    bytes += document.length;
    if (batch.length < BATCH.documents && bytes < BATCH.bytes) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}
