import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { type Connection, trusted } from 'mongoose';
import type { ApiKey } from '../auth/keys';
import type { Config } from '../config';
import { stateCondition } from './keyDocuments';
import type { ControlModels } from './models';

/*
 * Remembers which pepper the keys are hashed with (KEY_PEPPER, a secret that is not in the database): with any other, every key would be
 * rejected and nothing would say why. The pepper can be replaced while keys are in use: each key is rehashed when it is next used. A pepper's
 * number is how many there were before it.
 */

/** Identifies a pepper without revealing it. */
export interface Fingerprint {
  readonly salt: string;
  /** scrypt of the pepper, base64, so that reading the database does not help to guess it. */
  readonly hash: string;
  /** The pepper's number, which each key stores; missing for the first. */
  readonly number?: number | undefined;
}

export const OTHER_PEPPER =
  'KEY_PEPPER is not the one that the keys in this database are hashed with, so none of them would work';
/** What to do about {@link OTHER_PEPPER}. */
export const RESTORE_PEPPER =
  'set it to its former value; to replace it, set KEY_PEPPER_PREVIOUS to the former value, or revoke all keys first';

export class WrongPepperError extends Error {
  override readonly name = 'WrongPepperError';

  constructor() {
    super(`${OTHER_PEPPER}; ${RESTORE_PEPPER}`);
  }
}

export interface PepperState {
  /** Whether the keys are, or will be, hashed with KEY_PEPPER or KEY_PEPPER_PREVIOUS; `none` if with neither. */
  readonly known: 'current' | 'previous' | 'none';
  /** Active keys that are still hashed with the previous pepper. */
  readonly left: number;
  /** Active keys hashed with an even older pepper, which do not work. */
  readonly lost: number;
}

type Peppers = Pick<Config, 'KEY_PEPPER' | 'KEY_PEPPER_PREVIOUS'>;

export function createPepperGuard(
  control: Connection,
  { apiKeys }: Pick<ControlModels, 'apiKeys'>,
  { KEY_PEPPER, KEY_PEPPER_PREVIOUS }: Peppers,
  now: () => number,
) {
  const rows = control.getClient().db(control.name).collection<Fingerprint & { readonly _id: 'pepper' }>('deployment');
  let number: number | undefined;

  const active = () => stateCondition('active', new Date(now()));

  async function makeFingerprint(): Promise<Fingerprint> {
    const salt = randomBytes(16).toString('base64');
    return { salt, hash: (await hashOf(KEY_PEPPER, salt)).toString('base64') };
  }

  /** Matches active keys that are hashed with the pepper before the one with this number (`left`), or with one before that (`lost`). */
  function filterOf(state: 'left' | 'lost', current: number) {
    // a key without a number has the first pepper
    const previous = current === 1 ? null : current - 1;
    return { ...active(), pepper: state === 'left' ? previous : trusted({ $nin: [current, previous] }) };
  }

  async function knownAs(fingerprint: Fingerprint): Promise<PepperState['known']> {
    if (await matches(KEY_PEPPER, fingerprint)) return 'current';
    return KEY_PEPPER_PREVIOUS !== undefined && (await matches(KEY_PEPPER_PREVIOUS, fingerprint)) ? 'previous' : 'none';
  }

  /** Stores a first fingerprint, the candidate or that of KEY_PEPPER. Resolves with the stored one, which another gateway may have inserted. */
  async function storeFirst(candidate?: Fingerprint): Promise<Fingerprint> {
    const first = candidate ?? (await makeFingerprint());
    const upsert = { upsert: true, returnDocument: 'after' } as const;
    return (await rows.findOneAndUpdate({ _id: 'pepper' }, { $setOnInsert: first }, upsert)) ?? first;
  }

  /**
   * Stores the fingerprint of KEY_PEPPER if none is stored (`candidate`, or a new one), if the stored one is that of the previous
   * pepper, or if no active key is left. Sets `number`.
   * @throws WrongPepperError
   */
  async function adopt(candidate?: Fingerprint): Promise<void> {
    for (;;) {
      const fingerprint = (await rows.findOne({ _id: 'pepper' })) ?? (await storeFirst(candidate));
      number = fingerprint.number ?? 0;
      const match = await knownAs(fingerprint);
      if (match === 'current') return;
      if (match === 'none' && (await apiKeys.exists(active())) !== null) throw new WrongPepperError();
      // another gateway may be doing the same, so the outcome is read again
      const next = { ...(await makeFingerprint()), number: number + 1 };
      await rows.updateOne({ _id: 'pepper', hash: fingerprint.hash }, { $set: next });
    }
  }

  return {
    /** The number of KEY_PEPPER, for new keys; undefined until it has been adopted, and for the first pepper. */
    number: (): number | undefined => (number === 0 ? undefined : number),
    /** What the database says about the peppers of the environment. */
    async state(): Promise<PepperState> {
      const fingerprint = await rows.findOne({ _id: 'pepper' });
      if (fingerprint === null) return { known: 'current', left: 0, lost: 0 };
      const match = await knownAs(fingerprint);
      const current = fingerprint.number ?? 0;
      if (match !== 'current' || current === 0) return { known: match, left: 0, lost: 0 };
      const [left, lost] = await Promise.all([
        apiKeys.countDocuments(filterOf('left', current)),
        apiKeys.countDocuments(filterOf('lost', current)),
      ]);
      return { known: match, left, lost };
    },
    /** The keys that `state` counts, at most 20, those first that were never used, or not for the longest time. */
    async longestUnused(state: 'left' | 'lost'): Promise<ApiKey[]> {
      const fingerprint = await rows.findOne({ _id: 'pepper' });
      return apiKeys
        .find(filterOf(state, fingerprint?.number ?? 0))
        .sort({ last_used_at: 1, _id: 1 })
        .limit(20)
        .lean();
    },
    /** The fingerprint of the pepper that the keys are hashed with. */
    async fingerprint(): Promise<Fingerprint> {
      const storedRow = await rows.findOne({ _id: 'pepper' }, { projection: { _id: 0 } });
      return storedRow ?? makeFingerprint();
    },
    adopt,
    /**
     * Does the same for keys from another installation, whose fingerprint is adopted if this one has none. Resolves with the number that
     * their pepper has here. Resolves with undefined if they would not work here; if their pepper is neither of the two, nothing is stored.
     * @throws WrongPepperError
     */
    async adoptFrom(candidate: Fingerprint): Promise<number | undefined> {
      const match = await knownAs(candidate);
      if (match === 'none') return undefined;
      await adopt(candidate);
      const here = match === 'current' ? number : (number ?? 0) - 1;
      return here === undefined || here < 0 ? undefined : here;
    },
  };
}

async function matches(pepper: string, { salt, hash }: Fingerprint): Promise<boolean> {
  return timingSafeEqual(await hashOf(pepper, salt), Buffer.from(hash, 'base64'));
}

function hashOf(pepper: string, salt: string): Promise<Buffer> {
  return promisify<string, Buffer, number, Buffer>(scrypt)(pepper, Buffer.from(salt, 'base64'), 32);
}
