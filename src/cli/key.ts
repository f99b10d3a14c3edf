import { Option } from 'commander';
import { type ApiKey, rangesOf, shownKey } from '../auth/keys';
import { DEFAULT_MCP, MCP_ACCESS, type McpAccess } from '../auth/principal';
import type { Scope } from '../auth/scopes';
import type { KeyWithSecret } from '../organisations/apiKeys';
import { DAY } from '../units';
import { CommandFailure, notFound, usageFailure } from './ending';
import { type ExplainedCommand, type JsonOption, ORG_ID, type OrgOption } from './help';
import type { Store } from './store';
import { printList, printResult, say, warn } from './terminal';
import { customerIds, keyId, lifetime, name, overlap, ranges, rangesOrAnywhere, scopeNames, scopes } from './values';
import { requireData, requireOrganisation, withStore } from './withStore';

/** Id of a key, for examples. */
const ID = '7e3143c1-62cb-491a-bcf5-b80409d22122';
/** Id of a customer, for examples. */
const CUSTOMER_ID = '3f0c2e9a-5b1d-4c7e-8a64-0d9b7f21c3e5';
/** What an argument `<id>` is, for help. */
const KEY_ID = 'the key (see key list), or the key itself, e.g. one that leaked';
const mcpOption = (): Option =>
  new Option('--mcp <access>', 'what assistants may do with it over MCP').choices(MCP_ACCESS);

export function addKey(program: ExplainedCommand): void {
  const key = program.subcommand('key', 'create, list, show, update, rotate and revoke API keys');
  key
    .subcommand('create', 'create an API key and show it once')
    .org()
    .requiredOption('--name <name>', 'name of the key', name)
    .requiredOption('--scopes <list>', 'comma-separated scopes, or all', scopes)
    .option(
      '--expires-in <time>',
      'when it expires: 30m, 12h, 90d, 1y (default: never)',
      lifetime('Without --expires-in it never expires.'),
    )
    .option('--allow <ranges>', 'comma-separated CIDR ranges it may be used from (default: anywhere)', ranges)
    .option(
      '--customer-ids <ids>',
      'comma-separated ids, or ref: and an external_ref without commas, of up to 100 customers, whose quotes, orders and requests alone it has; they cannot be changed (default: all)',
      customerIds,
    )
    .addOption(mcpOption().default(DEFAULT_MCP))
    .json('{id, key, prefix, scopes, customer_ids}')
    .examples(
      [
        `scopegate key create --org ${ORG_ID} --name "web shop" --scopes products:read,quotes:read`,
        `scopegate key create --org ${ORG_ID} --name nightly --scopes all --expires-in 90d --json`,
        `scopegate key create --org ${ORG_ID} --name agency --scopes orders:read --customer-ids ${CUSTOMER_ID}`,
      ],
      () => ['Scopes:', ...scopeNames().map((scope) => `  ${scope}`)],
    )
    .action(create);

  key
    .subcommand('list', "list an organisation's keys, oldest first; key values are never shown")
    .org()
    .json('an array of {id, name, prefix, last_four, scopes, …, state}')
    .examples([`scopegate key list --org ${ORG_ID}`])
    .action(list);

  key
    .subcommand('show', 'show one key with its organisation; the key value is never shown')
    .id('the key, as in the log or in key list; or the key itself', keyId)
    .json('what key list prints about it, and its organisation {id, name},')
    .examples([`scopegate key show ${ID}`])
    .action(show);

  key
    .subcommand('update', 'change an active key, from its next request on; options that are not given stay as they are')
    .id(KEY_ID, keyId)
    .option('--name <name>', 'another name', name)
    .option('--scopes <list>', 'all its scopes from now on, comma-separated, or all', scopes)
    .addOption(
      new Option('--expires-in <time>', 'when it expires, from now: 30m, 12h, 90d, 1y')
        .argParser(lifetime('For a key that never expires: --never-expires'))
        .conflicts('neverExpires'),
    )
    .option('--never-expires', 'keep it until it is revoked')
    .option('--allow <ranges>', 'comma-separated CIDR ranges it may be used from, or anywhere', rangesOrAnywhere)
    .addOption(mcpOption())
    .json('{id, name, scopes, expires_at, allowed_ranges, mcp}')
    .examples([
      `scopegate key update ${ID} --expires-in 90d`,
      `scopegate key update ${ID} --never-expires --allow 203.0.113.0/24,2001:db8::/32`,
      `scopegate key update ${ID} --name nightly --allow anywhere --mcp off --json`,
      `scopegate key update ${ID} --scopes quotes:read,orders:read`,
    ])
    .action(update);

  key
    .subcommand('revoke', 'revoke a key: once this returns, it fails for every new request on every instance')
    .id(KEY_ID, keyId)
    .json('{id, revoked}')
    .examples([`scopegate key revoke ${ID}`])
    .action(revoke);

  const oldKey = 'how long the old key keeps working: 0, 30m, 24h, 7d; its own expiry still applies';
  key
    .subcommand(
      'rotate',
      'replace a key with a new one that has the same name, scopes, ranges and customers; the old one keeps working for the overlap',
    )
    .id(KEY_ID, keyId)
    // as the API's overlap_hours
    .addOption(new Option('--overlap <time>', oldKey).argParser(overlap).default(DAY, '24h'))
    .option(
      '--expires-in <time>',
      'when the new key expires: 30m, 12h, 90d, 1y (default: the same lifetime as the old key)',
      lifetime('Without --expires-in it lasts as long as the old key did.'),
    )
    .json('{id, key, prefix, scopes, customer_ids, old: {id, expires_at}}')
    .examples([`scopegate key rotate ${ID}`, `scopegate key rotate ${ID} --overlap 0 --expires-in 90d --json`])
    .action(rotate);

  key.listSubcommandsOnError();
}

