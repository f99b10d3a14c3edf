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
