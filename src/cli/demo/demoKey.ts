import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseKey, secretMatches } from '../../auth/keys';
import { keyState } from '../../auth/apiKey';
import type { Organisation } from '../../auth/principal';
import { ALL_SCOPES } from '../../auth/scopes';
import type { Config } from '../../config';
import { unless } from '../../database/embedded/failures';
import { writeWhole } from '../../database/embedded/recordFile';
import type { ApiKeys } from '../../organisations/apiKeys';
import { note } from '../common/terminal';

/**
 * The demo's key: the one the last start saved in a file, readable by its owner only, if it still works, otherwise a new one,
 * with a note. No key is revoked here. Undefined if the organisation no longer exists.
 */
export async function demoKeyOf(
  keys: ApiKeys,
  organisation: Organisation,
  config: Config,
): Promise<string | undefined> {
  const file = join(config.DATA_DIR, 'demo-key');
  const kept = (await unless('ENOENT', readFile(file, 'utf8')))?.trim();
  if (kept !== undefined && (await works(kept, keys, organisation, config))) return kept;
  const earlier = (await keys.list(organisation.id)).filter(
    (key) => key.name === 'demo' && keyState(key, new Date()) === 'active',
  );
  const made = await keys.create({
    organisationId: organisation.id,
    name: 'demo',
    scopes: ALL_SCOPES,
    createdBy: 'cli:demo',
    expiresAt: null,
  });
  if (!made) return undefined;
  await mkdir(dirname(file), { recursive: true });
  await writeWhole(file, `${made.key}\n`);
  if (kept !== undefined) note('created a new demo key: the previous one no longer works');
  else if (earlier.length > 0)
    note(
      `created a new demo key: the previous one is not in ${file}; it stays valid until you revoke it with \`scopegate key revoke\``,
    );
  return made.key;
}

/** Whether a text is an active key of the organisation, with this prefix, one of these peppers and every scope. */
async function works(text: string, keys: ApiKeys, { id }: Organisation, config: Config): Promise<boolean> {
  const parsed = parseKey(text, config.KEY_PREFIX);
  const found = parsed && (await keys.find(parsed.id));
  return (
    !!found &&
    [config.KEY_PEPPER, config.KEY_PEPPER_PREVIOUS].some(
      (pepper) => pepper !== undefined && secretMatches(parsed.secret, found, pepper),
    ) &&
    keyState(found, new Date()) === 'active' &&
    found.organisation.id === id &&
    ALL_SCOPES.every((scope) => found.scopes.includes(scope))
  );
}
