import { totalOf } from '../../src/stored/lines';
import { northwind } from '../support/factories';

type Row = Record<string, unknown>;
const records = (file: string): Row[] => northwind(file);

/** A number as an integer and a power of ten. */
function exact(value: unknown): [digits: bigint, scale: bigint] {
  const [whole = '', fraction = ''] = String(value).split('.');
  return [BigInt(whole + fraction), 10n ** BigInt(fraction.length)];
}

/** A quotient of integers that are not negative, rounded half up. */
const halfUp = (dividend: bigint, divisor: bigint): bigint => (2n * dividend + divisor) / (2n * divisor);

/** What a line is worth before its discount, and its discount, as docs/guides/integrators.md says. */
function amountsOf(line: Row): [gross: bigint, discount: bigint] {
  const [[qty, ofQty], [percent, ofPercent]] = [exact(line.qty), exact(line.discount_pct)];
  const worth = qty * BigInt(line.unit_price_minor as number);
  return [halfUp(worth, ofQty), halfUp(worth * percent, 100n * ofQty * ofPercent)];
}

describe('the sample data', () => {
  test.each(['orders', 'quotes'])('of %s has the amounts of the lines, each rounded half up, to the cent', (name) => {
    const rows = records(name);
    expect(rows.length).toBeGreaterThan(800);
    for (const { number, lines, subtotal_minor: subtotal, discount_minor: discount } of rows) {
      const amounts = (lines as Row[]).map(amountsOf);
      const sum = (at: 0 | 1): number => Number(amounts.reduce((all, one) => all + one[at], 0n));
      expect([number, sum(0), sum(1)]).toEqual([number, subtotal, discount]);
    }
  });

  test.each([
    ['quotes', 913],
    ['orders', 830],
  ])('of %s has %i different numbers, exact totals, and lines with positions from 0', (name, count) => {
    const rows = records(name);
    expect(new Set(rows.map(({ number }) => number)).size).toBe(count);
    for (const { number, total_minor: total, lines, ...row } of rows) {
      expect([number, total]).toEqual([number, totalOf(row as unknown as Parameters<typeof totalOf>[0])]);
      expect((lines as Row[]).map(({ position }) => position)).toEqual((lines as Row[]).map((_line, at) => at));
    }
  });

  test('of orders names products in each line, and of quotes in none', () => {
    const skus = records('products').map(({ sku }) => sku);
    const skusOf = (name: string) => records(name).flatMap(({ lines }) => (lines as Row[]).map(({ sku }) => sku));
    expect(skus).toEqual(expect.arrayContaining([...new Set(skusOf('orders'))]));
    expect(new Set(skusOf('quotes'))).toEqual(new Set([undefined]));
  });
});
