import { resourceOf } from '../../../src/resources';
import { callerOf, makeOrganisation } from '../../support/factories';
import { served } from '../../support/gateway';
import { goodQuote as good } from '../../support/mistakes';

/* How many rows an answer says were left out, since they cannot be served. */

const quotes = resourceOf('quotes');
const gateway = served({ STORED_VALIDATION: 'off' });
const omittedOf = (answer: { headers: Headers }): number => Number(answer.headers.get('scopegate-omitted') ?? 0);

test('each row that is left out counts, in the header, over MCP and in the metrics', async () => {
  const organisation = await makeOrganisation(gateway);
  const data = gateway.databases.organisationData(organisation);
  await data.prepare([quotes]);
  const rows = ['A', 'B', 'C'].map((number) => ({ ...good(number), status: number === 'A' ? 'draft' : 'mine' }));
  await data.collection(quotes).insertMany(rows as never);
  const caller = await callerOf(gateway, organisation);
  const counted = async (): Promise<number> => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    return Number(/scopegate_rows_invalid_total\{collection="quotes"\} (\d+)/.exec(text)?.[1] ?? 0);
  };
  const before = await counted();
  expect(omittedOf(await caller.get('/quotes'))).toBe(2);
  const { body } = await caller.mcp('tools/call', { name: 'quotes', arguments: {} });
  expect(body.result.content.at(-1).text).toMatch(/^2 stored objects cannot be shown and are left out: /);
  expect(await counted()).toBe(before + 4);
});

test('over MCP, only those count that are on the page, which may be read again with fewer rows', async () => {
  const organisation = await makeOrganisation(gateway);
  const caller = await callerOf(gateway, organisation);
  const products = Array.from({ length: 60 }, (_none, n) => ({
    sku: `P-${String(n)}`,
    name: `Product ${String(n).padStart(2, '0')}`,
    description: 'x'.repeat(4000),
  }));
  expect((await caller.post('/products/bulk', { products })).body.created).toBe(60);
  const { database } = gateway.databases.organisationData(organisation);
  await database
    .collection('products')
    .updateMany({ sku: { $in: ['P-1', 'P-58'] } }, { $set: { lead_time_days: 'soon' } });
  const counts: number[] = [];
  for (let cursor: string | null = null, more = true; more;) {
    const call = { name: 'products', arguments: { limit: 60, sort: 'name', fields: ['description'], cursor } };
    const answer = await caller.mcp('tools/call', call);
    const texts = (answer.body.result.content as { text: string }[]).map(({ text }) => text);
    const said = Number(/(\d+) stored objects? cannot/.exec(texts.at(-1)!)?.[1] ?? 0);
    expect(omittedOf(answer)).toBe(said);
    counts.push(said);
    ({ next_cursor: cursor, has_more: more } = JSON.parse(texts[0]!));
  }
  expect([counts[0], counts.at(-1), counts.reduce((sum, count) => sum + count)]).toEqual([1, 1, 2]);
});

test('a row counts once, however many are left out, and also if it is refused elsewhere in the request', async () => {
  const organisation = await makeOrganisation(gateway);
  const data = gateway.databases.organisationData(organisation);
  await data.prepare([quotes]);
  const rows = Array.from({ length: 101 }, (_none, n) => ({ ...good(String(n)), status: 'mine' }));
  await data.collection(quotes).insertMany(rows as never);
  const caller = await callerOf(gateway, organisation);
  const list = (sort: string): string => `quotes(limit: 100, sort: "${sort}") { data { status } }`;
  const oldest = list('created_at');
  const all = await caller.graphql(`{ a: ${list('-created_at')} b: ${oldest} c: ${oldest} }`);
  expect(all.body.extensions.omitted).toBe(101);
  const id = String(rows[0]!._id);
  const { body } = await caller.graphql(`query($id: ID!) { quote(id: $id) { status } ${oldest} }`, { id });
  expect(body.errors).toMatchObject([{ extensions: { code: 'stored_object_invalid' } }]);
  expect(body.extensions.omitted).toBe(100);
});
