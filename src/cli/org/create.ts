import { type Command, Option } from 'commander';
import { type Plan, PLANS } from '../../access/plans';
import { usageFailure } from '../common/failure';
import { teach } from '../common/help';
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
    .description('make an organisation, with its own database and every index')
    .requiredOption('--name <name>', 'name of the organisation', name)
    .addOption(
      new Option('--plan <plan>', 'its plan; starter has no API access')
        .choices(Object.keys(PLANS))
        .default('integrations'),
    )
    .option('--currency <code>', 'currency of new products that name none (ISO 4217)', currency, 'USD')
    .option('--cluster <name>', 'cluster of MONGODB_CLUSTERS to place it on; the emptiest when left out')
    .option('--json', 'print {id, name, plan} as JSON')
    .action(create);
  teach(command, [
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
        `there is no cluster ${options.cluster}; clusters are ${clusters.join(', ')} (MONGODB_CLUSTERS adds more)`,
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
