import { type Command, Option } from 'commander';
import { PLANS } from '../../access/plans';
import { ALL_SCOPES, type Scope } from '../../access/scopes';
import type { MadeKey } from '../../organisations/apiKeys';
import { notFound } from '../common/failure';
import { addExamples } from '../common/help';
import { printJson, printPairs, say, warn } from '../common/terminal';
import { duration, name, ranges, scopes, uuid } from '../common/values';

interface CreateOptions {
  readonly org: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Milliseconds. */
  readonly expiresIn?: number;
  readonly allow?: readonly string[];
  readonly json?: true;
}

export function addKeyCreate(key: Command): void {
  const command = key
    .command('create')
    .description('create an API key and show it once')
    .requiredOption('--org <id>', 'id of the organisation', uuid)
    .requiredOption('--name <name>', 'name of the key', name)
    .addOption(new Option('--scopes <list>', 'comma-separated scopes, or all').argParser(scopes).makeOptionMandatory())
    .option('--expires-in <time>', 'when it expires: 30m, 12h, 90d, 1y (default: never)', duration)
    .option('--allow <ranges>', 'comma-separated CIDR ranges it may be used from (default: anywhere)', ranges)
    .option('--json', 'print {id, key, prefix, scopes} as JSON')
    .action(create);
  addExamples(
    command,
    [
      'scopegate key create --org 689defbf-4477-4b15-966e-4830b650ded3 --name "web shop" --scopes products:read,quotes:read',
      'scopegate key create --org 689defbf-4477-4b15-966e-4830b650ded3 --name nightly --scopes all --expires-in 90d --json',
    ],
    ['Scopes:', ...ALL_SCOPES.map((scope) => `  ${scope}`)],
  );
}

async function create(options: CreateOptions): Promise<void> {
  const [{ withStore }, { operator }] = await Promise.all([
    import('../common/withStore.js'),
    import('../common/open.js'),
  ]);
  const made = await withStore(({ control }) =>
    control.apiKeys.create({
      organisationId: options.org,
      name: options.name,
      scopes: options.scopes,
      createdBy: operator().who,
      allowedRanges: options.allow ?? [],
      expiresAt: options.expiresIn === undefined ? null : new Date(Date.now() + options.expiresIn),
    }),
  );
  if (!made) throw notFound('organisation', options.org, 'see scopegate org list');
  const { key, document } = made;
  const { organisation } = document;
  if (!PLANS[organisation.plan].integrations) {
    warn(`the plan ${organisation.plan} has no API access; change it with scopegate org set-plan before using the key`);
  }
  if (options.json) printJson({ id: document._id, key, prefix: document.prefix, scopes: document.scopes });
  else showKey(made);
}

/** Prints a new key in human-readable form. */
export function showKey({ key, document }: MadeKey): void {
  const { _id: id, organisation, scopes: granted, expires_at: expiresAt, allowed_ranges: allowed } = document;
  printPairs({
    key,
    id,
    organisation: organisation.name,
    scopes: granted.join(', '),
    expires: expiresAt?.toISOString() ?? 'never',
    ...(allowed.length > 0 && { from: allowed.join(', ') }),
  });
  say('\nSave the key now: it will not be shown again. Send it as "Authorization: Bearer <key>".');
}
