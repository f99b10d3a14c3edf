import type { Line } from '../../src/stored/lines';
import { client, type Client, type Json } from '../support/client';
import { ask, askAll, askPages, FACES, query, REST } from '../support/faces';
import { makeKey, makeNorthwind } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';

let gateway: TestGateway;
let caller: Client;

beforeAll(async () => {
  gateway = await startGateway();
  caller = client(gateway, (await makeKey(gateway, await makeNorthwind(gateway))).key);
});
afterAll(() => gateway.stop());

type Amounts = Record<`${'subtotal' | 'discount' | 'vat' | 'shipping' | 'total'}_minor`, number>;

function sum<T>(rows: readonly T[], of: (row: T) => number): number {
  return rows.reduce((total, row) => total + of(row), 0);
}

describe.each(FACES)("Northwind's orders in $name", (face) => {
  let orders: Json[];
  beforeAll(async () => {
    orders = await askAll(face, caller, 'orders', { limit: 100 });
  });

  test('are 830 in nine pages, the last one partial', async () => {
    const pages = await askPages(face, caller, 'orders', { limit: 100 });
    expect(pages.map(({ data }) => data.length)).toEqual([...new Array<number>(8).fill(100), 30]);
  });

  test('add up to the known subtotal and net sales of Northwind', () => {
    expect(sum(orders as Amounts[], (order) => order.subtotal_minor)).toBe(135_445_859);
    expect(sum(orders as Amounts[], (order) => order.subtotal_minor - order.discount_minor)).toBe(126_579_276);
  });

  test('each total is exactly subtotal - discount + vat + shipping', () => {
    for (const order of orders as Amounts[]) {
      const net = order.subtotal_minor - order.discount_minor;
      expect(order.total_minor).toBe(net + order.vat_minor + order.shipping_minor);
    }
  });

  test('have lines with positions from 0 and skus of products', async () => {
    const skus = new Set((await askAll(REST, caller, 'products')).map(({ sku }) => sku));
    for (const { id } of orders.slice(0, 40)) {
      const { lines } = await ask(face, caller, 'order', { id });
      expect(lines.map(({ position }: Json) => position)).toEqual(lines.map((_line: Json, at: number) => at));
      for (const { sku } of lines) expect(skus).toContain(sku);
    }
  });
});

test('the lines of an order add up to its subtotal', async () => {
  const rows: Json[] = [];
  for (let cursor: unknown = null; rows.length === 0 || cursor !== null;) {
    const document = `query($cursor: String) {
      orders(limit: 100, cursor: $cursor) { data { subtotal_minor lines { qty unit_price_minor } } next_cursor }
    }`;
    const { orders } = await query(caller, document, { cursor });
    rows.push(...orders.data);
    cursor = orders.next_cursor;
  }
  for (const { subtotal_minor: subtotal, lines } of rows) {
    expect(sum(lines as Line[], (line) => line.qty * line.unit_price_minor)).toBe(subtotal);
  }
});
