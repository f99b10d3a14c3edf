import { client, type Json } from '../../support/client';
import { ask, askPages, FACES, GRAPHQL, REST } from '../../support/faces';
import { callerOf, makeKey, makeOrganisation, makeStored, store } from '../../support/factories';
import { late, served, startGateway } from '../../support/gateway';
import { expectedRows, fewer, RESOURCES, variedNorthwind } from '../../support/resources';
import { threadRecord } from '../../support/threads';

const records = fewer(variedNorthwind());

const gateway = served();
const organisation = late(() => makeStored(gateway, records));
const caller = late(() => callerOf(gateway, organisation));

const ids = (rows: readonly Json[]): string[] => rows.map((row) => row.id);

describe.each(FACES)('pages in $name', (face) => {
  test.each(RESOURCES)('of $list have 20 rows by default', async ({ list }) => {
    expect((await ask(face, caller, list)).data).toHaveLength(20);
  });

  test.each([face === REST ? ([1, 77] as const) : ([7, 11] as const), [76, 2], [77, 1], [100, 1]])(
    'of %i products have all 77 exactly once, in %i pages',
    async (limit, count) => {
      const pages = await askPages(face, caller, 'products', { limit, sort: 'updated_at' });
      expect(pages).toHaveLength(count);
      expect(pages.map((page) => page.has_more)).toEqual(pages.map((_page, at) => at < count - 1));
      expect(pages.at(-1).next_cursor).toBeNull();
      expect(ids(pages.flatMap((page) => page.data))).toEqual(
        ids(expectedRows(records.products, { sort: 'updated_at' })),
      );
    },
  );

  test('may differ in size, and continue with a cursor from the other API', async () => {
    const rows: Json[] = [];
    let cursor: string | undefined;
    for (const [at, limit] of [1, 5, 40, 100].entries()) {
      const args = { limit, sort: 'name', ...(cursor && { cursor }) };
      const page = await ask(at % 2 === 0 ? face : face === REST ? GRAPHQL : REST, caller, 'customers', args);
      rows.push(...page.data);
      cursor = page.next_cursor;
    }
    expect(cursor).toBeNull();
    expect(ids(rows)).toEqual(ids(expectedRows(records.customers, { sort: 'name' })));
  });

  // the other two in the other API
  test.each(face === REST ? ['created_at', '-name'] : ['-created_at', 'name'])(
    'sorted by %s neither skip nor repeat rows while others are inserted, changed and deleted',
    async (sort) => {
      const own = await makeOrganisation(gateway);
      const reader = await callerOf(gateway, own);
      const there = records.products.slice(0, 40);
      const fleeting = records.products.slice(40, 50);
      await store(gateway, own, { products: [...there, ...fleeting] });
      const { database } = gateway.databases.organisationData(own);
      const seen: string[] = [];
      let added = 0;
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page = await ask(face, reader, 'products', { sort, limit: 6, ...(cursor && { cursor }) });
        seen.push(...ids(page.data));
        cursor = page.next_cursor as string | null;
        // one before, one after and one among the rows read so far, and one changed in place
        const names = ['AAA', 'ZZZ', page.data.at(-1)?.name ?? 'M'];
        const products = names.map((name) => ({ sku: `NEW-${String((added += 1))}`, name: String(name) }));
        const { sku, name } = there[added % there.length] as Json;
        await ask(face, reader, 'upsert_products', {
          products: [...products, { sku, name, description: `change ${String(added)}` }],
        });
        await database.collection('products').deleteOne({ _id: fleeting.pop()?.id as never });
        if (added > 200) throw new Error('the pages never end');
      }
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.filter((id) => there.some((row) => row.id === id))).toEqual(ids(expectedRows(there, { sort })));
    },
  );
});