/** Options that create and update share; `expiresIn` is in milliseconds. */
interface SharedOptions extends JsonOption {
  readonly expiresIn?: number;
  readonly allow?: readonly string[];
}

interface CreateOptions extends SharedOptions, OrgOption {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly mcp: McpAccess;
  readonly customerIds?: readonly string[];
}

async function create(options: CreateOptions): Promise<void> {
  const { org, name, scopes, expiresIn, allow = [], mcp, customerIds, json } = options;
  const { createdKey, plans } = await withStore(async (store) => {
    const { control, databases, operator } = store;
    const customers = customerIds && (await requireCustomers(store, org, customerIds));
    await control.pepper.adopt();
    const createdKey = await control.apiKeys.create({
      organisationId: org,
      name,
      scopes,
      created_by: operator.who,
      allowed_ranges: allow,
      mcp,
      customerIds: customers,
      expires_at: endOf(expiresIn, databases.now()) ?? null,
    });
    return { createdKey, plans: control.plans };
  });
  if (!createdKey) throw notFound('organisation', org);
  const { organisation } = createdKey.document;
  if (!plans.hasApi(organisation)) {
    warn(`the ${organisation.plan} plan has no API access; change it with scopegate org set-plan before using the key`);
  }
  showNew(createdKey, json);
}

/** The ids of customers. @throws CommandFailure with the names that are of no customer */
async function requireCustomers(store: Store, org: string, names: readonly string[]): Promise<string[]> {
  const { id } = await requireData(store, org);
  const { findCustomers } = await import('../admin/customerIds.js');
  const { ids, unknown } = await findCustomers(store.databases.organisationData({ id }), names);
  if (unknown.length === 0) return ids;
  const are = unknown.length === 1 ? 'is not a customer' : 'are not customers';
  throw usageFailure(`--customer-ids: ${unknown.join(', ')} ${are} of the organisation`);
}

async function list({ org, json }: OrgOption): Promise<void> {
  const rows = await withStore(async (store) => {
    const { apiKeys } = store.control;
    const keys = await apiKeys.list((await requireOrganisation(store, org)).id);
    return keys.map((key) => shownKey(key, apiKeys.stateOf(key)));
  });
  const empty = 'This organisation has no keys yet. To create one, see scopegate key create --help';
  printList(
    rows,
    {
      ID: ({ id }) => id,
      STATE: ({ state }) => state,
      KEY: valueOf,
      NAME: ({ name }) => name,
      CREATED: ({ created_at }) => day(created_at),
      EXPIRES: ({ expires_at }) => day(expires_at),
      MCP: ({ mcp }) => mcp,
      KIND: ({ kind }) => kind,
      'LAST USED': ({ last_used_at: at, last_used_from: from }) => (at ? `${day(at)} ${from ?? ''}` : 'never'),
      CUSTOMERS: ({ customer_ids: ids }) => (ids ? String(ids.length) : 'all'),
      SCOPES: ({ scopes }) => scopes.join(','),
    },
    { json, empty },
  );
}

async function show(id: string, { json }: JsonOption): Promise<void> {
  const key = await withStore(async ({ control: { apiKeys, organisations } }) => {
    const apiKey = await apiKeys.find(id);
    if (!apiKey) throw notFound('key', id);
    const { id: organisationId, name: storedName } = apiKey.organisation;
    // a key that was revoked or has expired keeps the name that its organisation had then
    const name = (await organisations.find(organisationId))?.name ?? storedName;
    return { ...shownKey(apiKey, apiKeys.stateOf(apiKey)), organisation: { id: organisationId, name } };
  });
  const { last_used_at: usedAt, last_used_from: usedFrom, revoked_at: revoked } = key;
  printResult(json, key, {
    id: key.id,
    state: key.state,
    key: valueOf(key),
    name: key.name,
    organisation: `${key.organisation.name} (${key.organisation.id})`,
    scopes: key.scopes.join(', '),
    from: rangesShown(key.allowed_ranges),
    customers: key.customer_ids?.join(', ') ?? 'all',
    mcp: key.mcp,
    kind: key.app ? `app at ${key.app.host}, client ${key.app.client_id}` : key.kind,
    created: `${key.created_at.toISOString()} by ${key.created_by}`,
    expires: momentOf(key.expires_at),
    ...(revoked && { revoked: revoked.toISOString() }),
    'last used': usedAt ? `${usedAt.toISOString()} from ${usedFrom ?? 'unknown'}` : 'never',
    'replaced by': key.rotated_to ?? 'none',
  });
}

