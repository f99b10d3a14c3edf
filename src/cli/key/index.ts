import { Option } from 'commander';
import { DEFAULT_MCP, MCP_ACCESS } from '../../auth/principal';
import { DAY } from '../../units';
import { type ExplainedCommand, ORG_ID } from '../help';
import { customerIds, keyId, lifetime, name, overlap, ranges, rangesOrAnywhere, scopeNames, scopes } from '../values';

/** Id of a key, for examples. */
const ID = '7e3143c1-62cb-491a-bcf5-b80409d22122';
/** Id of a customer, for examples. */
const CUSTOMER_ID = '3f0c2e9a-5b1d-4c7e-8a64-0d9b7f21c3e5';
/** What an argument `<id>` is, for help. */
const KEY_ID = 'the key (see key list), or the key itself, e.g. one that leaked';
const mcpOption = (): Option =>
  new Option('--mcp <access>', 'what assistants may do with it over MCP').choices(MCP_ACCESS);

const commands = () => import('./command.js');

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
    .run(async () => (await commands()).create);

  key
    .subcommand('list', "list an organisation's keys, oldest first; key values are never shown")
    .org()
    .json('an array of {id, name, prefix, last_four, scopes, …, state}')
    .examples([`scopegate key list --org ${ORG_ID}`])
    .run(async () => (await commands()).list);

  key
    .subcommand('show', 'show one key with its organisation; the key value is never shown')
    .id('the key, as in the log or in key list; or the key itself', keyId)
    .json('what key list prints about it, and its organisation {id, name},')
    .examples([`scopegate key show ${ID}`])
    .run(async () => (await commands()).show);

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
    .run(async () => (await commands()).update);

  key
    .subcommand('revoke', 'revoke a key: once this returns, it fails for every new request on every instance')
    .id(KEY_ID, keyId)
    .json('{id, revoked}')
    .examples([`scopegate key revoke ${ID}`])
    .run(async () => (await commands()).revoke);

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
    .run(async () => (await commands()).rotate);

  key.listSubcommandsOnError();
}
