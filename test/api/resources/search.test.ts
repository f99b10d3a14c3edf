import type { ImportRecord } from '../../../src/stored/records';
import type { Client, Json } from '../../support/client';
import { ask, askAll, FACES, refusal, REST } from '../../support/faces';
import { callerOf, makeStored, northwind } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { expectedRows, type ListName } from '../../support/resources';
import { threadRecord } from '../../support/threads';

const gateway = served();

/** A caller of a new organisation with these records. */
async function withRecords(records: Partial<Record<ListName, readonly ImportRecord[]>>): Promise<Client> {
  return callerOf(gateway, makeStored(gateway, records));
}

describe.each(FACES)("a search of Northwind's products in $name", (face) => {
  const records = northwind('products');
  const caller = late(() => withRecords({ products: records }));

  test('for more than 8 different words is rejected, naming the argument', async () => {
    const q = 'one two three four five six seven eight ONE';
    expect(await askAll(face, caller, 'products', { q })).toEqual([]);
    expect(await refusal(face, caller, 'products', { q: `${q} nine` })).toMatchObject({
      status: 400,
      code: 'invalid_request',
      errors: [{ parameter: 'q', code: 'length', detail: 'must have at most 8 different words, and has 9' }],
    });
  });

  const wordsOf = (text: string): string[] =>
    text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase().split(/[^a-z0-9ø]+/).filter(Boolean); // prettier-ignore
  const found = (q: string) => (row: Json) => {
    const words = wordsOf([row.sku, row.name, row.description, row.category].join(' '));
    return wordsOf(q).every((asked) => words.some((word) => word.startsWith(asked)));
  };

  // test/unit/search.test.ts has every way to write a word
  test.each([
    ['the start of a word', 'ch', 'Chai'],
    ['words in any order', 'anton chef', "Chef Anton's Gumbo Mix"],
    ['words of several members', 'boxes 10 condiments', 'Northwoods Cranberry Sauce', 0],
    ['a sku as written', 'NW-01', 'Uncle Bob', 0],
    ['missing accents', 'rossle', 'Rössle Sauerkraut'],
  ])('finds %s: %j', async (_title, q, name, least = 1) => {
    const expected = expectedRows(records, { keeps: found(q) });
    const rows = await askAll(face, caller, 'products', { q });
    expect(rows).toEqual(expected);
    expect(rows.filter((row) => String(row.name).startsWith(name)).length).toBeGreaterThanOrEqual(least);
  });
});

describe('a search looks', () => {
  const product = northwind('products')[0] as Json;
  const customer = northwind('customers')[0] as Json;
  const quote = northwind('quotes')[0] as Json;
  const order = northwind('orders')[0] as Json;
  const address = { ...customer.billing_address, line1: 'Needle', city: 'Needle' };
  const lines = [{ ...order.lines[0], description: 'Needle', sku: 'Needle' }];

  test.each<[ListName, string, ImportRecord]>([
    ['products', 'sku', { ...product, sku: 'A-needle' }],
    ['products', 'name', { ...product, name: 'A needle' }],
    ['products', 'description', { ...product, description: 'A needle' }],
    ['products', 'category', { ...product, category: 'A needle' }],
    ['customers', 'name', { ...customer, name: 'A needle' }],
    ['customers', 'external_ref', { ...customer, external_ref: 'A-NEEDLE' }],
    ['customers', 'email', { ...customer, email: 'ann@needle.example' }],
    ["customers' contacts", 'name', { ...customer, contacts: [customer.contacts[0], { ...customer.contacts[0], name: 'A Needle' }] }], // prettier-ignore
    ["customers' contacts", 'email', { ...customer, contacts: [{ ...customer.contacts[0], email: 'ann@needle.example' }] }], // prettier-ignore
    ['quotes', 'number', { ...quote, number: 'Q-NEEDLE-1' }],
    ['orders', 'number', { ...order, number: 'SO-NEEDLE-1' }],
    ['orders', 'customer_reference', { ...order, customer_reference: 'PO needle' }],
    ['requests', 'subject', threadRecord(['A text'], { subject: 'A needle' })],
    ['requests', 'messages', threadRecord(['A text', 'Another\nneedle', 'A third'])],
  ] as never)("in %s' %s", async (where, _member, record) => {
    const list = where.replace("' contacts", '') as ListName;
    const caller = await withRecords({ [list]: [record] });
    expect(await askAll(REST, caller, list, { q: 'needle' })).toHaveLength(1);
  });

  test.each<[ListName, string, ImportRecord]>([
    ['products', 'uom', { ...product, uom: 'needle' }],
    ['customers', 'addresses, phone and vat_number', { ...customer, billing_address: address, delivery_address: address, phone: 'needle', vat_number: 'needle' }], // prettier-ignore
    ["customers", "contacts' role and phone", { ...customer, contacts: [{ ...customer.contacts[0], role: 'needle', phone: 'needle' }] }], // prettier-ignore
    ['quotes', 'lines', { ...quote, lines }],
    ['orders', 'lines and delivery_address', { ...order, lines, delivery_address: address }],
    ['requests', 'contact', threadRecord(['A text'], { contact: { name: 'Needle', email: null, phone: null } })],
  ] as never)("not in %s' %s", async (list, _member, record) => {
    const caller = await withRecords({ [list]: [record] });
    expect(await askAll(REST, caller, list, { q: 'needle' })).toEqual([]);
    expect(await askAll(REST, caller, list)).toHaveLength(1);
  });

  test.each(FACES)('only in current values, after a change in $name', async (face) => {
    const caller = await withRecords({ products: [product], customers: [customer] });
    const { sku } = product;
    const { external_ref: ref } = customer;
    await ask(face, caller, 'upsert_products', { products: [{ sku, name: 'Needle' }] });
    expect(await askAll(face, caller, 'products', { q: 'needle' })).toHaveLength(1);
    expect(await askAll(face, caller, 'products', { q: product.name })).toEqual([]);
    await ask(face, caller, 'upsert_customers', { customers: [{ external_ref: ref, name: 'Thread', contacts: [] }] });
    expect(await askAll(face, caller, 'customers', { q: 'thread' })).toHaveLength(1);
    expect(await askAll(face, caller, 'customers', { q: customer.contacts[0].name })).toEqual([]);
  });
});
