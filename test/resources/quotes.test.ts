import { client, type Client, type Json } from '../support/client';
import { ask, askAll, FACES, REST } from '../support/faces';
import { makeKey, makeNorthwind } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';

let gateway: TestGateway;
let caller: Client;
let quotes: Json[];

beforeAll(async () => {
  gateway = await startGateway();
  caller = client(gateway, (await makeKey(gateway, await makeNorthwind(gateway))).key);
  quotes = await askAll(REST, caller, 'quotes');
});
afterAll(() => gateway.stop());

test('Northwind has 913 quotes with different numbers', () => {
  expect(quotes).toHaveLength(913);
  expect(new Set(quotes.map(({ number }) => number)).size).toBe(913);
});

test('every total is exactly subtotal - discount + vat', () => {
  for (const quote of quotes as Record<`${'subtotal' | 'discount' | 'vat' | 'total'}_minor`, number>[]) {
    expect(quote.total_minor).toBe(quote.subtotal_minor - quote.discount_minor + quote.vat_minor);
  }
});

test('decided_at is set only for accepted and declined quotes, sent_at for all that were sent', () => {
  for (const { status, decided_at: decided, sent_at: sent } of quotes) {
    expect([status, decided !== null]).toEqual([status, ['accepted', 'declined'].includes(status)]);
    expect([status, sent !== null]).toEqual([status, !['draft', 'withdrawn'].includes(status)]);
  }
});

test.each(FACES)("a quote's lines have positions from 0 in $name", async (face) => {
  const counts = new Set<number>();
  for (const { id } of quotes.slice(0, 60)) {
    const { lines } = await ask(face, caller, 'quote', { id });
    expect(lines.map(({ position }: Json) => position)).toEqual(lines.map((_line: Json, at: number) => at));
    counts.add(lines.length);
  }
  expect(Math.max(...counts)).toBeGreaterThan(2);
});

test('quote lines have no sku', async () => {
  const { lines } = await ask(REST, caller, 'quote', { id: quotes[0].id });
  for (const line of lines) expect(line).not.toHaveProperty('sku');
});
