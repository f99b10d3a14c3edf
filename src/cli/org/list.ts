import { Option } from 'commander';
import { type Plan, PLANS } from '../../auth/plans';
import type { ExplainedCommand, JsonOption } from '../common/help';
import { paint, plain, print } from '../common/terminal';
import { withStore } from '../common/withStore';
import { SHAPE, shown, type ShownOrganisation } from './shown';

interface ListOptions extends JsonOption {
  readonly cluster?: string;
  readonly plan?: Plan;
  readonly jsonLines?: true;
}

export function addList(org: ExplainedCommand): void {
  const plan = new Option('--plan <plan>', 'only those on this plan').choices(Object.keys(PLANS));
  const lines = new Option('--json-lines', `print one ${SHAPE} as JSON per line`).conflicts('json');
  org
    .command('list')
    .description('list organisations, oldest first')
    .option('--cluster <name>', 'only those on this cluster')
    .addOption(plan)
    .option('--json', `print an array of ${SHAPE} as JSON`)
    .addOption(lines)
    .examples([
      'scopegate org list',
      'scopegate org list --cluster default --plan starter',
      'scopegate org list --json-lines | jq -r .id',
    ])
    .action(list);
}

/** How rows are written: before the first, each, and after the last. */
interface Format {
  readonly first: string;
  readonly row: (organisation: ShownOrganisation, isFirst: boolean) => string;
  readonly last: string;
}

const JSON_ARRAY: Format = {
  first: '[',
  row: (organisation, isFirst) => (isFirst ? '' : ',') + JSON.stringify(organisation),
  last: ']\n',
};

const JSON_LINES: Format = { first: '', row: (organisation) => `${JSON.stringify(organisation)}\n`, last: '' };

/** Columns of a fixed width, since the rows are not known when the first is printed. */
const line = (id: string, plan: string, state: string, cluster: string, name: string): string =>
  [id.padEnd(36), plan.padEnd(12), state.padEnd(9), cluster.padEnd(12), name].map(plain).join('  ');

const tableFormat = (): Format => ({
  first: `${paint(process.stdout, 'bold', line('ID', 'PLAN', 'STATE', 'CLUSTER', 'NAME'))}\n`,
  row: ({ id, plan, state, cluster, name }) => `${line(id, plan, state, cluster, name)}\n`,
  last: '',
});

/** Prints rows as they are read, so that any number of organisations takes little memory. */
async function list({ json, jsonLines, ...query }: ListOptions): Promise<void> {
  const format = json ? JSON_ARRAY : jsonLines ? JSON_LINES : tableFormat();
  const isTable = !json && !jsonLines;
  await withStore(async ({ control }) => {
    let isFirst = true;
    for await (const organisation of control.organisations.each(query)) {
      await write((isFirst ? format.first : '') + format.row(shown(organisation), isFirst));
      isFirst = false;
    }
    if (!isFirst || !isTable) await write((isFirst ? format.first : '') + format.last);
    else print(empty(query));
  });
}

/** Waits for a slow reader; a closed one ends the command quietly. */
async function write(text: string): Promise<void> {
  if (text === '' || process.stdout.write(text) || process.stdout.destroyed) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      process.stdout.off('drain', done).off('close', done);
      resolve();
    };
    process.stdout.on('drain', done).on('close', done);
  });
}

function empty({ cluster, plan }: Omit<ListOptions, 'json' | 'jsonLines'>): string {
  return cluster === undefined && plan === undefined
    ? 'There are no organisations yet. To create one: scopegate org create --name "Acme Ltd"'
    : 'There are no such organisations.';
}