interface UpdateOptions extends SharedOptions {
  readonly name?: string;
  readonly scopes?: readonly Scope[];
  readonly neverExpires?: true;
  readonly mcp?: McpAccess;
}

async function update(id: string, options: UpdateOptions): Promise<void> {
  const { json, expiresIn, neverExpires, allow, ...input } = options;
  if (Object.keys(options).every((option) => option === 'json')) {
    throw usageFailure('nothing to change: give --name, --scopes, --expires-in, --never-expires, --allow or --mcp');
  }
  const changed = await withStore(async (store) => {
    const expires_at = neverExpires ? null : endOf(expiresIn, store.databases.now());
    const updated = await store.control.apiKeys.update(id, { ...input, expires_at, allowed_ranges: allow });
    return updated ?? (await notActive(store, id, 'changed'));
  });
  const { name, scopes, expires_at, mcp = DEFAULT_MCP } = changed;
  const allowed_ranges = rangesOf(changed);
  const expires = momentOf(expires_at);
  const shown = { id, name, scopes: scopes.join(', '), expires, from: rangesShown(allowed_ranges), mcp };
  printResult(json, { id, name, scopes, expires_at, allowed_ranges, mcp }, shown);
}

async function revoke(id: string, { json }: JsonOption): Promise<void> {
  const revoked = await withStore(({ control }) => control.apiKeys.revoke(id));
  if (!revoked) throw notFound('key', id);
  printResult(json, { id, revoked }, `Revoked key ${id}.`);
}

async function rotate(
  id: string,
  { overlap, expiresIn, json }: SharedOptions & { readonly overlap: number },
): Promise<void> {
  const rotated = await withStore(async (store) => {
    const { control, databases } = store;
    await control.pepper.adopt();
    const newKey = await control.apiKeys.rotate(id, { overlap, expiresAt: endOf(expiresIn, databases.now()) });
    return newKey ?? (await notActive(store, id, 'rotated'));
  });
  const { _id: oldId, expires_at: end } = rotated.old;
  showNew(rotated, json, { old: { id: oldId, expires_at: end } });
  if (!json) say(overlap > 0 && end ? `The old key expires at ${end.toISOString()}.` : 'The old key no longer works.');
}

/** When a key expires that gets a lifetime now, both in milliseconds; undefined if no lifetime was given. */
const endOf = (lifetime: number | undefined, now: number): Date | undefined =>
  lifetime === undefined ? undefined : new Date(now + lifetime);

/** Prints a new key; `more` is for its JSON only. */
function showNew({ key, document }: KeyWithSecret, json: true | undefined, more: object = {}): void {
  const { _id: id, prefix, organisation, scopes, expires_at, restricted, mcp = DEFAULT_MCP } = document;
  const allowed = rangesOf(document);
  const customers = restricted?.customer_ids;
  printResult(
    json,
    { id, key, prefix, scopes, customer_ids: customers ?? null, ...more },
    {
      key,
      id,
      organisation: organisation.name,
      scopes: scopes.join(', '),
      expires: momentOf(expires_at),
      ...(allowed.length > 0 && { from: allowed.join(', ') }),
      ...(customers && { customers: customers.join(', ') }),
      mcp,
    },
  );
  if (!json) say('\nSave the key now: it will not be shown again. Send it as "Authorization: Bearer <key>".');
}

/** @throws CommandFailure that says why a key that is not active cannot be changed or rotated */
async function notActive({ control }: Store, id: string, done: string): Promise<never> {
  const key = await control.apiKeys.find(id);
  if (!key) throw notFound('key', id);
  const { organisation, revoked_at: revoked, expires_at: expired } = key;
  const owner = await control.organisations.find(organisation.id);
  if (owner?.state === 'erasing')
    throw new CommandFailure(`key ${id} belongs to ${owner.id}, which is being erased, so it cannot be ${done}`);
  const ended = revoked ? `was revoked at ${revoked.toISOString()}` : `expired at ${expired?.toISOString() ?? ''}`;
  throw new CommandFailure(
    `key ${id} ${ended}, so it cannot be ${done}; for a new one: scopegate key create --org ${organisation.id}`,
  );
}

/** What is known of a key's value: its prefix and last four characters. */
const valueOf = ({ prefix, last_four }: Pick<ApiKey, 'prefix' | 'last_four'>): string => `${prefix}…${last_four}`;

/** Where a key may be used from, for people. */
const rangesShown = (ranges: readonly string[]): string => (ranges.length > 0 ? ranges.join(', ') : 'anywhere');

const momentOf = (moment: Date | null): string => moment?.toISOString() ?? 'never';
const day = (moment: Date | null): string => moment?.toISOString().slice(0, 10) ?? 'never';
