import type { ApiKey } from '../../auth/keys';
import { DEFAULT_MCP, type McpAccess } from '../../auth/mcpAccess';
import { PLANS } from '../../auth/plans';
import type { Scope } from '../../auth/scopes';
import type { MadeKey } from '../../organisations/apiKeys';
import { CommandFailure, notFound, usageFailure } from '../common/failure';
import type { JsonOption, OrgOption } from '../common/help';
import type { Store } from '../common/open';
import { printList, printResult, say, warn } from '../common/terminal';
import { requireOrganisation, withStore } from '../common/withStore';

/** What create and update can set; lengths of time are in milliseconds. */
interface Given extends JsonOption {
  readonly expiresIn?: number;
  readonly allow?: readonly string[];
}

interface CreateOptions extends Given, OrgOption {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly mcp: McpAccess;
}

export async function create({ org, name, scopes, expiresIn, allow = [], mcp, json }: CreateOptions): Promise<void> {
  const made = await withStore(async ({ control, databases, operator }) => {
    await control.pepper.adopt();
    return control.apiKeys.create({
      organisationId: org,
      name,
      scopes,
      createdBy: operator.who,
      ...{ allowedRanges: allow, mcp },
      expiresAt: endOf(expiresIn, databases.now()) ?? null,
    });
  });
  if (!made) throw notFound('organisation', org);
  const { plan } = made.document.organisation;
  if (!PLANS[plan].integrations) {
    warn(`the ${plan} plan has no API access; change it with scopegate org set-plan before using the key`);
  }
  showNew(made, json);
}

export async function list({ org, json }: OrgOption): Promise<void> {
  const rows = await withStore(async (store) => {
    const { apiKeys } = store.control;
    const keys = await apiKeys.list((await requireOrganisation(store, org)).id);
    return keys.map((key) => shownKey(key, apiKeys));
  });
  const columns: Record<string, (row: ShownKey) => string> = {
    ID: ({ id }) => id,
    STATE: ({ state }) => state,
    KEY: valueOf,
    NAME: ({ name }) => name,
    CREATED: ({ created_at }) => day(created_at),
    EXPIRES: ({ expires_at }) => day(expires_at),
    MCP: ({ mcp }) => mcp,
    'LAST USED': ({ last_used_at, last_used_from }) =>
      last_used_at ? `${day(last_used_at)} ${last_used_from ?? ''}` : 'never',
    SCOPES: ({ scopes }) => scopes.join(','),
  };
  const empty = 'This organisation has no keys yet. To create one, see scopegate key create --help';
  printList(rows, columns, { json, empty });
}

export async function show(id: string, { json }: JsonOption): Promise<void> {
  const key = await withStore(async ({ control: { apiKeys } }) => {
    const found = await apiKeys.find(id);
    if (!found) throw notFound('key', id);
    const { id: organisationId, name } = found.organisation;
    return { ...shownKey(found, apiKeys), organisation: { id: organisationId, name } };
  });
  const { last_used_at: usedAt, last_used_from: usedFrom, revoked_at: revoked } = key;
  printResult(json, key, {
    id: key.id,
    state: key.state,
    key: valueOf(key),
    name: key.name,
    organisation: `${key.organisation.name} (${key.organisation.id})`,
    scopes: key.scopes.join(', '),
    from: placesOf(key.allowed_ranges),
    mcp: key.mcp,
    created: `${key.created_at.toISOString()} by ${key.created_by}`,
    expires: momentOf(key.expires_at),
    ...(revoked && { revoked: revoked.toISOString() }),
    'last used': usedAt ? `${usedAt.toISOString()} from ${usedFrom ?? 'unknown'}` : 'never',
    'replaced by': key.rotated_to ?? 'none',
  });
}

interface UpdateOptions extends Given {
  readonly name?: string;
  readonly neverExpires?: true;
  readonly mcp?: McpAccess;
}

export async function update(id: string, options: UpdateOptions): Promise<void> {
  const { json, expiresIn, neverExpires, allow: allowedRanges, ...given } = options;
  if (Object.keys(options).every((option) => option === 'json')) {
    throw usageFailure('nothing to change: give --name, --expires-in, --never-expires, --allow or --mcp');
  }
  const {
    name,
    expires_at,
    allowed_ranges,
    mcp = DEFAULT_MCP,
  } = await withStore(async (store) => {
    const expiresAt = neverExpires ? null : endOf(expiresIn, store.databases.now());
    const changed = await store.control.apiKeys.update(id, { ...given, expiresAt, allowedRanges });
    if (!changed) throw await notActive(store, id, 'changed');
    return changed;
  });
  const shown = { id, name, expires: momentOf(expires_at), from: placesOf(allowed_ranges), mcp };
  printResult(json, { id, name, expires_at, allowed_ranges, mcp }, shown);
}

