import { Option } from 'commander';
import { type ApiKey, DEFAULT_MCP, MCP_ACCESS, type McpAccess } from '../access/apiKey';
import { PLANS } from '../access/plans';
import { ALL_SCOPES, type Scope } from '../access/scopes';
import type { MadeKey } from '../organisations/apiKeys';
import { DAY } from '../units';
import { CommandFailure, notFound, usageFailure } from './common/failure';
import type { ExplainedCommand, JsonOption } from './common/help';
import { print, printJson, printList, printPairs, say, warn } from './common/terminal';
import { duration, mcpAccess, name, overlap, ranges, rangesOrAnywhere, scopes, uuid } from './common/values';
import { requireOrganisation, withStore } from './common/withStore';

export function addKey(program: ExplainedCommand): void {
  const key = program.command('key').description('create, list, update, rotate and revoke API keys');
  for (const add of [addCreate, addList, addUpdate, addRevoke, addRotate]) add(key);
  key.nameCommands();
}

interface CreateOptions extends JsonOption {
  readonly org: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Milliseconds. */
  readonly expiresIn?: number;
  readonly allow?: readonly string[];
  readonly mcp: McpAccess;
}

function addCreate(key: ExplainedCommand): void {
  key
    .command('create')
    .description('create an API key and show it once')
    .requiredOption('--org <id>', 'id of the organisation', uuid)
    .requiredOption('--name <name>', 'name of the key', name)
    .requiredOption('--scopes <list>', 'comma-separated scopes, or all', scopes)
    .option('--expires-in <time>', 'when it expires: 30m, 12h, 90d, 1y (default: never)', duration)
    .option('--allow <ranges>', 'comma-separated CIDR ranges it may be used from (default: anywhere)', ranges)
    .option(
      '--mcp <access>',
      `what assistants may do with it over MCP: ${MCP_ACCESS.join(', ')}`,
      mcpAccess,
      DEFAULT_MCP,
    )
    .option('--json', 'print {id, key, prefix, scopes} as JSON')
    .examples(
      [
        'scopegate key create --org 689defbf-4477-4b15-966e-4830b650ded3 --name "web shop" --scopes products:read,quotes:read',
        'scopegate key create --org 689defbf-4477-4b15-966e-4830b650ded3 --name nightly --scopes all --expires-in 90d --json',
      ],
      ['Scopes:', ...ALL_SCOPES.map((scope) => `  ${scope}`)],
    )
    .action(create);
}

async function create({ org, name, scopes, expiresIn, allow = [], mcp, json }: CreateOptions): Promise<void> {
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
  if (!made) throw notFound('organisation', org, 'see scopegate org list');
  const { plan } = made.document.organisation;
  if (!PLANS[plan].integrations) {
    warn(`the plan ${plan} has no API access; change it with scopegate org set-plan before using the key`);
  }
  if (json) printJson(jsonOf(made));
  else showKey(made);
}

/** When a key made now ends; undefined if no lifetime was given. */
const endOf = (lifetime: number | undefined, now: number): Date | undefined =>
  lifetime === undefined ? undefined : new Date(now + lifetime);

function jsonOf({ key, document: { _id: id, prefix, scopes } }: MadeKey): Record<string, unknown> {
  return { id, key, prefix, scopes };
}

/** Prints a new key in human-readable form. */
function showKey({ key, document }: MadeKey): void {
  const { _id: id, organisation, scopes: granted, expires_at: expiresAt, allowed_ranges: allowed, mcp } = document;
  printPairs({
    key,
    id,
    organisation: organisation.name,
    scopes: granted.join(', '),
    expires: expiresAt?.toISOString() ?? 'never',
    ...(allowed.length > 0 && { from: allowed.join(', ') }),
    mcp: mcp ?? DEFAULT_MCP,
  });
  say('\nSave the key now: it will not be shown again. Send it as "Authorization: Bearer <key>".');
}

/** The members shown, as an allowlist: a hash, or a new member of the document, can never leak. */
const SHOWN = [
  ...(['name', 'prefix', 'last_four', 'scopes', 'created_by', 'created_at', 'expires_at', 'revoked_at'] as const),
  ...(['last_used_at', 'last_used_from', 'allowed_ranges', 'rotated_to'] as const),
] satisfies readonly (keyof ApiKey)[];

