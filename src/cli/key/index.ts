import { Option } from 'commander';
import { DEFAULT_MCP, MCP_ACCESS } from '../../auth/mcpAccess';
import { ALL_SCOPES } from '../../auth/scopes';
import { DAY } from '../../units';
import { type ExplainedCommand, ORG_ID } from '../common/help';
import { lifetime, mcpAccess, name, overlap, ranges, rangesOrAnywhere, scopes } from '../common/values';

const ID = '7e3143c1-62cb-491a-bcf5-b80409d22122';
const LISTED = 'the key (see key list)';
const MCP = `what assistants may do with it over MCP: ${MCP_ACCESS.join(', ')}`;

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
    .option('--mcp <access>', MCP, mcpAccess, DEFAULT_MCP)
    .json('{id, key, prefix, scopes}')
    .examples(
      [
        `scopegate key create --org ${ORG_ID} --name "web shop" --scopes products:read,quotes:read`,
        `scopegate key create --org ${ORG_ID} --name nightly --scopes all --expires-in 90d --json`,
      ],
      ['Scopes:', ...ALL_SCOPES.map((scope) => `  ${scope}`)],
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
    .id('the key, as in the log or in key list')
    .json('what key list prints of it, and its organisation {id, name},')
    .examples([`scopegate key show ${ID}`])
    .run(async () => (await commands()).show);

  key
    .subcommand(
      'update',
      'change an active key, from its next request on; what is not given stays, and so do its scopes',
    )
    .id(LISTED)
    .option('--name <name>', 'another name', name)
    .addOption(
      new Option('--expires-in <time>', 'when it expires, from now: 30m, 12h, 90d, 1y')
        .argParser(lifetime('For a key without an end: --never-expires'))
        .conflicts('neverExpires'),
    )
    .option('--never-expires', 'keep it until it is revoked')
    .option('--allow <ranges>', 'comma-separated CIDR ranges it may be used from, or anywhere', rangesOrAnywhere)
    .option('--mcp <access>', MCP, mcpAccess)
    .json('{id, name, expires_at, allowed_ranges, mcp}')
    .examples([
      `scopegate key update ${ID} --expires-in 90d`,
      `scopegate key update ${ID} --never-expires --allow 203.0.113.0/24,2001:db8::/32`,
      `scopegate key update ${ID} --name nightly --allow anywhere --mcp off --json`,
    ])
    .run(async () => (await commands()).update);

  key
    .subcommand('revoke', 'revoke a key: once this returns, it fails for every new request on every instance')
    .id(LISTED)
    .json('{id, revoked}')
    .examples([`scopegate key revoke ${ID}`])
    .run(async () => (await commands()).revoke);

  const oldKey = 'how long the old key keeps working: 0, 30m, 24h, 7d; its own expiry still applies';
  key
    .subcommand(
      'rotate',
      'replace a key with a new one that has the same name, scopes and ranges; the old one keeps working for the overlap',
    )
    .id(LISTED)
    .addOption(new Option('--overlap <time>', oldKey).argParser(overlap).default(DAY, '24h'))
    .option(
      '--expires-in <time>',
      'when the new key expires: 30m, 12h, 90d, 1y (default: the same lifetime as the old key)',
      lifetime('Without --expires-in it lasts as long as the old key did.'),
    )
    .json('{id, key, prefix, scopes, old: {id, expires_at}}')
    .examples([`scopegate key rotate ${ID}`, `scopegate key rotate ${ID} --overlap 0 --expires-in 90d --json`])
    .run(async () => (await commands()).rotate);

  key.nameCommands();
}
