import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { blocksOf } from '../../../docs/markdown';
import type { Json } from '../../../support/client';
import { northwind, store } from '../../../support/factories';
import type { Jobs } from './scene';

/* The job that writes a month's orders as CSV. */

export function orders({ ended, killed, file, meet, gateway, scene }: Jobs): void {
  test("a month's CSV has the lines and the sum of its orders to the cent, or is not there", async () => {
    const orders = northwind('orders').slice(0, 70) as Json[];
    const [line] = orders[0].lines;
    const odd = (currency: string, status: string): Json => ({
      ...orders[0],
      id: randomUUID(),
      number: `${currency}-${status}`,
      status,
      currency,
      customer_id: null,
      // 1.005 × 100 is less than 100.5 among floating-point numbers
      lines: [
        { ...line, id: randomUUID(), qty: 1.005, unit_price_minor: 100, discount_pct: 7.5, description: 'a "b",\nc' },
      ],
      subtotal_minor: 101,
      discount_minor: 8,
      vat_minor: 17,
      shipping_minor: 0,
      total_minor: 110,
    });
    const more = [odd('KWD', 'completed'), odd('JPY', 'completed'), odd('USD', 'cancelled')];
    const of = await scene('orders', { customers: northwind('customers'), orders: [...orders, ...more] });
    const name = file('orders-1996-07.csv');
    const written = () => readFile(name, 'utf8').catch(() => undefined);
    for (const month of ['1996-13', '1996-00', '1996-7'])
      expect(await ended(of.key, 'orders', month)).toMatchObject({
        code: 1,
        said: expect.stringContaining('name a month, such as 1996-07'),
      });
    await killed('after', /graphql/, of.key, 'orders', '1996-07');
    expect(await written()).toBeUndefined();
    const late = { ...odd('EUR', 'completed') };
    meet('before', /graphql/, () => store(gateway, of.organisation, { orders: [late] }));
    expect(await ended(of.key, 'orders', '1996-07')).toMatchObject({
      code: 1,
      said: expect.stringContaining('run it again'),
    });
    expect(await written()).toBeUndefined();
    const last = await ended(of.key, 'orders', '1996-07');
    expect(last).toMatchObject({ code: 0, said: expect.stringMatching(/^\d+ orders, USD \d+\.\d\d$/m) });
    expect(last.said).toContain('1 orders, KWD 0.110\n');
    const text = (await written())!;
    const [shown] = blocksOf('docs/guides/jobs/orders.md').filter(({ language }) => language === 'csv');
    for (const part of shown!.text.split('\n')) expect(text).toContain(`${part}\n`);
    const rows = records(text).slice(1);
    const lines = [...orders, ...more.slice(0, 2), late]
      .filter(({ placed_at }) => placed_at < '1996-08')
      .flatMap((one) => one.lines);
    expect(rows.filter(([, , , , , type]) => type === 'line')).toHaveLength(lines.length);
    expect(rows.find(([number]) => number === 'KWD-completed')).toEqual(
      `KWD-completed,${orders[0].placed_at},completed,,KWD,line,${line.sku},TEXT,1.005,0.100,7.5,0.093`
        .split(',')
        .map((value) => (value === 'TEXT' ? 'a "b",\nc' : value)),
    );
    const sums = new Map<string, bigint>();
    for (const row of rows) sums.set(row[4]!, (sums.get(row[4]!) ?? 0n) + BigInt(row[11]!.replace('.', '')));
    const asked = `{ order_totals(group_by: [STATUS], from: "1996-07-01", to: "1996-08-01") { data { currency status total_minor } } }`;
    const totals = (await of.caller.graphql(asked)).body.data.order_totals.data as Json[];
    const wanted = totals.filter(({ status }) => status !== 'cancelled');
    expect(wanted.map(({ currency }) => currency).sort()).toEqual(['EUR', 'JPY', 'KWD', 'USD']);
    for (const { currency, total_minor: total } of wanted)
      expect([currency, sums.get(currency)]).toEqual([currency, BigInt(total)]);
  });
}

/** The records of a CSV file (RFC 4180). */
function records(text: string): string[][] {
  const fields = text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))([,\n])/g);
  const found: string[][] = [[]];
  for (const [, quoted, plain = '', end] of fields) {
    found.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '\n') found.push([]);
  }
  return found.slice(0, -1);
}
