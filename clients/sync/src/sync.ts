import type { ChangeStreamDocument, Collection, ResumeToken } from 'mongodb';
import { type FollowOptions, followEvents, type Position, type SyncEvent } from './follow.js';
import { openGateway } from './gateway.js';
import { checkOptions, type SyncOptions } from './options.js';
import { Outbox, type Report } from './outbox.js';
import { type BackfillOptions, type ReconcileOptions, resend } from './resend.js';
import { keyOf, SentObjects } from './sent.js';
import { type Change, type Source, versionOf } from './source.js';

/** Changes that are read within this many milliseconds, or so many, are sent together. */
const [TOGETHER, MOST] = [100, 500];
/** The most elements that wait for organisations that are away before nothing more is read. */
const MOST_WAITING = 5000;
/** How often the position is stored while no source changes, in milliseconds. */
const IDLE = 60_000;
const _id = 'position';
const OPERATIONS = ['insert', 'update', 'replace', 'delete'];
/** What MongoDB ends a stream with when its database is dropped; only `startAfter` goes on after it. */
const END = 'invalidate';
/**
 * ChangeStreamHistoryLost, ChangeStreamFatalError, InvalidResumeToken, what servers call a token of another form, and BSONObjectTooLarge: an
 * event that the stream would never get past.
 */
const LOST: ReadonlySet<unknown> = new Set([286, 280, 260, 40647, 50811, 9, 10334]);

export class Sync {
  readonly #stopped = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #gateway;
  readonly #sent: SentObjects;
  readonly #positions: Collection<Position>;

  constructor(readonly options: SyncOptions) {
    checkOptions(options);
    const { database, gateway, sources, onRetry = () => undefined, name = 'scopegate_sync' } = options;
    this.#gateway = openGateway(gateway, onRetry, this.#stopped.signal);
    this.#sent = new SentObjects(database, name, sources);
    this.#positions = database.collection(name, { writeConcern: { w: 'majority' } });
  }

  /**
   * Follows changes until `stop`. The first time, and if MongoDB's log no longer goes back to where it was, it reconciles first. Rejects
   * if the gateway refuses it, e.g. its token.
   */
  run(): Promise<void> {
    return this.#untilStopped(() =>
      this.#gateway.retrying(async () => {
        try {
          await this.#follow((await this.#positions.findOne({ _id }))?.token ?? (await this.#begin()));
        } catch (error) {
          if (LOST.has((error as { readonly code?: unknown }).code)) await this.#positions.deleteOne({ _id });
          throw error;
        }
      }),
    );
  }

  /** Sends all documents. Newer objects stay and equal ones are unchanged, so it may run at any time, and again. */
  backfill({ onProgress, collections, filter }: BackfillOptions = {}): Promise<Report> {
    return this.#resend({ onProgress, collections, filter });
  }

  /** Sends all documents, and counts, or deletes, what was sent once and is no longer in your database. */
  reconcile(options: ReconcileOptions = {}): Promise<Report> {
    return this.#resend({ deleteMissing: false, ...options });
  }

  /** Hands the events of all organisations to `handler` until `stop`: one after another, at least once, and again if it rejects. */
  follow(handler: (event: SyncEvent) => unknown, options: FollowOptions = {}): Promise<void> {
    return this.#untilStopped(() => followEvents(this.#gateway, this.#positions, handler, options));
  }

  /** Ends everything; a backfill rejects. What has no answer yet is sent again by the next process. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.allSettled(this.#running);
  }

  async #untilStopped(work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopped;
    const running = work().catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    this.#running.add(running);
    await running.finally(() => this.#running.delete(running));
  }

  #resend(options: ReconcileOptions): Promise<Report> {
    return resend(this.#sent, this.#outbox(), this.options.sources, options);
  }

  #outbox(): Outbox {
    return new Outbox(this.#gateway, this.#sent, this.options.onFault);
  }

  #open(startAfter?: ResumeToken) {
    const collections = this.options.sources.map(({ collection }) => collection);
    const changes = { 'ns.coll': { $in: collections }, operationType: { $in: OPERATIONS } };
    const stages = [
      { $match: { $or: [changes, { operationType: END }] } },
      // with the document it could exceed the 16 MB that an event may have
      { $unset: 'updateDescription' },
    ];
    const options = { fullDocument: 'updateLookup', maxAwaitTimeMS: TOGETHER } as const;
    return this.options.database.watch(stages, startAfter === undefined ? options : { ...options, startAfter });
  }

  async #store(token: unknown): Promise<void> {
    await this.#positions.updateOne({ _id }, { $set: { token } }, { upsert: true });
  }

  /** Sends everything; returns where changes follow it. */
  async #begin(): Promise<ResumeToken> {
    const stream = this.#open();
    await stream.tryNext();
    const { resumeToken } = stream;
    await stream.close();
    await this.reconcile({ deleteMissing: true });
    await this.#store(resumeToken);
    return resumeToken;
  }

  /** Sends changes after a token, and stores how far it is whenever nothing waits for an answer. */
  async #follow(token: ResumeToken): Promise<never> {
    const outbox = this.#outbox();
    let stream = this.#open(token);
    try {
      for (let storedAt = Date.now(); ;) {
        const changes = new Map<string, Change>();
        for (let until = Infinity; changes.size < MOST && Date.now() < until;) {
          const event = await stream.tryNext();
          this.#stopped.signal.throwIfAborted();
          // of a stream that has ended, `tryNext` never waits
          if (!event && stream.closed) throw new Error('MongoDB ended the change stream; it is opened again.');
          if (!event) break;
          until = Math.min(until, Date.now() + TOGETHER);
          if (event.operationType === END) {
            await stream.close();
            stream = this.#open(event._id);
            // the position went with the database; without one, a restart in the middle of a restore would delete what is not there yet
            storedAt = 0;
            break;
          }
          const change = changeOf(event, this.options.sources);
          if (!change) continue;
          // to the end
          changes.delete(keyOf(change));
          changes.set(keyOf(change), change);
        }
        await outbox.add([...changes.values()]);
        await outbox.drain(MOST_WAITING);
        if (outbox.size > 0 || (changes.size === 0 && Date.now() < storedAt + IDLE)) continue;
        await this.#store(stream.resumeToken);
        storedAt = Date.now();
      }
    } finally {
      await stream.close();
    }
  }
}

function changeOf(event: ChangeStreamDocument, sources: readonly Source[]): Change | undefined {
  if (!('documentKey' in event) || !event.clusterTime) return undefined;
  const source = sources.find(({ collection }) => collection === event.ns.coll);
  const document = 'fullDocument' in event ? event.fullDocument : undefined;
  // deleted since: that follows
  if (!source || (event.operationType !== 'delete' && !document)) return undefined;
  return { source, id: event.documentKey._id, document, version: versionOf(event.clusterTime) };
}
