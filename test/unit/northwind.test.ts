import { RULES } from '../../src/resources/rules';
import { northwind } from '../support/factories';

type Row = Record<string, unknown>;

/** A number as an integer and a power of ten. */
function exact(value: unknown): [digits: bigint, scale: bigint] {
  const [whole = '', fraction = ''] = String(value).split('.');
  return [BigInt(whole + fraction), 10n ** BigInt(fraction.length)];
}

/** A quotient of integers that are not negative, rounded half up. */
const halfUp = (dividend: bigint, divisor: bigint): bigint => (2n * dividend + divisor) / (2n * divisor);

/** The amount of a line before its discount, and its discount, as in docs/guides/integrators.md. */
function amountsOf(line: Row): [gross: bigint, discount: bigint] {
  const [[qty, ofQty], [percent, ofPercent]] = [exact(line.qty), exact(line.discount_pct)];
  const worth = qty * BigInt(line.unit_price_minor as number);
  return [halfUp(worth, ofQty), halfUp(worth * percent, 100n * ofQty * ofPercent)];
}

// totals and positions are checked by an import
test.each(['orders', 'quotes'])(
  'the sample %s have the amounts of their lines, each rounded half up, to the cent',
  (name) => {
    const rows: readonly Row[] = northwind(name);
    expect(rows.length).toBeGreaterThan(800);
    for (const { number, lines, subtotal_minor: subtotal, discount_minor: discount } of rows) {
      const amounts = (lines as Row[]).map(amountsOf);
      const sum = (at: 0 | 1): number => Number(amounts.reduce((all, amount) => all + amount[at], 0n));
      expect([number, sum(0), sum(1)]).toEqual([number, subtotal, discount]);
    }
  },
);

test.each(['decided_at', 'sent_at'])('a draft whose row lacks %s is as one in which it is null', (member) => {
  const draft = { ...northwind('quotes')[0]!, status: 'draft', decided_at: null, sent_at: null };
  const { [member]: _missing, ...lacking } = draft as Row;
  expect(RULES.Quote!.rules!(lacking as { id: string })).toEqual([]);
});

test('a sent quote whose row lacks sent_at breaks the rule as one in which it is null', () => {
  const { sent_at: _missing, ...lacking } = { ...northwind('quotes')[0]!, status: 'sent', decided_at: null } as Row;
  expect(RULES.Quote!.rules!(lacking as { id: string }).map(({ pointer }) => pointer)).toEqual(['/sent_at']);
});
