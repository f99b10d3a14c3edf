import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { keyState, parseKey, secretMatches } from '../auth/keys';
import type { Plans } from '../auth/plans';
import type { Organisation } from '../auth/principal';
import { published } from '../schema/model';
import { type Config, nonEmptyVariables, reachable, readConfig } from '../config';
import { unless, writeAtomically } from '../embedded/files';
import { createLogger } from '../log';
import type { ApiKeys } from '../organisations/apiKeys';
import type { NewOrganisation } from '../organisations/organisations';
import { linesOf } from '../resources/sample';
import { LOOPBACK_RANGES } from '../webhooks/settings';
import { CommandFailure } from './ending';
import type { JsonOption } from './help';
import { loadSample } from './sandbox';
import { serveUntilStopped } from './serve/serveUntilStopped';
import type { Store } from './store';
import { demoAdmin } from '../organisations/sessions';
import { signInUrl } from '../organisations/signInTokens';
import { note, paint, printJson, printPainted } from './terminal';

/** Defaults of the demo; the environment overrides them. */
const DEFAULTS = { INTROSPECTION: 'public', LOG_LEVEL: 'warn', WEBHOOK_ALLOWED_RANGES: LOOPBACK_RANGES } as const;

/** `scopegate demo`. Resolves after it is stopped. */
export async function demoCommand({ port, json }: JsonOption & { readonly port?: number }): Promise<void> {
  const variables = { ...nonEmptyVariables(), ...(port !== undefined && { PORT: String(port) }) };
  const config = readConfig({ ...DEFAULTS, ...variables });
  await serveUntilStopped(
    config,
    async (store, signal) => {
      const { organisation, demoKey, quoteId, signInToken } = await prepareDemo(store, config, signal);
      const { id, name, plan } = organisation;
      const onListening = (listening: string): void => {
        const url = reachable(listening);
        const settings = signInUrl(url, signInToken);
        if (!json) printPainted(invitation({ url, key: demoKey, name, quoteId, settings }));
        else printJson({ url, key: demoKey, organisation: { id, name, plan }, sandbox: `${url}/graphql`, settings });
      };
      return { demoKey, onListening };
    },
    { logger: createLogger(config.LOG_LEVEL), anyPort: variables.PORT === undefined },
  );
}

/** `name` is the organisation's, and `settings` a one-time sign-in link to the settings page. */
type Invitation = Readonly<Record<'url' | 'key' | 'name' | 'quoteId' | 'settings', string>>;

const ORDERS_WITH_CUSTOMERS = '{ orders(limit: 3) { data { number status total_minor currency customer { name } } } }';

/** What the demo prints: the key, the pages, and commands to paste. */
function invitation({ url, key, name, quoteId, settings }: Invitation): string {
  const bold = (text: string): string => paint(process.stdout, 'bold', text);
  const curl = `curl -s -H 'Authorization: Bearer ${key}'`;
  return [
    '',
    bold(`Demo of ${name} is ready: listening on ${url}`),
    '',
    `  ${bold('API key')}    ${key}`,
    `  ${bold('Explorer')}   ${url}/graphql (Apollo Sandbox)`,
    `  ${bold('Reference')}  ${url}/api/v1/docs`,
    `  ${bold('Settings')}   ${settings} (one-time sign-in link, valid for 15 minutes)`,
    '',
    bold('Find products:'),
    `${curl} '${url}/api/v1/products?q=chai'`,
    '',
    bold('Read one quote with its lines:'),
    `${curl} '${url}/api/v1/quotes/${quoteId}'`,
    '',
    bold('Query orders with their customers in GraphQL:'),
    `${curl} -H 'Content-Type: application/json' --data '${JSON.stringify({ query: ORDERS_WITH_CUSTOMERS })}' '${url}/graphql'`,
    '',
    'Press Ctrl-C to stop. The data is kept for the next start.',
  ].join('\n');
}