describe('while rows are renamed between pages, in every direction', () => {
  /** Reads a list page by page, and renames the row that is read first and the one that is read last after each page. */
  async function renaming(
    args: Json,
  ): Promise<{ seen: string[]; changed: Set<string>; all: string[]; again: string[] }> {
    const own = await makeOrganisation(gateway);
    const reader = await callerOf(gateway, own);
    const there = records.products.slice(0, 40);
    await store(gateway, own, { products: there });
    const [seen, changed] = [[] as string[], new Set<string>()];
    let last = '';
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await ask(REST, reader, 'products', { ...args, limit: 6, ...(cursor && { cursor }) });
      seen.push(...ids(page.data));
      for (const { updated_at: at } of page.data as Json[]) if (at > last) last = at;
      cursor = page.next_cursor as string | null;
      const unread = there.filter(({ id }) => !seen.includes(id));
      const [toStart, toEnd] = [
        [unread[0], page.data.at(-1)],
        [unread.at(-1), page.data[0]],
      ] as Json[][];
      for (const [name, rows] of Object.entries({ A: toStart, ZZ: toEnd }))
        for (const id of ids(rows!.filter(Boolean))) {
          if (changed.has(id)) continue;
          changed.add(id);
          await reader.patch(`/products/${id}`, { name: `${name} ${String(changed.size)}` });
        }
      if (seen.length > 400) throw new Error('the pages never end');
    }
    const later = await reader.get('/products', { updated_since: last, limit: 100 });
    return { seen, changed, all: there.map(({ id }) => id).sort(), again: ids(later.body.data) };
  }

  test.each(['created_at', '-created_at'])('a list sorted by %s has each exactly once', async (sort) => {
    const { seen, all } = await renaming({ sort });
    expect(seen.sort()).toEqual(all);
  });

  test('a list sorted by updated_at has each, and again what was changed', async () => {
    const { seen, all, changed } = await renaming({ sort: 'updated_at' });
    expect([...new Set(seen)].sort()).toEqual(all);
    for (const id of all) if (!changed.has(id)) expect(seen.filter((one) => one === id)).toHaveLength(1);
  });

  test.each(['created_at', '-created_at', 'updated_at', '-updated_at', 'name', '-name'])(
    'a list with updated_since sorted by %s has none twice, and the next one has what was changed',
    async (sort) => {
      const { seen, all, changed, again } = await renaming({ sort, updated_since: '1970-01-01' });
      expect(new Set(seen).size).toBe(seen.length);
      expect(all.filter((id) => !changed.has(id) && !seen.includes(id))).toEqual([]);
      expect([...changed].filter((id) => !again.includes(id))).toEqual([]);
    },
  );
});

describe('the Link header of a REST list', () => {
  test.each([
    ['/products', {}],
    ['/quotes', { status: ['accepted', 'sent'], sort: '-number', limit: 30 }],
    ['/customers', { q: '& a+', limit: 7 }],
    ['/orders', { q: '', limit: 10, placed_since: '1998-01-01T01:00:00+01:00' }],
  ])('of %s with %j is relative and links every page', async (path, args) => {
    const list = path.slice(1);
    const pages = await askPages(REST, caller, list, args);
    const followed: Json[] = [];
    let answer = await caller.get(path, args);
    for (;;) {
      followed.push(answer.body);
      const link = answer.headers.get('link');
      expect(link === null).toBe(answer.body.next_cursor === null);
      if (link === null) break;
      const [, target] = /^<(\/api\/v1\/[^>]*)>; rel="next"$/.exec(link)!;
      expect(new URL(target!, gateway.url).searchParams.get('cursor')).toBe(answer.body.next_cursor);
      answer = await caller.send('GET', target!.slice('/api/v1'.length));
    }
    expect(followed).toEqual(pages);
  });

  test('and Location have the full address where PUBLIC_URL is set', async () => {
    await using other = await startGateway({ PUBLIC_URL: 'https://api.example' });
    const { key } = await makeKey(gateway, organisation);
    const { headers } = await client(other, key).get('/products', { limit: 1 });
    expect(headers.get('link')).toMatch(
      /^<https:\/\/api\.example\/api\/v1\/products\?limit=1&cursor=[^>]+>; rel="next"$/,
    );
    const made = await client(other, key).post('/requests', { text: 'Hello' });
    expect(made.headers.get('location')).toBe(`https://api.example/api/v1/requests/${String(made.body.id)}`);
  });

  test("of a thread's messages links the next page too", async () => {
    const thread = threadRecord(['one', 'two', 'three']);
    await store(gateway, organisation, { requests: [thread] });
    const { headers } = await caller.get(`/requests/${thread.id}/messages`, { limit: 2 });
    const [, target] = /^<\/api\/v1(.*)>; rel="next"$/.exec(headers.get('link')!)!;
    expect((await caller.send('GET', target!)).body.data).toHaveLength(1);
  });
});
