import { createHash, hash } from 'node:crypto';
import type { ClientSession } from 'mongoose';
import { type Collection, defineCollection } from '../mongo/collection';
import { isDuplicateKey, isWriteConflict } from '../mongo/faults';
import type { Pace } from '../async/yield';
import { READ_TIMEOUT } from '../mongo/native';
import { stampedWrite } from './openWrites';
import type { OrganisationData } from './organisationData';
import type { UnitOfWork } from './unitOfWork';
import type { Writer } from './slots';
import { AppError } from '../errors';
import { DAY } from '../units';

/** The first answer to a write with an Idempotency-Key, stored in the organisation's database. */
interface IdempotencyRecord {
  /** Key id and hashed Idempotency-Key, so that different API keys never collide. */
  readonly _id: string;
  /** SHA-256 of the operation and its arguments. */
  readonly fingerprint: string;
  readonly answer: unknown;
  readonly created_at: Date;
}

/** How long an answer is replayed, in seconds (contract, section 7). */
export const REPLAY_SECONDS = DAY / 1000;

export const idempotencyRecords: Collection<IdempotencyRecord> = {
  ...defineCollection<IdempotencyRecord>('idempotency_records', [
    { on: { created_at: 1 }, options: { expireAfterSeconds: REPLAY_SECONDS } },
  ]),
  // their ids begin with that of the key
  restriction: 'unrestricted',
};

export interface IdempotentCall extends Asked {
  /** Id of the caller's API key. */
  readonly keyId: string;
  readonly by: Writer;
  /** As checkIdempotencyKey has passed it. */
  readonly idempotencyKey: string;
  /** Called before a stored answer is returned. */
  readonly onReplay: () => void;
}

/**
 * A write with an Idempotency-Key: its first answer is stored in the same transaction as the data, and replayed. Call `replay` first, and only if it
 * resolves with undefined `write`, which may replay, too: the first request may have ended in between.
 */
export async function createIdempotentWrite(data: OrganisationData, call: IdempotentCall) {
  // hashed, since a caller may send anything, even an API key
  const id = `${call.keyId}:${hash('sha256', call.idempotencyKey, 'base64url')}`;
  const fingerprint = await fingerprintOf(call, data.pace());
  const records = data.collection(idempotencyRecords);

  /** The first answer, if there is one. @throws AppError idempotency_key_reused for a different operation or arguments. */
  async function replay(): Promise<{ answer: unknown } | undefined> {
    const record = await data.reads(() => records.findOne({ _id: id }, { maxTimeMS: READ_TIMEOUT }));
    // by the database's clock, since all gateways and the TTL index have to agree
    if (!record || data.now() - record.created_at.getTime() >= REPLAY_SECONDS * 1000) return undefined;
    if (record.fingerprint !== fingerprint) throw reusedKey();
    call.onReplay();
    return { answer: record.answer };
  }

  /** Claims the key inside the transaction; a concurrent claim fails with a write conflict or a duplicate key. */
  async function claim(session: ClientSession, now: Date): Promise<void> {
    const cutoff = new Date(now.getTime() - REPLAY_SECONDS * 1000);
    // replaces an expired record, which the TTL index may not have deleted yet; beside a newer one, the upsert fails as a duplicate
    const expired = { _id: id, created_at: { $lte: cutoff } };
    await records.replaceOne(expired, { fingerprint, answer: null, created_at: now }, { session, upsert: true });
  }

  /** Runs the work and stores its record in one transaction. @throws AppError idempotency_in_progress while the first request is running. */
  const write: UnitOfWork = async (work, { writes, ...how }) => {
    try {
      return await stampedWrite(
        data,
        async (session, now) => {
          await claim(session, now).catch(refuseRival);
          const answer = await work(session, now);
          await records.updateOne({ _id: id }, { $set: { answer } }, { session });
          return answer;
        },
        { ...how, by: call.by, writes: [...writes, idempotencyRecords] },
      );
    } catch (error) {
      if (!(error instanceof RivalClaim)) throw error;
      const first = await replay();
      if (first) return first.answer as never;
      throw stillRunning();
    }
  };

  return { replay, write };
}

export function reusedKey(): AppError {
  const detail = 'This Idempotency-Key was already used with a different request; use a new one.';
  return new AppError('idempotency_key_reused', detail);
}

export function stillRunning(): AppError {
  const detail = 'A request with this Idempotency-Key is still running; retry in a moment.';
  return new AppError('idempotency_in_progress', detail, { retryAfter: 1 });
}

/** Another request has claimed the Idempotency-Key. The error has none of the driver's labels, so that the transaction is not retried. */
export class RivalClaim extends Error {}

/** @throws RivalClaim for the error of a claim that another request made first; otherwise the error itself */
export function refuseRival(error: unknown): never {
  throw isDuplicateKey(error) || isWriteConflict(error) ? new RivalClaim('claimed by another request') : error;
}

/** A write's root field and arguments. */
export interface Asked {
  readonly operation: string;
  readonly args: unknown;
}

/** Characters after which other requests get a turn: well below a millisecond of work. */
const PIECE = 16 * 1024;

/**
 * SHA-256 of an operation and its arguments as JSON with sorted members, so that their order does not matter. It works in slices, since the
 * arguments can be as large as a body and are not validated yet.
 */
export async function fingerprintOf({ operation, args }: Asked, pace: Pace): Promise<string> {
  const hash = createHash('sha256').update(operation).update('\n');
  const written = { text: '' };
  for (const _ of writeSorted(args, written)) {
    hash.update(written.text);
    written.text = '';
    const pause = pace();
    if (pause) await pause;
  }
  return hash.update(written.text).digest('base64url');
}

/** Appends a value as JSON.stringify writes it, but with sorted members. Yields when the text is longer than a piece, for the caller to take it. */
function* writeSorted(value: unknown, to: { text: string }): Generator<undefined, void> {
  // a Date, which a scalar may return, serialises itself
  if (typeof value !== 'object' || value === null || value instanceof Date) {
    to.text += jsonOf(value);
    return;
  }
  const isList = Array.isArray(value);
  const names = isList ? value.keys() : Object.keys(value).sort();
  let before = isList ? '[' : '{';
  for (const name of names) {
    if (to.text.length > PIECE) yield;
    const member = (value as Record<string | number, unknown>)[name];
    if (!isList && member === undefined) continue;
    to.text += before + (isList ? '' : `${JSON.stringify(name)}:`);
    before = ',';
    // no generator for each scalar, of which a body can have many
    if (typeof member !== 'object' || member === null) to.text += jsonOf(member);
    else yield* writeSorted(member, to);
  }
  // if it is empty, nothing has opened it yet
  to.text += before === ',' ? '' : before;
  to.text += isList ? ']' : '}';
}

/** In a list, undefined is null. */
function jsonOf(value: unknown): string {
  return value === undefined ? 'null' : JSON.stringify(value);
}
