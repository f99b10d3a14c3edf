import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { type Connection, trusted } from 'mongoose';
import type { ApiKey } from '../auth/keys';
import type { Config } from '../config';
import { stateCondition } from './keyDocuments';
import type { ControlModels } from './models';

/*
 * Remembers which pepper the keys are hashed with (KEY_PEPPER, a secret that is not in the database): with any other, every key would be
 * rejected and nothing would say why. The pepper can be replaced while keys are in use: each key is rehashed when it is next used. Each
 * replacement has a number, from 0 for the first pepper, and each key stores the number of the pepper that hashed it. A pepper to which gateways
 * went back has several numbers: it gets a new, highest one, since a key is never rehashed with a lower one. `now` is the database's time.
 */

/** Identifies a pepper without revealing it. */
export interface Fingerprint {
  readonly salt: string;
  /** scrypt of the pepper, base64, so that reading the database does not help to guess it. */
  readonly hash: string;
  /** The pepper's number, which each key stores; missing for the first. */
  readonly number?: number | undefined;
}

interface PepperRow extends Fingerprint {
  readonly _id: 'pepper';
  /** Those that were replaced, oldest first; versions before 1.0.0 add none. One to which gateways went back has the same salt and hash as before. */
  readonly former?: readonly Fingerprint[];
}

/** Bytes of the hash of a {@link Fingerprint}. */
export const FINGERPRINT = 32;

/** Replacements that are remembered: gateways that start in turn with old and new settings each make one. */
const MAX_FORMER = 100;

/** What an export says of the peppers of keys. */
export interface ExportedPepper {
  readonly fingerprint: Fingerprint;
  /** The number of a key's pepper, of several the highest, so that an import finds it by its distance from that of the fingerprint. */
  readonly numberOf: (key: ApiKey) => number;
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
  /** Which variable has the pepper that new keys are, or will be, hashed with: KEY_PEPPER (`current`), KEY_PEPPER_PREVIOUS, or neither (`none`). */
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
  const rows = control.getClient().db(control.name).collection<PepperRow>('deployment');
  /** That of KEY_PEPPER; undefined until {@link adopt} resolves. */
  let number: number | undefined;

  const active = () => stateCondition('active', new Date(now()));

  async function makeFingerprint(): Promise<Fingerprint> {
    const salt = randomBytes(16).toString('base64');
    return { salt, hash: (await hashOf(KEY_PEPPER, salt)).toString('base64') };
  }

  /** All numbers of the pepper of a row (`current`), and of the one that it replaced and of the other pepper of the environment (`previous`). */
  async function numbersIn(row: PepperRow) {
    const numbers = { current: [numberOf(row)], previous: [numberOf(row) - 1] };
    const former = row.former ?? [];
    const hashBefore = former.find((replaced) => numberOf(replaced) === numberOf(row) - 1)?.hash;
    const match = await knownAs(row);
    for (const replaced of former) {
      const known = await knownAs(replaced);
      const isSame = replaced.hash === row.hash || (known !== 'none' && known === match);
      if (isSame) numbers.current.push(numberOf(replaced));
      else if (replaced.hash === hashBefore || known !== 'none') numbers.previous.push(numberOf(replaced));
    }
    return numbers;
  }

  /** Matches active keys that are hashed with the previous pepper (`left`), or with neither of the two (`lost`). */
  function filterOf(state: 'left' | 'lost', { current, previous }: Awaited<ReturnType<typeof numbersIn>>) {
    // a key without a number has the first pepper
    const stored = (numbers: readonly number[]) => numbers.map((number) => (number === 0 ? null : number));
    const condition = state === 'left' ? { $in: stored(previous) } : { $nin: stored([...current, ...previous]) };
    return { ...active(), pepper: trusted(condition) };
  }

  // scrypt takes 16 MiB and tens of milliseconds, and former fingerprints repeat
  const matchByHash = new Map<string, PepperState['known']>();

  /** Which pepper of the environment has this fingerprint. */
  async function knownAs(fingerprint: Fingerprint): Promise<PepperState['known']> {
    const match = matchByHash.get(fingerprint.hash) ?? (await compare(fingerprint));
    matchByHash.set(fingerprint.hash, match);
    return match;
  }

  async function compare(fingerprint: Fingerprint): Promise<PepperState['known']> {
    if (await matches(KEY_PEPPER, fingerprint)) return 'current';
    return KEY_PEPPER_PREVIOUS !== undefined && (await matches(KEY_PEPPER_PREVIOUS, fingerprint)) ? 'previous' : 'none';
  }

  /** Stores a first fingerprint, the candidate or that of KEY_PEPPER. Resolves with the stored one, which another gateway may have inserted. */
  async function storeFirst(candidate?: Fingerprint): Promise<PepperRow> {
    const first = candidate ?? (await makeFingerprint());
    const upsert = { upsert: true, returnDocument: 'after' } as const;
    const row = await rows.findOneAndUpdate({ _id: 'pepper' }, { $setOnInsert: first }, upsert);
    return row ?? { _id: 'pepper', ...first };
  }

