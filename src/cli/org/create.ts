import { type Command, Option } from 'commander';
import { type Plan, PLANS } from '../../access/plans';
import { usageFailure } from '../common/failure';
import { addExamples } from '../common/help';
import { print, printJson, printPairs } from '../common/terminal';
import { currency, name } from '../common/values';

interface CreateOptions {
  readonly name: string;
  readonly plan: Plan;
  readonly currency: string;
  readonly cluster?: string;
  readonly json?: true;
}

export function addOrgCreate(org: Command): void {
  const command = org
    .command('create')
    .description('create an organisation, with its own database and indexes')
    .requiredOption('--name <name>', 'name of the organisation', name)
    .addOption(
      new Option('--plan <plan>', 'plan; starter has no API access')
        .choices(Object.keys(PLANS))
        .default('integrations'),
    )
    .option('--currency <code>', 'default currency of new products (ISO 4217)', currency, 'USD')
    .option(
      '--cluster <name>',
      'cluster from MONGODB_CLUSTERS to store it on (default: the one with the fewest organisations)',
    )
    .option('--json', 'print {id, name, plan} as JSON')
    .action(create);
  addExamples(command, [
    'scopegate org create --name "Acme Ltd"',
    'scopegate org create --name "Acme Ltd" --plan enterprise --currency EUR --json',
  ]);
}

async function create(options: CreateOptions): Promise<void> {
  const { withStore } = await import('../common/withStore.js');
  const organisation = await withStore(async ({ control, databases }) => {
    const { clusters } = databases;
    if (options.cluster !== undefined && !clusters.includes(options.cluster)) {
      throw usageFailure(
        `unknown cluster ${options.cluster}; clusters are ${clusters.join(', ')} (add more with MONGODB_CLUSTERS)`,
      );
    }
    return control.organisations.create({
      name: options.name,
      plan: options.plan,
      currency: options.currency,
      cluster: options.cluster,
    });
  });
  const { id, plan } = organisation;
  if (options.json) {
    printJson({ id, name: organisation.name, plan });
    return;
  }
  printPairs({ id, name: organisation.name, plan });
  print(`\nNext: scopegate key create --org ${id} --name "first key" --scopes all`);
}
