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
