import { Option } from 'commander';
import { DEFAULT_MCP, MCP_ACCESS, type McpAccess } from '../../auth/mcpAccess';
import { usageFailure } from '../common/failure';
import type { ExplainedCommand, JsonOption } from '../common/help';
import { printJson, printPairs } from '../common/terminal';
import { lifetime, mcpAccess, name, rangesOrAnywhere, uuid } from '../common/values';
import { withStore } from '../common/withStore';
import { endOf } from './made';
import { notActive } from './notActive';
import { placesOf } from './shown';

interface UpdateOptions extends JsonOption {
  readonly name?: string;
  /** Milliseconds. */
  readonly expiresIn?: number;
  readonly neverExpires?: true;
  readonly allow?: readonly string[];
  readonly mcp?: McpAccess;
}

export function addUpdate(key: ExplainedCommand): void {
  key
    .command('update')
    .description('change an active key, from its next request on; what is not given stays, and so do its scopes')
    .argument('<id>', 'id of the key (see key list)', uuid)
    .option('--name <name>', 'another name', name)
    .addOption(
      new Option('--expires-in <time>', 'when it expires, from now: 30m, 12h, 90d, 1y')
        .argParser(lifetime('For a key without an end: --never-expires'))
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
  const updated = await withStore(async (store) => {
    const expiresAt = neverExpires ? null : endOf(expiresIn, store.databases.now());
    const changed = await store.control.apiKeys.update(id, { ...given, expiresAt, allowedRanges });
    if (!changed) throw await notActive(store, id, 'changed');
    return changed;
  });
  const { expires_at, allowed_ranges, mcp = DEFAULT_MCP } = updated;
  if (json) printJson({ id, name: updated.name, expires_at, allowed_ranges, mcp });
  else {
    printPairs({
      id,
      name: updated.name,
      expires: expires_at?.toISOString() ?? 'never',
      from: placesOf(allowed_ranges),
      mcp,
    });
  }
}
