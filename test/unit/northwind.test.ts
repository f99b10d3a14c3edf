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

describe('the sample data', () => {
  test.each(files)('of %s have addresses whose parts stand where they belong', (_name, rows) => {
    const addresses = rows.flatMap(({ billing_address: billing, delivery_address: delivery }) =>
      [billing, delivery].filter((address): address is Row => typeof address === 'object' && address !== null),
    );
    expect(addresses.length).toBeGreaterThan(50);
    for (const address of addresses) {
      expect(address.country).toMatch(/^\p{L}[\p{L} .]*$/u);
      // a comma in the street had once been taken for the end of it
      for (const part of Object.values(address)) if (part !== null) expect(part).toBe((part as string).trim());
    }
  });

  test('of customers have phone numbers for phones', () => {
    const phones = records('customers').flatMap(({ phone, contacts }) => [
      phone,
      ...(contacts as Row[]).map((contact) => contact.phone),
    ]);
    for (const phone of phones.filter((one) => one !== null)) expect(phone).toMatch(/\d/);
  });
});
