import type { Plan } from '../../auth/plans';
import type { JsonOption } from '../common/help';
import { paint, plain, print, printSlowly } from '../common/terminal';
import { withStore } from '../common/withStore';
import { shown } from './command';

interface ListOptions extends JsonOption {
  readonly cluster?: string;
  readonly plan?: Plan;
  readonly jsonLines?: true;
}

/** How rows are written: before the first, each, and after the last. */
interface Format {
  readonly first: string;
  readonly row: (organisation: ReturnType<typeof shown>, isFirst: boolean) => string;
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
export async function list({ json, jsonLines, ...query }: ListOptions): Promise<void> {
  const format = json ? JSON_ARRAY : jsonLines ? JSON_LINES : tableFormat();
  const isTable = !json && !jsonLines;
  await withStore(async ({ control }) => {
    let isFirst = true;
    for await (const organisation of control.organisations.each(query)) {
      await printSlowly((isFirst ? format.first : '') + format.row(shown(organisation), isFirst));
      isFirst = false;
    }
    if (!isFirst || !isTable) await printSlowly((isFirst ? format.first : '') + format.last);
    else if (query.cluster === undefined && query.plan === undefined)
      print('There are no organisations yet. To create one: scopegate org create --name "Acme Ltd"');
    else print('There are no such organisations.');
  });
}
