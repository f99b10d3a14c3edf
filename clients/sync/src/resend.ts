import type { ClientSession, Db, Document } from 'mongodb';
import type { Outbox } from './outbox.js';
import { keyOf, type SentObjects } from './sent.js';
import { type Source, versionOf } from './source.js';

export interface BackfillOptions {
  /** Only these collections. */
  readonly collections?: readonly string[] | undefined;
  /** Only documents that match this query, such as those of a new account. */
  readonly filter?: Document | undefined;
  /** `done` documents were sent of about `total`. */
  readonly onProgress?: ((progress: { collection: string; done: number; total: number }) => void) | undefined;
}

export interface ReconcileOptions extends BackfillOptions {
  /** Deletes what is missing. Otherwise it is counted. */
  readonly deleteMissing?: boolean;
}

/** Documents that are read and sent together. */
const PIECE = 1000;
const MAJORITY = { readConcern: { level: 'majority' } } as const;

/** Sends all documents, and unless `deleteMissing` is undefined finds what was sent once and is no longer in the database. */
export async function resend(sent: SentObjects, outbox: Outbox, sources: readonly Source[], options: ReconcileOptions) {
  const { collections } = options;
  for (const source of sources.filter(({ collection }) => collections?.includes(collection) ?? true))
    await atOneTime(sent.database, async (session, version) => {
      const collection = sent.database.collection(source.collection);
      const total = await collection.estimatedDocumentCount();
      let done = 0;
      for await (const piece of inPieces(
        collection.find(options.filter ?? {}, { session, ...MAJORITY }).sort({ _id: 1 }),
      )) {
        const changes = piece.map((document) => ({ source, id: document._id as unknown, document, version }));
        await outbox.add(changes);
        await outbox.drain(PIECE);
        options.onProgress?.({ collection: source.collection, done: (done += piece.length), total });
      }
    });
  for (const source of options.deleteMissing === undefined ? [] : sources)
    await atOneTime(sent.database, async (session, version) => {
      const collection = sent.database.collection(source.collection);
      for await (const piece of inPieces(sent.of(source).find({}, { session, ...MAJORITY }))) {
        const ids = piece.map((row) => row._id as never);
        const found = collection.find({ _id: { $in: ids } }, { session, ...MAJORITY, projection: { _id: 1 } });
        const known = new Set(await found.map(({ _id: id }) => keyOf({ source, id })).toArray());
        const missing = ids.filter((id) => !known.has(keyOf({ source, id })));
        outbox.report.missing += missing.length;
        const changes = missing.map((id) => ({ source, id, document: undefined, version }));
        if (options.deleteMissing) await outbox.add(changes);
        await outbox.drain(PIECE);
      }
    });
  await outbox.drain();
  return outbox.report;
}

/** Runs work with the cluster's time as version; what it reads in the session is no older, and a later change has a later one. */
function atOneTime(database: Db, work: (session: ClientSession, version: number) => Promise<void>): Promise<void> {
  return database.client.withSession(async (session) => {
    await database.command({ ping: 1 }, { session });
    if (!session.operationTime) throw new Error('MongoDB must be a replica set or a sharded cluster.');
    await work(session, versionOf(session.operationTime));
  });
}

async function* inPieces(documents: AsyncIterable<Document>): AsyncGenerator<Document[]> {
  let piece: Document[] = [];
  for await (const document of documents) {
    piece.push(document);
    if (piece.length < PIECE) continue;
    yield piece;
    piece = [];
  }
  yield piece;
}
