import type { Command } from 'commander';
import { addExamples } from '../common/help';
import { print, printJson, printTable } from '../common/terminal';

export function addOrgList(org: Command): void {
  const command = org
    .command('list')
    .description('list all organisations, oldest first')
    .option('--json', 'print an array of {id, name, plan} as JSON')
    .action(list);
  addExamples(command, ['scopegate org list', 'scopegate org list --json']);
}

async function list(options: { readonly json?: true }): Promise<void> {
  const { withStore } = await import('../common/withStore.js');
  const organisations = await withStore(({ control }) => control.organisations.list());
  if (options.json) {
    printJson(organisations.map(({ id, name, plan }) => ({ id, name, plan })));
    return;
  }
  if (organisations.length === 0) {
    print('There are no organisations yet. To create one: scopegate org create --name "Acme Ltd"');
    return;
  }
  printTable(
    ['ID', 'PLAN', 'NAME'],
    organisations.map(({ id, name, plan }) => [id, plan, name]),
  );
}
