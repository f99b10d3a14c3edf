import { type ClientSession, type Model, Schema, trusted } from 'mongoose';
import { digestOf } from '../auth/digest';
import {
  type Asked,
  fingerprintOf,
  refuseRival,
  REPLAY_SECONDS,
  reusedKey,
  RivalClaim,
  stillRunning,
} from '../tenant/idempotency';
import { AppError } from '../errors';
import { checkIdempotencyKey } from '../errors/idempotencyKey';
import { required, ROW, type RowOf } from './schemas';

/* What operators create with an Idempotency-Key is created once (docs/decisions/operator-api.md). */

type CreationRow = RowOf<typeof creationSchema>;

export const creationSchema = Schema.create(
  {
    /** SHA-256 of operator, organisation and Idempotency-Key, base64url. */
    _id: required.text,
    organisation_id: required.text,
    /** Identifies the operation and its arguments. */
    fingerprint: required.text,
    /** Id of what was created. */
    made: required.text,
    /** When the key may be used anew, and the row is deleted. */
    ends_at: required.time,
  },
  { ...ROW, collection: 'creations' },
);
creationSchema.index({ ends_at: 1 }, { expireAfterSeconds: 0 });

/** A request with an Idempotency-Key, which its caller may repeat. */
export interface Attempt {
  readonly idempotencyKey: string;
  /** Called if the answer is that of an earlier request. */
  readonly onReplay: () => void;
}

/** The creation that a request asks for. */
interface Creation extends Asked {
  /** Id of the organisation that it belongs to; empty for an organisation. */
  readonly organisationId: string;
}

/** Stores the id of what is created, in the transaction that creates it and as its first write. */
export type NoteId = (session: ClientSession, id: string) => Promise<void>;

/** `now` is the database's time. */
export function createCreations({ creations: rows }: { readonly creations: Model<CreationRow> }, now: () => number) {
  return {
    /**
     * For the requests of one actor: a function that creates with `make`, or calls `again` with the id of what an earlier request with the
     * same key created, whose answer is then a replay. `make` must call `noteId`, if given, in its transaction. Without an `attempt` it only calls
     * `make`. It throws what they throw, and AppError invalid_request, idempotency_key_reused, idempotency_in_progress.
     */
    onceFor:
      (who: string, attempt: Attempt | undefined) =>
      async <T>(
        creation: Creation,
        make: (noteId?: NoteId) => Promise<T>,
        again: (id: string) => Promise<T>,
      ): Promise<T> => {
        if (!attempt) return make();
        const key = checkIdempotencyKey(attempt.idempotencyKey);
        const organisation_id = creation.organisationId.toLowerCase();
        // hashed, since a caller may send anything, even a token
        const _id = digestOf(JSON.stringify([who, organisation_id, key]));
        // without pauses, since such arguments are short
        const fingerprint = await fingerprintOf(creation, () => undefined);

        /** The creation of an earlier request. @throws AppError idempotency_key_reused if that was another operation */
        async function findEarlier() {
          const row = await rows.findOne({ _id, ends_at: trusted({ $gt: new Date(now()) }) }).lean();
          if (row && row.fingerprint !== fingerprint) throw reusedKey();
          return row;
        }

        async function repeat({ made }: Pick<CreationRow, 'made'>): Promise<T> {
          const answer = await again(made);
          attempt?.onReplay();
          return answer;
        }

        const before = await findEarlier();
        if (before) return repeat(before);
        try {
          return await make(async (session, objectId) => {
            const time = now();
            const ends_at = new Date(time + REPLAY_SECONDS * 1000);
            const row = { _id, organisation_id, fingerprint, made: objectId, ends_at };
            // the TTL index deletes up to a minute late
            await rows.deleteOne({ _id, ends_at: trusted({ $lte: new Date(time) }) }, { session }).catch(refuseRival);
            await rows.create([row], { session }).catch(refuseRival);
          });
        } catch (error) {
          // a concurrent request with the same key was first
          if (!(error instanceof RivalClaim)) throw error;
          const rival = await findEarlier();
          if (rival) return repeat(rival);
          throw stillRunning();
        }
      },
  };
}

/** 409 for a repeated creation whose answer had a secret, which is stored nowhere. */
export function shownOnce(what: string, id: string, remedy: string): AppError {
  const detail = `has created the ${what} ${id}, whose secret was shown once; ${remedy} it and create another one with a new Idempotency-Key`;
  return new AppError('conflict', `Idempotency-Key: ${detail}.`, {
    errors: [{ parameter: 'Idempotency-Key', code: 'conflict', detail }],
  });
}