function addList(key: ExplainedCommand): void {
  key
    .command('list')
    .description("list an organisation's keys, oldest first; key values are never shown")
    .requiredOption('--org <id>', 'id of the organisation', uuid)
    .option('--json', 'print an array of {id, name, prefix, last_four, scopes, …, state} as JSON')
    .examples(['scopegate key list --org 689defbf-4477-4b15-966e-4830b650ded3'])
    .action(async ({ org, json }: JsonOption & { readonly org: string }) => {
      const rows = await withStore(async (store) => {
        const { list, stateOf } = store.control.apiKeys;
        const keys = await list((await requireOrganisation(store, org)).id);
        return keys.map((key) => {
          const shown = Object.fromEntries(SHOWN.map((member) => [member, key[member]]));
          const all = shown as Pick<ApiKey, (typeof SHOWN)[number]>;
          return { id: key._id, ...all, mcp: key.mcp ?? DEFAULT_MCP, state: stateOf(key) };
        });
      });
      const columns: Record<string, (row: (typeof rows)[number]) => string> = {
        ID: ({ id }) => id,
        STATE: ({ state }) => state,
        KEY: ({ prefix, last_four }) => `${prefix}…${last_four}`,
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
    });
}

const day = (moment: Date | null): string => moment?.toISOString().slice(0, 10) ?? 'never';

interface UpdateOptions extends JsonOption {
  readonly name?: string;
  /** Milliseconds. */
  readonly expiresIn?: number;
  readonly neverExpires?: true;
  readonly allow?: readonly string[];
  readonly mcp?: McpAccess;
}

function addUpdate(key: ExplainedCommand): void {
  key
    .command('update')
    .description('change an active key, from its next request on; what is not given stays, and so do its scopes')
    .argument('<id>', 'id of the key (see key list)', uuid)
    .option('--name <name>', 'another name', name)
    .addOption(
      new Option('--expires-in <time>', 'when it expires, from now: 30m, 12h, 90d, 1y')
        .argParser(duration)
        .conflicts('neverExpires'),
    )
    .option('--never-expires', 'keep it until it is revoked')
    .option('--allow <ranges>', 'comma-separated CIDR ranges it may be used from, or anywhere', rangesOrAnywhere)
    .option('--mcp <access>', `what assistants may do with it over MCP: ${MCP_ACCESS.join(', ')}`, mcpAccess)
    .option('--json', 'print {id, name, expires_at, allowed_ranges, mcp} as JSON')
    .examples([
      'scopegate key update 7e3143c1-62cb-491a-bcf5-b80409d22122 --expires-in 90d',
      'scopegate key update 7e3143c1-62cb-491a-bcf5-b80409d22122 --never-expires --allow 203.0.113.0/24,2001:db8::/32',
      'scopegate key update 7e3143c1-62cb-491a-bcf5-b80409d22122 --name nightly --allow anywhere --mcp off --json',
    ])
    .action(update);
}

async function update(id: string, options: UpdateOptions): Promise<void> {
  const { json, expiresIn, neverExpires, allow: allowedRanges, ...given } = options;
  if (Object.keys(options).every((option) => option === 'json')) {
    throw usageFailure('nothing to change: give --name, --expires-in, --never-expires, --allow or --mcp');
  }
  const updated = await withStore(({ control, databases }) => {
    const expiresAt = neverExpires ? null : endOf(expiresIn, databases.now());
    return control.apiKeys.update(id, { ...given, expiresAt, allowedRanges });
  });
  if (!updated) {
    throw new CommandFailure(`no active key ${id}; a revoked or expired key cannot be changed, create a new one`);
  }
  const { expires_at, allowed_ranges, mcp = DEFAULT_MCP } = updated;
  if (json) printJson({ id, name: updated.name, expires_at, allowed_ranges, mcp });
  else {
    printPairs({
      id,
      name: updated.name,
      expires: expires_at?.toISOString() ?? 'never',
      from: allowed_ranges.length > 0 ? allowed_ranges.join(', ') : 'anywhere',
      mcp,
    });
  }
}

function addRevoke(key: ExplainedCommand): void {
  key
    .command('revoke')
    .description('revoke a key: once this returns, it fails for every new request on every instance')
    .argument('<id>', 'id of the key (see key list)', uuid)
    .option('--json', 'print {id, revoked} as JSON')
    .examples(['scopegate key revoke 7e3143c1-62cb-491a-bcf5-b80409d22122'])
    .action(async (id: string, { json }: JsonOption) => {
      const revoked = await withStore(({ control }) => control.apiKeys.revoke(id));
      if (!revoked) throw notFound('key', id, 'see scopegate key list --org ID');
      if (json) printJson({ id, revoked });
      else print(`Revoked key ${id}.`);
    });
}

interface RotateOptions extends JsonOption {
  /** Milliseconds. */
  readonly overlap: number;
  /** Milliseconds. */
  readonly expiresIn?: number;
}

function addRotate(key: ExplainedCommand): void {
  key
    .command('rotate')
    .description(
      'replace a key with a new one that has the same name, scopes and ranges; the old one keeps working for the overlap',
    )
    .argument('<id>', 'id of the key (see key list)', uuid)
    .option(
      '--overlap <time>',
      'how long the old key keeps working: 0, 30m, 24h, 7d; its own expiry still applies',
      overlap,
      DAY,
    )
    .option('--expires-in <time>', 'when the new key expires (default: the same lifetime as the old key)', duration)
    .option('--json', 'print {id, key, prefix, scopes, old: {id, expires_at}} as JSON')
    .examples([
      'scopegate key rotate 7e3143c1-62cb-491a-bcf5-b80409d22122',
      'scopegate key rotate 7e3143c1-62cb-491a-bcf5-b80409d22122 --overlap 0 --expires-in 90d --json',
    ])
    .action(async (id: string, { overlap, expiresIn, json }: RotateOptions) => {
      const rotated = await withStore(async ({ control, databases }) => {
        await control.pepper.adopt();
        return control.apiKeys.rotate(id, { overlap, expiresAt: endOf(expiresIn, databases.now()) });
      });
      if (!rotated) {
        throw new CommandFailure(`no active key ${id}; a revoked or expired key cannot be rotated, create a new one`);
      }
      const { _id: oldId, expires_at: end } = rotated.old;
      if (json) printJson({ ...jsonOf(rotated), old: { id: oldId, expires_at: end } });
      else {
        showKey(rotated);
        say(end ? `The old key expires at ${end.toISOString()}.` : 'The old key no longer works.');
      }
    });
}
