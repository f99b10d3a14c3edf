import { Argument, Option } from 'commander';
import { type Plan, PLANS } from '../../auth/plans';
import type { Organisation } from '../../auth/principal';
import { storedBytes } from '../../database/quota';
import { notFound } from '../common/failure';
import type { ExplainedCommand, JsonOption } from '../common/help';
import type { Store } from '../common/open';
import { print, printJson, printPairs } from '../common/terminal';
import { currency, name, uuid } from '../common/values';
import { requireCluster, requireOrganisation, withStore } from '../common/withStore';
import { described, SHAPE, shown, shownWith } from './shown';

const ID = '689defbf-4477-4b15-966e-4830b650ded3';

interface CreateOptions extends JsonOption {
  readonly name: string;
  readonly plan: Plan;
  readonly currency: string;
  readonly cluster?: string;
}

export function addCreate(org: ExplainedCommand): void {
  const plan = new Option('--plan <plan>', 'plan; starter has no API access');
  org
    .command('create')
    .description('create an organisation, with its own database')
    .requiredOption('--name <name>', 'name of the organisation', name)
    .addOption(plan.choices(Object.keys(PLANS)).default('integrations'))
    .option('--currency <code>', 'default currency of new products (ISO 4217)', currency, 'USD')
    .option('--cluster <name>', 'cluster from MONGODB_CLUSTERS to store it on (default: the one with the most room)')
    .option('--json', `print ${SHAPE} as JSON`)
    .examples([
      'scopegate org create --name "Acme Ltd"',
      'scopegate org create --name "Acme Ltd" --plan enterprise --currency EUR --json',
    ])
    .action(async ({ json, cluster, ...input }: CreateOptions) => {
      const created = await withStore(async ({ control, databases }) => {
        if (cluster !== undefined) requireCluster(databases, cluster);
        return control.organisations.create({ ...input, cluster });
      });
      if (json) printJson(shown(created));
      else {
        printPairs(shown(created));
        print(`\nNext: scopegate key create --org ${created.id} --name "first key" --scopes all`);
      }
    });
}

export function addShow(org: ExplainedCommand): void {
  org
    .command('show')
    .description('show an organisation: its name, plan, cluster, state, and the bytes that it stores')
    .argument('<id>', 'id of the organisation', uuid)
    .option('--json', `print ${SHAPE} as JSON, with stored_bytes, and move and copies if there are any`)
    .examples([`scopegate org show ${ID}`])
    .action(async (id: string, { json }: JsonOption) => {
      const found = await withStore(async ({ control, databases }) => {
        const moves = await control.moving.movesOf(id);
        // a cluster that is away keeps nothing else from being shown
        const bytes =
          moves &&
          (await databases
            .open(moves.organisation)
            .then(({ connection }) => storedBytes(connection))
            .catch(() => undefined));
        return moves && { moves, stored: bytes === undefined ? {} : { stored_bytes: bytes } };
      });
      if (!found) throw notFound('organisation', id, 'see scopegate org list');
      const { moves, stored } = found;
      if (json) printJson({ ...shownWith(moves), ...stored });
      else
        printPairs({
          ...described(moves),
          ...(stored.stored_bytes !== undefined && { bytes: String(stored.stored_bytes) }),
        });
    });
}

export function addRename(org: ExplainedCommand): void {
  org
    .command('rename')
    .description('change the name of an organisation')
    .argument('<id>', 'id of the organisation', uuid)
    .argument('<name>', 'the new name', name)
    .option('--json', `print ${SHAPE} as JSON`)
    .examples([`scopegate org rename ${ID} "Acme Trading Ltd"`])
    .action((id: string, newName: string, { json }: JsonOption) =>
      change(
        id,
        json,
        ({ control }) => control.organisations.rename(id, newName),
        (organisation) => `Organisation ${id} is now called ${organisation.name}.`,
      ),
    );
}

export function addSetPlan(org: ExplainedCommand): void {
  const newPlan = new Argument('<plan>', 'the new plan; starter has no API access');
  org
    .command('set-plan')
    .description("change an organisation's plan, for all its keys at once")
    .argument('<id>', 'id of the organisation', uuid)
    .addArgument(newPlan.choices(Object.keys(PLANS)))
    .option('--json', `print ${SHAPE} as JSON`)
    .examples([`scopegate org set-plan ${ID} enterprise`])
    .action((id: string, plan: Plan, { json }: JsonOption) => {
      const access = PLANS[plan].integrations ? 'its keys have API access' : 'its keys have no API access';
      return change(
        id,
        json,
        ({ control }) => control.organisations.setPlan(id, plan),
        (organisation) => `${organisation.name} (${id}) is now on the plan ${plan}: ${access}.`,
      );
    });
}

export function addSuspend(org: ExplainedCommand): void {
  org
    .command('suspend')
    .description(
      'suspend an organisation: once this returns, all its keys and users get 403 organisation_suspended, on every instance',
    )
    .argument('<id>', 'id of the organisation', uuid)
    .option('--json', `print ${SHAPE} as JSON`)
    .examples([`scopegate org suspend ${ID}`], ['Its data are kept, and import, export and key commands still work.'])
    .action((id: string, { json }: JsonOption) =>
      change(
        id,
        json,
        ({ control }) => control.organisations.suspend(id),
        ({ name }) => `${name} (${id}) is suspended. To undo: scopegate org resume ${id}`,
      ),
    );
}

export function addResume(org: ExplainedCommand): void {
  org
    .command('resume')
    .description('end the suspension of an organisation, for all its keys and users at once')
    .argument('<id>', 'id of the organisation', uuid)
    .option('--json', `print ${SHAPE} as JSON`)
    .examples([`scopegate org resume ${ID}`])
    .action((id: string, { json }: JsonOption) =>
      change(
        id,
        json,
        ({ control }) => control.organisations.resume(id),
        ({ name }) => `${name} (${id}) is active.`,
      ),
    );
}

/** Changes an organisation, and prints it or what was done. */
async function change(
  id: string,
  json: true | undefined,
  work: (store: Store) => Promise<Organisation | undefined>,
  say: (organisation: Organisation) => string,
): Promise<void> {
  const changed = await withStore(async (store) => {
    const done = await work(store);
    // for its error, if it cannot be changed because it is being erased
    if (!done) await requireOrganisation(store, id);
    return done;
  });
  if (!changed) throw notFound('organisation', id, 'see scopegate org list');
  if (json) printJson(shown(changed));
  else print(say(changed));
}