  /**
   * Stores the fingerprint of KEY_PEPPER if none is stored (`candidate`, or a new one), if the stored one is that of the previous
   * pepper, or if no active key needs that. Resolves with the row of KEY_PEPPER. Gateways may call it at the same time.
   * @throws WrongPepperError
   */
  async function adopt(candidate?: Fingerprint): Promise<PepperRow> {
    for (;;) {
      const row = (await rows.findOne({ _id: 'pepper' })) ?? (await storeFirst(candidate));
      const match = await knownAs(row);
      if (match === 'current') {
        number = numberOf(row);
        return row;
      }
      if (match === 'none' && (await apiKeys.exists(active())) !== null) throw new WrongPepperError();
      // nothing is stored if another gateway has just done the same, so the row is read again
      await replace(row, [(await formerOf(row, 'current')) ?? (await makeFingerprint())]);
    }
  }

  /** Stores that these peppers replaced that of the row, one after the other; nothing if another process has changed the row. */
  async function replace(row: PepperRow, by: readonly Fingerprint[]): Promise<void> {
    const all = [row, ...by].map(({ salt, hash }, at) => ({ salt, hash, number: numberOf(row) + at }));
    await rows.updateOne(
      { _id: 'pepper', hash: row.hash, number: row.number ?? { $exists: false } },
      { $set: { ...all.at(-1) }, $push: { former: { $each: all.slice(0, -1), $slice: -MAX_FORMER } } },
    );
  }

  /** The number of KEY_PEPPER_PREVIOUS in a row of KEY_PEPPER, of several the highest; undefined if it has none. */
  async function numberOfPrevious(row: PepperRow): Promise<number | undefined> {
    const previous = await formerOf(row, 'previous');
    if (previous) return numberOf(previous);
    const { former = [] } = row;
    const before = numberOf(row) - 1;
    // an earlier version did not add it to `former`
    const isUnknown = before >= 0 && former.every((replaced) => numberOf(replaced) !== before);
    return isUnknown ? before : undefined;
  }

  /** The last fingerprint that was replaced of KEY_PEPPER (`current`) or KEY_PEPPER_PREVIOUS. */
  async function formerOf({ former = [] }: PepperRow, which: 'current' | 'previous'): Promise<Fingerprint | undefined> {
    for (const replaced of former.toReversed()) if ((await knownAs(replaced)) === which) return replaced;
    return undefined;
  }

  return {
    /** The number of KEY_PEPPER, for new keys; undefined until `adopt` resolves, and for the first pepper. */
    number: (): number | undefined => (number === 0 ? undefined : number),
    /** Which pepper of the environment the database expects, and how many keys have an older one. Nothing is counted unless KEY_PEPPER is expected. */
    async state(): Promise<PepperState> {
      const row = await rows.findOne({ _id: 'pepper' });
      if (row === null) return { known: 'current', left: 0, lost: 0 };
      const match = await knownAs(row);
      if (match !== 'current' || numberOf(row) === 0) return { known: match, left: 0, lost: 0 };
      const numbers = await numbersIn(row);
      const [left, lost] = await Promise.all([
        apiKeys.countDocuments(filterOf('left', numbers)),
        apiKeys.countDocuments(filterOf('lost', numbers)),
      ]);
      return { known: match, left, lost };
    },
    /** Some of the keys that `state` counts, at most 20: first those never used, then those not used for longest. */
    async longestUnused(state: 'left' | 'lost'): Promise<ApiKey[]> {
      const row = await rows.findOne({ _id: 'pepper' });
      if (row === null) return [];
      return apiKeys
        .find(filterOf(state, await numbersIn(row)))
        .sort({ last_used_at: 1, _id: 1 })
        .limit(20)
        .lean();
    },
    async exported(): Promise<ExportedPepper> {
      const row = await rows.findOne({ _id: 'pepper' });
      if (row === null) return { fingerprint: await makeFingerprint(), numberOf: ({ pepper = 0 }) => pepper };
      const { current, previous } = await numbersIn(row);
      const isIn = (numbers: readonly number[], key: ApiKey) => numbers.includes(key.pepper ?? 0);
      return {
        fingerprint: row,
        numberOf: (key) =>
          isIn(current, key) ? numberOf(row) : isIn(previous, key) ? numberOf(row) - 1 : (key.pepper ?? 0),
      };
    },
    adopt,
    /**
     * Does the same for keys from another installation, whose fingerprint is adopted if this one has none. Resolves with the number that
     * their pepper has here; undefined if it is none of the environment's, and nothing is stored. KEY_PEPPER_PREVIOUS has no number yet if it is the
     * next pepper, or another installation's: it gets one as if gateways had changed to it and back, so that those started since rehash its keys.
     * @throws WrongPepperError
     */
    async adoptFrom(candidate: Fingerprint): Promise<number | undefined> {
      const match = await knownAs(candidate);
      if (match === 'none') return undefined;
      for (;;) {
        const row = await adopt(candidate);
        const here = match === 'current' ? numberOf(row) : await numberOfPrevious(row);
        if (here !== undefined) return here;
        await replace(row, [candidate, row]);
      }
    },
  };
}

const numberOf = ({ number = 0 }: Fingerprint): number => number;

async function matches(pepper: string, { salt, hash }: Fingerprint): Promise<boolean> {
  return timingSafeEqual(await hashOf(pepper, salt), Buffer.from(hash, 'base64'));
}

function hashOf(pepper: string, salt: string): Promise<Buffer> {
  return promisify<string, Buffer, number, Buffer>(scrypt)(pepper, Buffer.from(salt, 'base64'), FINGERPRINT);
}