/**
 * Creates what is missing of the demo's organisation, data and key, makes a link that signs in as an admin, and picks a quote to try.
 * @throws AbortError; CommandFailure if somebody removes the organisation meanwhile
 */
export async function prepareDemo(store: Store, config: Config, signal: AbortSignal) {
  const { control, databases, operator } = store;
  await control.pepper.adopt();
  const organisation =
    (await control.organisations.findDemo()) ??
    (await control.organisations.create(await exampleOrganisation(control.plans)));
  const incomplete = await control.sandboxes.unseeded(organisation.id);
  // once complete, only what has no objects: types that were added to SCHEMA_DIR since
  await loadSample(databases.organisationData(organisation), signal, incomplete === undefined);
  if (incomplete) await control.sandboxes.noteSeeded(incomplete);
  signal.throwIfAborted();
  const demoKey = await demoKeyOf(control.apiKeys, organisation, config);
  const link = await control.sessions.makeLink(demoAdmin(organisation.id), operator);
  if (demoKey === undefined || !link) {
    throw new CommandFailure('the demo organisation was removed while the demo was starting; start it again');
  }
  const [quote = ''] = await linesOf('quotes.ndjson');
  const { id: quoteId } = JSON.parse(quote) as { readonly id: string };
  return { organisation, demoKey, quoteId, signInToken: link.token };
}

/** The sample's organisation, on its plan if there is one with that name. */
async function exampleOrganisation(plans: Plans): Promise<NewOrganisation> {
  const [line = ''] = await linesOf('organisation.json');
  const organisation = JSON.parse(line) as NewOrganisation;
  return { ...organisation, plan: plans.has(organisation.plan) ? organisation.plan : plans.defaultName, demo: true };
}

/**
 * The demo's key: if it still works and has every scope, the one that the last start saved in a file that only its owner can read; otherwise a
 * new one, with a note if there was one before, which is not revoked: somebody may use it. Undefined if the organisation no longer exists.
 */
async function demoKeyOf(keys: ApiKeys, organisation: Organisation, config: Config): Promise<string | undefined> {
  const file = join(config.DATA_DIR, 'demo-key');
  const saved = (await unless('ENOENT', readFile(file, 'utf8')))?.trim();
  if (saved !== undefined && (await isUsableKey(saved, keys, organisation, config))) return saved;
  const earlier = (await keys.list(organisation.id)).filter(
    (key) => key.name === 'demo' && keyState(key, new Date()) === 'active',
  );
  const input = { name: 'demo', scopes: published.usedScopes, created_by: 'cli:demo', expires_at: null };
  const createdKey = await keys.create({ organisationId: organisation.id, ...input });
  if (!createdKey) return undefined;
  await mkdir(dirname(file), { recursive: true });
  await writeAtomically(file, `${createdKey.key}\n`);
  if (saved !== undefined || earlier.length > 0) {
    const why = saved === undefined ? `${file} is not there` : `that in ${file} cannot be used`;
    const left =
      earlier.length > 0 ? '; earlier ones stay active until you revoke them with `scopegate key revoke`' : '';
    note(`created a new demo key: ${why}${left}`);
  }
  return createdKey.key;
}

/** Whether a string is an active key of the organisation, with every scope in use, and with the prefix and one of the peppers in `config`. */
async function isUsableKey(text: string, keys: ApiKeys, { id }: Organisation, config: Config): Promise<boolean> {
  const parsed = parseKey(text, config.KEY_PREFIX);
  const storedKey = parsed && (await keys.find(parsed.id));
  return (
    !!storedKey &&
    [config.KEY_PEPPER, config.KEY_PEPPER_PREVIOUS].some(
      (pepper) => pepper !== undefined && secretMatches(parsed.secret, storedKey, pepper),
    ) &&
    keyState(storedKey, new Date()) === 'active' &&
    storedKey.organisation.id === id &&
    published.usedScopes.every((scope) => storedKey.scopes.includes(scope))
  );
}
