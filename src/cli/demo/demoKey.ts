import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseKey, secretMatches } from '../../access/keys';
import { keyState } from '../../access/apiKey';
import type { Organisation } from '../../access/principal';
import { ALL_SCOPES } from '../../access/scopes';
import type { Config } from '../../config';
import type { ApiKeys, MadeKey } from '../../organisations/apiKeys';
import { note } from '../common/terminal';

const KEY_NAME = 'demo';

type KeyConfig = Pick<Config, 'DATA_DIR' | 'KEY_PREFIX' | 'KEY_PEPPER'>;

/** The file that keeps the demo's key between starts, readable by its owner only. */
export function demoKeyFile({ DATA_DIR }: Pick<Config, 'DATA_DIR'>): string {
  return join(DATA_DIR, 'demo-key');
}

/**
 * The demo's key: the one the last start saved if it still works, otherwise a new one, with a note. No key is
 * revoked here. Undefined if the organisation no longer exists.
 */
export async function demoKeyOf(
  keys: ApiKeys,
  organisation: Organisation,
  config: KeyConfig,
): Promise<string | undefined> {
  const file = demoKeyFile(config);
  const kept = await read(file);
  if (kept !== undefined && (await works(kept, keys, organisation, config))) return kept;
  const earlier = (await keys.list(organisation.id)).filter(
    (key) => key.name === KEY_NAME && keyState(key, new Date()) === 'active',
  );
  const made = await make(keys, organisation);
  if (!made) return undefined;
  await keep(file, made.key);
  if (kept !== undefined) note('created a new demo key: the previous one no longer works');
  else if (earlier.length > 0)
    note(
      `created a new demo key: the previous one is not in ${file}; it stays valid until you revoke it with \`scopegate key revoke\``,
    );
  return made.key;
}

function make(keys: ApiKeys, organisation: Organisation): Promise<MadeKey | undefined> {
  return keys.create({
    organisationId: organisation.id,
    name: KEY_NAME,
    scopes: ALL_SCOPES,
    createdBy: 'cli:demo',
    expiresAt: null,
  });
}

/** Whether a text is an active key of the organisation, with this prefix and pepper and every scope. */
async function works(text: string, keys: ApiKeys, organisation: Organisation, config: KeyConfig): Promise<boolean> {
  const parsed = parseKey(text, config.KEY_PREFIX);
  const found = parsed && (await keys.find(parsed.id));
  return (
    found !== undefined &&
    found !== null &&
    secretMatches(parsed?.secret ?? '', found, config.KEY_PEPPER) &&
    keyState(found, new Date()) === 'active' &&
    found.organisation.id === organisation.id &&
    ALL_SCOPES.every((scope) => found.scopes.includes(scope))
  );
}

async function read(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Written to a temporary file and renamed, so that the file's old mode is dropped and readers never see half a key. */
async function keep(file: string, key: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, `${key}\n`, { mode: 0o600 });
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}
