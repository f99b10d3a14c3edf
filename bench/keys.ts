import { DEFAULT_KEY_PREFIX, generateKey } from '../src/auth/keys';
import type { Organisation } from '../src/auth/principal';
import type { Scope } from '../src/auth/scopes';
import type { Store } from '../src/cli/store';

/** KEY_PEPPER of all contestants: production refuses to start without one. */
export const PEPPER = 'pepper of the benchmark';

/** Inserts many keys as the control database stores them, since creating them one by one takes a transaction each. */
export async function makeKeys(
  { databases }: Store,
  organisation: Organisation,
  count: number,
  scopes: readonly Scope[],
): Promise<string[]> {
  const keys: string[] = [];
  while (keys.length < count) {
    const batch = Array.from({ length: Math.min(500, count - keys.length) }, () =>
      generateKey(DEFAULT_KEY_PREFIX, PEPPER),
    );
    const documents = batch.map(({ id, displayPrefix, lastFour, salt, hash }) => ({
      _id: id,
      organisation,
      name: 'bench',
      prefix: displayPrefix,
      last_four: lastFour,
      salt,
      hash,
      scopes,
      created_by: 'bench',
      created_at: new Date(),
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
      last_used_from: null,
      allowed_ranges: [],
      rotated_to: null,
    }));
    await databases.control.collection<(typeof documents)[number]>('api_keys').insertMany(documents);
    keys.push(...batch.map(({ key }) => key));
  }
  return keys;
}
