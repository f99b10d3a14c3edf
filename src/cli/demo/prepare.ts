import { mkdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { keyState, parseKey, secretMatches } from '../../auth/keys';
import type { Organisation } from '../../auth/principal';
import { ALL_SCOPES } from '../../auth/scopes';
import type { Config } from '../../config';
import { unless, writeWhole } from '../../database/embedded/recordFile';
import type { OrganisationData } from '../../database/organisationData';
import type { ApiKeys } from '../../organisations/apiKeys';
import type { NewOrganisation } from '../../organisations/organisations';
import { CommandFailure } from '../common/failure';
import { importPath } from '../import/importPath';
import type { Store } from '../common/open';
import { createProgress } from '../common/progress';
import { note } from '../common/terminal';
import { ROOT } from '../../package';

interface PreparedDemo {
  readonly organisation: Organisation;
  readonly demoKey: string;
  /** A quote to try. */
  readonly quoteId: string;
  /** Token of a sign-in link: signs in as an admin, once, within 15 minutes. */
  readonly signInToken: string;
}

const NORTHWIND = join(ROOT, 'examples', 'northwind');

/** Creates the demo's organisation, data and key, unless they exist. */
export async function prepareDemo(store: Store, config: Config, signal: AbortSignal): Promise<PreparedDemo> {
  const { control, databases, operator } = store;
  await control.pepper.adopt();
  const organisation =
    (await control.organisations.findDemo()) ?? (await control.organisations.create(await example()));
  await loadNorthwind(await databases.open(organisation), signal);
  signal.throwIfAborted();
  const demoKey = await demoKeyOf(control.apiKeys, organisation, config);
  const user = { id: 'link:demo', name: 'demo' };
  const link = await control.sessions.makeLink({ organisationId: organisation.id, user, role: 'admin' }, operator);
  if (demoKey === undefined || !link) {
    throw new CommandFailure('the demo organisation was removed while the demo was starting; start it again');
  }
  const [quote = ''] = await linesOf('quotes.ndjson');
  const { id: quoteId } = JSON.parse(quote) as { readonly id: string };
  return { organisation, demoKey, quoteId, signInToken: link.token };
}

async function example(): Promise<NewOrganisation> {
  const [line = ''] = await linesOf('organisation.json');
  return { ...(JSON.parse(line) as NewOrganisation), demo: true };
}

async function linesOf(file: string): Promise<string[]> {
  return (await readFile(join(NORTHWIND, file), 'utf8')).trimEnd().split('\n');
}

/** Loads the files that are not fully in the database, so that an interrupted load is completed. */
async function loadNorthwind(data: OrganisationData, signal: AbortSignal): Promise<void> {
  const faults: string[] = [];
  const reports = await importPath({
    data,
    path: NORTHWIND,
    wanted: async (kind, path) => (await kind.count(data)) < (await linesOf(basename(path))).length,
    onFault: ({ path, line, pointer = '', detail }) => faults.push(`${path}:${String(line)}: ${pointer} ${detail}`),
    progress: createProgress(),
    signal,
  });
  if (faults.length > 0) throw new CommandFailure(`the example data is corrupt:\n${faults.join('\n')}`);
  const loaded = Object.values(reports).reduce((sum, { read }) => sum + read, 0);
  if (loaded > 0) note(`loaded ${String(loaded)} records from examples/northwind`);
}

/**
 * The demo's key: the one the last start saved in a file, readable by its owner only, if it still works, otherwise a new one,
 * with a note. No key is revoked here. Undefined if the organisation no longer exists.
 */
async function demoKeyOf(keys: ApiKeys, organisation: Organisation, config: Config): Promise<string | undefined> {
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
