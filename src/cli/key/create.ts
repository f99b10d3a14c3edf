import { DEFAULT_MCP, MCP_ACCESS, type McpAccess } from '../../auth/mcpAccess';
import { PLANS } from '../../auth/plans';
import { ALL_SCOPES, type Scope } from '../../auth/scopes';
import { notFound } from '../common/failure';
import type { ExplainedCommand, JsonOption } from '../common/help';
import { printJson, warn } from '../common/terminal';
import { lifetime, mcpAccess, name, ranges, scopes, uuid } from '../common/values';
import { withStore } from '../common/withStore';
import { endOf, jsonOf, showKey } from './made';

interface CreateOptions extends JsonOption {
  readonly org: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Milliseconds. */
  readonly expiresIn?: number;
  readonly allow?: readonly string[];
  readonly mcp: McpAccess;
}

export function addCreate(key: ExplainedCommand): void {
  key
    .command('create')
    .description('create an API key and show it once')
    .requiredOption('--org <id>', 'id of the organisation', uuid)
    .requiredOption('--name <name>', 'name of the key', name)
    .requiredOption('--scopes <list>', 'comma-separated scopes, or all', scopes)
    .option(
      '--expires-in <time>',
      'when it expires: 30m, 12h, 90d, 1y (default: never)',
      lifetime('Without --expires-in it never expires.'),
    )
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
