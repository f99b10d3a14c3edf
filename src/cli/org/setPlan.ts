import { Argument, type Command } from 'commander';
import { type Plan, PLANS } from '../../access/plans';
import { notFound } from '../common/failure';
import { addExamples } from '../common/help';
import { print, printJson } from '../common/terminal';
import { uuid } from '../common/values';

export function addOrgSetPlan(org: Command): void {
  const command = org
    .command('set-plan')
    .description("change an organisation's plan, for all its keys at once")
    .addArgument(new Argument('<id>', 'id of the organisation').argParser(uuid))
    .addArgument(new Argument('<plan>', 'the new plan; starter has no API access').choices(Object.keys(PLANS)))
    .option('--json', 'print {id, name, plan} as JSON')
    .action(setPlan);
  addExamples(command, ['scopegate org set-plan 689defbf-4477-4b15-966e-4830b650ded3 enterprise']);
}

async function setPlan(id: string, plan: Plan, options: { readonly json?: true }): Promise<void> {
  const { withStore } = await import('../common/withStore.js');
  const changed = await withStore(({ control }) => control.organisations.setPlan(id, plan));
  if (!changed) throw notFound('organisation', id, 'see scopegate org list');
  if (options.json) {
    printJson({ id, name: changed.name, plan: changed.plan });
    return;
  }
  const access = PLANS[plan].integrations ? 'its keys have API access' : 'its keys have no API access';
  print(`${changed.name} (${id}) is now on the plan ${plan}: ${access}.`);
}
