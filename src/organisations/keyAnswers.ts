import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { type ClientSession, trusted } from 'mongoose';
import {
  fingerprintOf,
  refuseRival,
  REPLAY_SECONDS,
  reusedKey,
  RivalClaim,
  stillRunning,
} from '../database/idempotency';
import { type Fault, invalidRequest } from '../errors';
import type { ControlModels, KeyAnswerDocument } from './models';

/* New keys are shown again to a caller whose answer was lost, though their text is stored only encrypted (docs/decisions/keys-shown-again.md). */

export interface Attempt {
  readonly idempotencyKey: string;
  readonly onReplay: () => void;
}

export interface KeyCall {
  readonly organisationId: string;
  /** The actor, as in the audit log. */
  readonly who: string;
  readonly operation: string;
  readonly args: unknown;
}

/** Stores the answer in the transaction that creates the secret, as its first write. */
export type Keep = (session: ClientSession, id: string, key: string) => Promise<void>;

/** 256 random bits: a key that could be guessed would not protect the answer. */
const STRONG_KEY = /^[\w-]{43}$/;
const CIPHER = 'aes-256-gcm';
const [NONCE_BYTES, TAG_BYTES] = [12, 16];

export type KeyAnswers = ReturnType<typeof keyAnswers>;

/** Keeps answers that contain a secret shown only once, such as a key. `now` is the database's time. */
export function keyAnswers({ keyAnswers: rows }: Pick<ControlModels, 'keyAnswers'>, now: () => number) {
  return {
    /**
     * Creates a key with `make`, or calls `again` with the id and text of the key that an earlier attempt created.
     * @throws AppError invalid_request, idempotency_key_reused, idempotency_in_progress
     */
    async once<T>(
      attempt: Attempt | undefined,
      { organisationId, who, operation, args }: KeyCall,
      make: (keep?: Keep) => Promise<T>,
      again: (id: string, key: string) => Promise<T>,
    ): Promise<T> {
      if (!attempt) return make();
      const { idempotencyKey, onReplay } = attempt;
      if (!STRONG_KEY.test(idempotencyKey)) throw invalidRequest([WEAK_KEY]);
      const derive = (what: string) =>
        Buffer.from(hkdfSync('sha256', idempotencyKey, organisationId, `${what} ${who}`, 32));
      const [_id, sealing] = [derive('id').toString('base64url'), derive('seal')];
      const fingerprint = await fingerprintOf({ operation, args }, () => undefined);

      async function first(): Promise<KeyAnswerDocument | null> {
        const row = await rows.findOne({ _id, ends_at: trusted({ $gt: new Date(now()) }) }).lean();
        if (row && row.fingerprint !== fingerprint) throw reusedKey();
        return row;
      }

      async function repeat({ key_id, sealed }: KeyAnswerDocument): Promise<T> {
        onReplay();
        return again(key_id, open(sealed, sealing));
      }

      const found = await first();
      if (found) return repeat(found);
      try {
        return await make(async (session, id, key) => {
          const time = now();
          const row = {
            ...{ _id, organisation_id: organisationId, fingerprint, key_id: id, sealed: seal(key, sealing) },
            ends_at: new Date(time + REPLAY_SECONDS * 1000),
          };
          await rows.deleteOne({ _id, ends_at: trusted({ $lte: new Date(time) }) }, { session }).catch(refuseRival);
          await rows.create([row], { session }).catch(refuseRival);
        });
      } catch (error) {
        if (!(error instanceof RivalClaim)) throw error;
        const rival = await first();
        if (rival) return repeat(rival);
        throw stillRunning();
      }
    },
  };
}

const WEAK_KEY: Fault = {
  parameter: 'Idempotency-Key',
  code: 'format',
  detail: 'must be 256 random bits as 43 characters of base64url, since the answer is kept sealed with it for 24 hours',
};

function seal(text: string, key: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
}

function open(text: string, key: Buffer): string {
  const bytes = Buffer.from(text, 'base64');
  const sealed = bytes.subarray(NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8');
}
