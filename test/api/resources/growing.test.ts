import { setTimeout as sleep } from 'node:timers/promises';
import { SMALL } from '../../../src/mongo/indexes';
import { SECOND } from '../../../src/units';
import { eventually } from '../http/eventually';
import { type Json, readAll } from '../../support/client';
import { commandsOf, startWatchedGateway } from '../../support/commands';
import { indexesOpenRows } from '../../support/differences';
import { servedBy, startGateway } from '../../support/gateway';
import { filesOf, indexesOf, type Tenant, tenantOf } from './tenant';

/* Collections that pass 1,000 rows, and then get the indexes that make reads fast. */

const gateway = servedBy(startWatchedGateway);

interface Product {
  readonly sku: string;
}

const rows = (from: number, to: number): Product[] =>
  Array.from({ length: to - from }, (_, at) => ({ sku: `G-${String(from + at)}`, name: 'Grown', active: at % 2 > 0 }));
const skusOf = (products: readonly Product[]): string[] => products.map(({ sku }) => sku);
const write = (of: Tenant, products: Product[]): Promise<Json> => of.caller.post('/products/bulk', { products });
/** Every sku, page by page, by each way of reading that has an index of its own. */
const listed = async ({ caller }: Tenant): Promise<string[][]> =>
  Promise.all(
    [{}, { sort: 'name' }, { sort: '-updated_at' }, { q: 'grow' }].map(async (query) =>
      skusOf(await readAll(caller, '/products', { ...query, limit: 100 })).toSorted(),
    ),
  );
/** Calls until the collection has every index. Not as often as possible: calls delay the building of indexes on a slow database. */
const untilGrown = (one: Tenant, call: () => Promise<unknown>): Promise<boolean> =>
  eventually(async () => {
    await call();
    await sleep(200);
    return (await filesOf(one)).products!.length === indexesOf(gateway, 'products').length;
  });

describe('a collection that grows', () => {
  test('gets the indexes that make reads fast when it passes 1,000 rows, and no list is wrong meanwhile', async () => {
    const one = await tenantOf(gateway);
    await write(one, rows(0, SMALL - 1));
    expect((await filesOf(one)).products).toEqual(indexesOf(gateway, 'products', true));
    const all = skusOf(rows(0, SMALL + 50)).toSorted();
    await write(one, rows(SMALL - 1, SMALL + 50));
    // a write counts at most once a second, in the background
    const seen = listed(one);
    await untilGrown(one, () => write(one, rows(0, 1)));
    expect(await seen).toEqual(Array(4).fill(all));
    expect(await listed(one)).toEqual(Array(4).fill(all));
    const sent = await commandsOf(gateway, one.organisation, () => write(one, rows(0, 1)));
    expect(sent.filter(({ name }) => /index|count/i.test(name))).toEqual([]);
  });

  test('gets them when it is only read after the write that passes 1,000 rows', async () => {
    const one = await tenantOf(gateway);
    await write(one, rows(0, SMALL - 1));
    await write(one, rows(SMALL - 1, SMALL));
    await untilGrown(one, () => one.caller.get('/products'));
  });

  test('is not counted while it is written, until it may have 1,000 rows', async () => {
    const one = await tenantOf(gateway);
    await write(one, rows(0, 1));
    const counted = async (): Promise<number> => {
      const sent = await commandsOf(gateway, one.organisation, () => write(one, rows(0, SMALL / 2)));
      return sent.filter(({ name }) => name === 'count').length;
    };
    const real = performance.now.bind(performance);
    // as if a second had passed since it was counted
    const now = jest.spyOn(performance, 'now').mockImplementation(() => real() + 2 * SECOND);
    const counts = [await counted(), await counted(), await counted()];
    now.mockRestore();
    expect(counts).toEqual([0, 0, 1]);
  });
});

describe('a collection that many write at once', () => {
  test('has what was stored before in every list, while it passes 1,000 rows, on every gateway', async () => {
    // nothing is promised on a server whose new index lacks rows: there collections get every index from the start (files.test.ts)
    if (!(await indexesOpenRows(gateway.databases.control.getClient()))) return;
    await using other = await startGateway();
    const one = await tenantOf(gateway);
    const there = await tenantOf(other, one.organisation);
    const begun = SMALL - 100;
    await write(one, rows(0, begun));
    const stored = new Set(skusOf(rows(0, begun)));
    let writing = 4;
    const writer = async (_: unknown, which: number): Promise<void> => {
      for (let at = begun + which * 75; at < begun + (which + 1) * 75; at += 25) {
        expect((await write(one, rows(at, at + 25))).body).toMatchObject({ created: 25 });
        for (const sku of skusOf(rows(at, at + 25))) stored.add(sku);
      }
      writing -= 1;
    };
    const reader = async (): Promise<void> => {
      while (writing > 0) {
        const before = [...stored];
        for (const found of await listed(there)) {
          const all = new Set(found);
          expect([before.filter((sku) => !all.has(sku)), found.length - all.size]).toEqual([[], 0]);
        }
      }
    };
    await Promise.all([reader(), ...Array.from({ length: writing }, writer)]);
    await untilGrown(one, () => write(one, rows(0, 1)));
    for (const each of [one, there]) expect(await listed(each)).toEqual(Array(4).fill([...stored].sort()));
  });
});