export async function revoke(id: string, { json }: JsonOption): Promise<void> {
  const revoked = await withStore(({ control }) => control.apiKeys.revoke(id));
  if (!revoked) throw notFound('key', id);
  printResult(json, { id, revoked }, `Revoked key ${id}.`);
}

interface RotateOptions extends JsonOption {
  readonly overlap: number;
  readonly expiresIn?: number;
}

export async function rotate(id: string, { overlap, expiresIn, json }: RotateOptions): Promise<void> {
  const rotated = await withStore(async (store) => {
    const { control, databases } = store;
    await control.pepper.adopt();
    const made = await control.apiKeys.rotate(id, { overlap, expiresAt: endOf(expiresIn, databases.now()) });
    if (!made) throw await notActive(store, id, 'rotated');
    return made;
  });
  const { _id: oldId, expires_at: end } = rotated.old;
  showNew(rotated, json, { old: { id: oldId, expires_at: end } });
  if (!json) say(end ? `The old key expires at ${end.toISOString()}.` : 'The old key no longer works.');
}

/** When a key made now ends; undefined if no lifetime was given. */
const endOf = (lifetime: number | undefined, now: number): Date | undefined =>
  lifetime === undefined ? undefined : new Date(now + lifetime);

/** Prints a new key; `more` is for its JSON only. */
function showNew({ key, document }: MadeKey, json: true | undefined, more: object = {}): void {
  const { _id: id, prefix, organisation, scopes, expires_at, allowed_ranges: allowed, mcp = DEFAULT_MCP } = document;
  printResult(
    json,
    { id, key, prefix, scopes, ...more },
    {
      ...{ key, id, organisation: organisation.name, scopes: scopes.join(', '), expires: momentOf(expires_at) },
      ...(allowed.length > 0 && { from: allowed.join(', ') }),
      mcp,
    },
  );
  if (!json) say('\nSave the key now: it will not be shown again. Send it as "Authorization: Bearer <key>".');
}

/** Why a key that is not active cannot be changed or rotated. */
async function notActive({ control }: Store, id: string, done: string): Promise<CommandFailure> {
  const key = await control.apiKeys.find(id);
  if (!key) return notFound('key', id);
  const { organisation, revoked_at: revoked, expires_at: expired } = key;
  const ended = revoked ? `was revoked at ${revoked.toISOString()}` : `expired at ${expired?.toISOString() ?? ''}`;
  // an active key is refused only while its organisation is being erased
  const why =
    control.apiKeys.stateOf(key) === 'active' ? `belongs to ${organisation.id}, which is being erased` : ended;
  return new CommandFailure(
    `key ${id} ${why}, so it cannot be ${done}; for a new one: scopegate key create --org ${organisation.id}`,
  );
}

/** The members shown, as an allowlist: a hash, or a new member of the document, can never leak. */
const SHOWN = [
  ...(['name', 'prefix', 'last_four', 'scopes', 'created_by', 'created_at', 'expires_at', 'revoked_at'] as const),
  ...(['last_used_at', 'last_used_from', 'allowed_ranges', 'rotated_to'] as const),
] satisfies readonly (keyof ApiKey)[];

/** A key as list and show print it. */
type ShownKey = ReturnType<typeof shownKey>;

function shownKey(key: ApiKey, { stateOf }: Store['control']['apiKeys']) {
  const members = Object.fromEntries(SHOWN.map((member) => [member, key[member]]));
  const shown = members as Pick<ApiKey, (typeof SHOWN)[number]>;
  return { id: key._id, ...shown, mcp: key.mcp ?? DEFAULT_MCP, state: stateOf(key) };
}

/** What is known of a key's value. */
const valueOf = ({ prefix, last_four }: Pick<ApiKey, 'prefix' | 'last_four'>): string => `${prefix}…${last_four}`;

/** Where a key may be used from. */
const placesOf = (ranges: readonly string[]): string => (ranges.length > 0 ? ranges.join(', ') : 'anywhere');

const momentOf = (moment: Date | null): string => moment?.toISOString() ?? 'never';
const day = (moment: Date | null): string => moment?.toISOString().slice(0, 10) ?? 'never';
