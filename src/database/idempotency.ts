import { createHash } from 'node:crypto';
import type { ClientSession } from 'mongoose';
import { isDuplicateKey, isWriteConflict } from './faults';
import { stampedWrite } from './openWrites';
import type { OrganisationData, UnitOfWork } from './organisationData';
import { AppError, invalidRequest } from '../errors';
import { REPLAY_SECONDS, type IdempotencyRecord, idempotencyRecords } from './idempotencyRecords';

export { idempotencyRecords } from './idempotencyRecords';

/** A write that may be sent again: its first answer is recorded in the transaction of its data, and replayed. */
export interface IdempotentWrite {
  /** The first answer, when there is one. @throws AppError idempotency_key_reused for another operation or other arguments. */
  readonly replay: () => Promise<{ readonly answer: unknown } | undefined>;
  /** Runs the work with its record in one transaction. @throws AppError idempotency_in_progress while the first still runs. */
  readonly write: UnitOfWork;
}

const SANE_KEY = /^[\x21-\x7e]{1,255}$/;

/** @throws AppError invalid_request when a key is empty, longer than 255 characters, or not visible ASCII. */
export function checkIdempotencyKey(key: string): string {
  if (SANE_KEY.test(key)) return key;
  throw invalidRequest([
    { parameter: 'Idempotency-Key', code: 'format', detail: 'must be 1 to 255 visible ASCII characters' },
  ]);
}

export interface IdempotentCall {
  /** The API key that calls. */
  readonly keyId: string;
  /** @see checkIdempotencyKey */
  readonly idempotencyKey: string;
  /** Name of the root field, and its arguments as they were checked. */
  readonly operation: string;
  readonly args: unknown;
  /** Told when the answer is not new. */
  readonly onReplay: () => void;
}

export function idempotentWrite(data: OrganisationData, call: IdempotentCall): IdempotentWrite {
  // hashed, since a caller may send anything there, even a key
  const id = `${call.keyId}:${createHash('sha256').update(call.idempotencyKey).digest('base64url')}`;
  const fingerprint = fingerprintOf(call);
  const records = data.collection(idempotencyRecords);

  async function replay(): Promise<{ answer: unknown } | undefined> {
    const record = (await data.reads(async () => records.findById(id).lean())) as IdempotencyRecord | null;
    if (!record || isOver(record)) return undefined;
    if (record.fingerprint !== fingerprint) {
      throw new AppError(
        'idempotency_key_reused',
        'This Idempotency-Key came with another request before; use a new one.',
      );
    }
    call.onReplay();
    return { answer: record.answer };
  }

  /** Claims the key inside the transaction: a second claim meets a conflict or a duplicate, never both succeed. */
  async function claim(session: ClientSession): Promise<void> {
    const cutoff = new Date(Date.now() - REPLAY_SECONDS * 1000);
    await records.collection.deleteOne({ _id: id, created_at: { $lte: cutoff } } as object, { session });
    await records.create([{ _id: id, fingerprint, answer: null, created_at: new Date() }], { session });
  }

  const write: UnitOfWork = async (work, how) => {
    try {
      return await stampedWrite(
        data,
        async (session, now) => {
          await claim(session).catch(refuseRival);
          const answer = await work(session, now);
          await records.updateOne({ _id: id }, { $set: { answer } }, { session });
          return answer;
        },
        how,
      );
    } catch (error) {
      if (!(error instanceof RivalClaim)) throw error;
      // the other may have finished in the meantime
      const first = await replay();
      if (first) return first.answer as never;
      const detail = 'A request with this Idempotency-Key is still running; try again in a moment.';
      throw new AppError('idempotency_in_progress', detail, { retryAfter: 1 });
    }
  };

  return { replay, write };
}

/** Another request holds the claim. Carries no label of the driver's, so that the transaction is not tried again. */
class RivalClaim extends Error {}

function refuseRival(error: unknown): never {
  throw isDuplicateKey(error) || isWriteConflict(error) ? new RivalClaim('claimed by another request') : error;
}

function isOver(record: IdempotencyRecord): boolean {
  return Date.now() - record.created_at.getTime() >= REPLAY_SECONDS * 1000;
}

function fingerprintOf({ operation, args }: IdempotentCall): string {
  return createHash('sha256').update(operation).update('\n').update(canonical(args)).digest('base64url');
}

/** JSON with the members of every object in one order; a member left out and one given as undefined are the same. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
