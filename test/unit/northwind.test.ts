import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Row = Record<string, unknown>;

function records(file: string): Row[] {
  const path = join(__dirname, '..', '..', 'examples', 'northwind', `${file}.ndjson`);
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
}

const files = ['customers', 'orders'].map((name) => [name, records(name)] as const);

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

  test.each(files)('of %s has well-formed addresses', (_name, rows) => {
    const addresses = rows.flatMap(({ billing_address: billing, delivery_address: delivery }) =>
      [billing, delivery].filter((address): address is Row => typeof address === 'object' && address !== null),
    );
    expect(addresses.length).toBeGreaterThan(50);
    for (const address of addresses) {
      expect(address.country).toMatch(/^\p{L}[\p{L} .]*$/u);
      // addresses were once split at a comma in the street
      for (const part of Object.values(address)) if (part !== null) expect(part).toBe((part as string).trim());
    }
  });

  test('of customers has phone numbers in phone members', () => {
    const phones = records('customers').flatMap(({ phone, contacts }) => [
      phone,
      ...(contacts as Row[]).map((contact) => contact.phone),
    ]);
    for (const phone of phones.filter((one) => one !== null)) expect(phone).toMatch(/\d/);
  });
});
