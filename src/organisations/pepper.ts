import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Connection } from 'mongoose';
import { stateCondition } from './apiKeys';
import type { ControlModels } from './models';

/* Which pepper the keys are hashed with: with another one every key is rejected, and nothing else would say why. */

/** Tells one pepper from another, without the pepper. */
export interface Fingerprint {
  /** Base64. */
  readonly salt: string;
  /** scrypt of the pepper, base64, so that reading the database does not help to guess it. */
  readonly hash: string;
}

export const OTHER_PEPPER =
  'KEY_PEPPER is not the one that the keys in this database are hashed with, so none of them would work';
/** What to do about it. */
export const RESTORE_PEPPER = 'set it to its former value; to change it, revoke all keys first';

export class WrongPepperError extends Error {
  override readonly name = 'WrongPepperError';

  constructor() {
    super(`${OTHER_PEPPER}; ${RESTORE_PEPPER}`);
  }
}

export function pepperGuard(control: Connection, { apiKeys }: Pick<ControlModels, 'apiKeys'>, pepper: string) {
  const rows = control.getClient().db(control.name).collection<Fingerprint & { readonly _id: 'pepper' }>('deployment');

  async function isSame({ salt, hash }: Fingerprint): Promise<boolean> {
    return timingSafeEqual(await hashOf(pepper, salt), Buffer.from(hash, 'base64'));
  }

  async function make(): Promise<Fingerprint> {
    const salt = randomBytes(16).toString('base64');
    return { salt, hash: (await hashOf(pepper, salt)).toString('base64') };
  }

  async function isFree(): Promise<boolean> {
    return (await apiKeys.exists(stateCondition('active', new Date()))) === null;
  }

  return {
    /** Whether the keys are hashed with this pepper, or it is not known yet. */
    async fits(): Promise<boolean> {
      const known = await rows.findOne({ _id: 'pepper' });
      return known === null || isSame(known);
    },
    /** Whether this is a fingerprint of the pepper. */
    matches: isSame,
    /** The fingerprint of the pepper that the keys are hashed with. */
    async fingerprint(): Promise<Fingerprint> {
      const known = await rows.findOne({ _id: 'pepper' }, { projection: { _id: 0 } });
      return known ?? make();
    },
    /**
     * Stores the pepper's fingerprint, `given` or a new one, if there is none or no active key is left.
     * @throws WrongPepperError
     */
    async adopt(given?: Fingerprint): Promise<void> {
      const own = given ?? (await make());
      const known = await rows.findOneAndUpdate(
        { _id: 'pepper' },
        { $setOnInsert: own },
        { upsert: true, returnDocument: 'after' },
      );
      if (known === null || (await isSame(known))) return;
      if (!(await isFree())) throw new WrongPepperError();
      await rows.updateOne({ _id: 'pepper', hash: known.hash }, { $set: own });
    },
  };
}

function hashOf(pepper: string, salt: string): Promise<Buffer> {
  return promisify<string, Buffer, number, Buffer>(scrypt)(pepper, Buffer.from(salt, 'base64'), 32);
}
