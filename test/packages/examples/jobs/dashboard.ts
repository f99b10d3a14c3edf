import { randomUUID } from 'node:crypto';
import { eventually } from '../../../api/http/eventually';
import type { Json } from '../../../support/client';
import { northwind, store } from '../../../support/factories';
import { type Jobs, PATIENCE } from './scene';

/* The job that shows totals as they change. */

export function dashboard({ start, meet, gateway, scene }: Jobs): void {
  test('a dashboard shows the totals of the API, also after a change before its stream was open', async () => {
    const of = await scene('dashboard', { orders: northwind('orders').slice(0, 40) });
    const another = (): Json => ({ ...northwind('orders')[0]!, id: randomUUID(), number: randomUUID().slice(0, 8) });
    // between its first totals and the opening of the stream
    meet('before', /stream/, async () => {
      await eventually(() => program.stdout().endsWith('\n\n'), PATIENCE);
      await store(gateway, of.organisation, { orders: [another()] });
    });
    const program = start(of.key, 'dashboard');
    const isRight = async (): Promise<boolean> => {
      const asked = '{ order_totals(group_by: [MONTH]) { data { month count total_minor } } }';
      const { data } = (await of.caller.graphql(asked)).body.data.order_totals as { data: Json[] };
      const shown = program.stdout().trimEnd().split('\n\n').at(-1)!.split('\n');
      const numbers = shown.map((line) =>
        line
          .replaceAll(/[^\d -]/g, '')
          .split(/ +/)
          .filter(Boolean),
      );
      const wanted = data.map(({ month, count, total_minor: total }) => [month, String(count), String(total)]);
      return program.stdout().endsWith('\n\n') && JSON.stringify(numbers) === JSON.stringify(wanted);
    };
    await eventually(() => /^1996-07 \d+ orders, USD [\d,]+\.\d\d$/m.test(program.stdout()), PATIENCE);
    const isSecond = (): boolean => program.stdout().split('\n\n').length > 2;
    await eventually(async () => isSecond() && (await isRight()), PATIENCE);
    await of.rows('orders').deleteOne({ number: 'SO-10248' });
    await eventually(isRight, PATIENCE);
  });
}
