import { type ApiKey, rangesOf, shownKey } from '../../auth/keys';
import { DEFAULT_MCP, type McpAccess } from '../../auth/principal';
import type { Scope } from '../../auth/scopes';
import type { KeyWithSecret } from '../../organisations/apiKeys';
import { CommandFailure, notFound, usageFailure } from '../ending';
import type { JsonOption, OrgOption } from '../help';
import type { Store } from '../store';
import { printList, printResult, say, warn } from '../terminal';
import { requireData, requireOrganisation, withStore } from '../withStore';

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

export async function create(options: CreateOptions): Promise<void> {
  const { org, name, scopes, expiresIn, allow = [], mcp, customerIds, json } = options;
  const { createdKey, plans } = await withStore(async (store) => {
    const { control, databases, operator } = store;
    const customers = customerIds && (await requireCustomers(store, org, customerIds));
    // refuses a KEY_PEPPER with which the key would not work
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

/** The ids of customers that are named by id, or by `ref:` and an external_ref. @throws CommandFailure with the names that are of no customer */
async function requireCustomers(store: Store, org: string, names: readonly string[]): Promise<string[]> {
  const { id } = await requireData(store, org);
  const { findCustomers } = await import('../../admin/customerIds.js');
  const { ids, unknown } = await findCustomers(store.databases.organisationData({ id }), names);
  if (unknown.length === 0) return ids;
  const are = unknown.length === 1 ? 'is not a customer' : 'are not customers';
  throw usageFailure(`--customer-ids: ${unknown.join(', ')} ${are} of the organisation`);
}

export async function list({ org, json }: OrgOption): Promise<void> {
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
      KEY: shownValue,
      NAME: ({ name }) => name,
      CREATED: ({ created_at }) => dayOrNever(created_at),
      EXPIRES: ({ expires_at }) => dayOrNever(expires_at),
      MCP: ({ mcp }) => mcp,
      KIND: ({ kind }) => kind,
      'LAST USED': ({ last_used_at: at, last_used_from: from }) => (at ? `${dayOrNever(at)} ${from ?? ''}` : 'never'),
      CUSTOMERS: ({ customer_ids: ids }) => (ids ? String(ids.length) : 'all'),
      SCOPES: ({ scopes }) => scopes.join(','),
    },
    { json, empty },
  );
}

export async function show(id: string, { json }: JsonOption): Promise<void> {
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
    key: shownValue(key),
    name: key.name,
    organisation: `${key.organisation.name} (${key.organisation.id})`,
    scopes: key.scopes.join(', '),
    from: rangesShown(key.allowed_ranges),
    customers: key.customer_ids?.join(', ') ?? 'all',
    mcp: key.mcp,
    kind: key.app ? `app at ${key.app.host}, client ${key.app.client_id}` : key.kind,
    created: `${key.created_at.toISOString()} by ${key.created_by}`,
    expires: timeOrNever(key.expires_at),
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

export async function update(id: string, options: UpdateOptions): Promise<void> {
  const { json, expiresIn, neverExpires, allow, ...input } = options;
  if (Object.keys(options).every((option) => option === 'json')) {
    throw usageFailure('nothing to change: give --name, --scopes, --expires-in, --never-expires, --allow or --mcp');
  }
  const changed = await withStore(async (store) => {
    const expires_at = neverExpires ? null : endOf(expiresIn, store.databases.now());
    // a member that is undefined stays as it is
    const updated = await store.control.apiKeys.update(id, { ...input, expires_at, allowed_ranges: allow });
    return updated ?? (await refuseInactive(store, id, 'changed'));
  });
  const { name, scopes, expires_at, mcp = DEFAULT_MCP } = changed;
  const allowed_ranges = rangesOf(changed);
  const expires = timeOrNever(expires_at);
  const shown = { id, name, scopes: scopes.join(', '), expires, from: rangesShown(allowed_ranges), mcp };
  printResult(json, { id, name, scopes, expires_at, allowed_ranges, mcp }, shown);
}

export async function revoke(id: string, { json }: JsonOption): Promise<void> {
  const revoked = await withStore(({ control }) => control.apiKeys.revoke(id));
  if (!revoked) throw notFound('key', id);
  printResult(json, { id, revoked }, `Revoked key ${id}.`);
}

export async function rotate(
  id: string,
  { overlap, expiresIn, json }: SharedOptions & { readonly overlap: number },
): Promise<void> {
  const rotated = await withStore(async (store) => {
    const { control, databases } = store;
    await control.pepper.adopt();
    const newKey = await control.apiKeys.rotate(id, { overlap, expiresAt: endOf(expiresIn, databases.now()) });
    return newKey ?? (await refuseInactive(store, id, 'rotated'));
  });
  const { _id: oldId, expires_at: end } = rotated.old;
  showNew(rotated, json, { old: { id: oldId, expires_at: end } });
  if (!json) say(overlap > 0 && end ? `The old key expires at ${end.toISOString()}.` : 'The old key no longer works.');
}

/** When a key expires that gets a lifetime (ms) `now` (ms since 1970); undefined if no lifetime was given. */
const endOf = (lifetime: number | undefined, now: number): Date | undefined =>
  lifetime === undefined ? undefined : new Date(now + lifetime);

/** Prints a new key, whose value cannot be shown again; `more` is for its JSON only. */
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
      expires: timeOrNever(expires_at),
      ...(allowed.length > 0 && { from: allowed.join(', ') }),
      ...(customers && { customers: customers.join(', ') }),
      mcp,
    },
  );
  if (!json) say('\nSave the key now: it will not be shown again. Send it as "Authorization: Bearer <key>".');
}

/** @throws CommandFailure that says why a key that is not active cannot be `done`: changed or rotated */
async function refuseInactive({ control }: Store, id: string, done: 'changed' | 'rotated'): Promise<never> {
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
const shownValue = ({ prefix, last_four }: Pick<ApiKey, 'prefix' | 'last_four'>): string => `${prefix}…${last_four}`;

/** Where a key may be used from, for people. */
const rangesShown = (ranges: readonly string[]): string => (ranges.length > 0 ? ranges.join(', ') : 'anywhere');

const timeOrNever = (moment: Date | null): string => moment?.toISOString() ?? 'never';
const dayOrNever = (moment: Date | null): string => moment?.toISOString().slice(0, 10) ?? 'never';
