import { recordReaders } from '../../../src/cli/records';
import { recordKinds } from '../../../src/resources';
import { STATELESS } from '../../../src/mcp/protocol';
import { client, type Json } from '../../support/client';
import { makeKey, makeOrganisation, northwind } from '../../support/factories';
import { late, served } from '../../support/gateway';

/*
 * A number is judged by its text: one with a fraction that a double does not hold is no whole number, although JSON.parse would make it one.
 * The document of the API has no fractions in bodies; imports have (qty).
 */

const gateway = served();
const made = late(async () => makeKey(gateway, await makeOrganisation(gateway)));

const [WHOLE, BROKEN] = [
  ['1900', '1900.0', '19e2', '190000000000000000000000e-20', '-0.0', '9007199254740991'],
  [
    '1900.5',
    '900719925474099.96',
    '1.00000000000000000001',
    '1e-400',
    '4503599627370496.5',
    '19000000000000000000001e-19',
  ],
];

/** Sends a text as it is, and returns the answer. */
async function send(path: string, body: string, headers: Record<string, string> = {}, method = 'POST'): Promise<Json> {
  const common = { 'content-type': 'application/json', authorization: `Bearer ${made.key}`, ...headers };
  const response = await fetch(gateway.url + path, { method, headers: common, ...(method !== 'GET' && { body }) });
  return response.json();
}

let skus = 0;
const element = (price: string): string => `{"sku":"S-${String((skus += 1))}","name":"A","unit_price_minor":${price}}`;

test('REST: an element of a bulk call fails alone, at the place of the number', async () => {
  const { results } = await send(
    '/api/v1/products/bulk',
    `{"products":[${[...WHOLE, ...BROKEN].map(element).join()}]}`,
  );
  const found = (results as Json[]).map(({ outcome, errors }) => [outcome, errors]);
  expect(found.slice(0, WHOLE.length)).toEqual(WHOLE.map(() => ['created', []]));
  const fault = (at: number) => ({
    pointer: `/products/${String(WHOLE.length + at)}/unit_price_minor`,
    code: 'type',
    detail: 'must be an integer',
  });
  expect(found.slice(WHOLE.length)).toEqual(BROKEN.map((_, at) => ['failed', [fault(at)]]));
});

test.each(BROKEN)('REST, GraphQL and MCP refuse %s where an integer is wanted', async (number) => {
  const [{ id }] = (await client(gateway, made.key).get('/products', { limit: 1 })).body.data as [Json];
  const fault = { pointer: '/unit_price_minor', code: 'type', detail: 'must be an integer' };
  const patched = await send(`/api/v1/products/${String(id)}`, `{"unit_price_minor":${number}}`, {}, 'PATCH');
  expect(patched).toMatchObject({ status: 422, errors: [fault] });

  const MUTATION = 'mutation($id: ID!, $price: Minor) { update_product(id: $id, unit_price_minor: $price) { id } }';
  const variables = `{"id":"${String(id)}","price":${number}}`;
  const mutated = await send('/graphql', `{"query":${JSON.stringify(MUTATION)},"variables":${variables}}`);
  expect(mutated.errors[0].message).toContain('must be an integer');
  const literal = `mutation { update_product(id: "${String(id)}", unit_price_minor: ${number}) { id } }`;
  expect((await send('/graphql', JSON.stringify({ query: literal }))).errors).toHaveLength(1);
  const LISTED = 'query($limit: Int) { products(limit: $limit) { has_more } }';
  const search = new URLSearchParams({ query: LISTED, variables: `{"limit":${number}}` });
  const encoded = search.toString().replace('variables=', 'v%61riables=');
  for (const target of [search.toString(), encoded])
    expect((await send(`/graphql?${target}`, '', {}, 'GET')).errors[0].message).toContain('Int cannot');

  const meta =
    '{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}';
  const args = `{"id":"${String(id)}","unit_price_minor":${number}}`;
  const called = await send(
    '/mcp',
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"update_product","arguments":${args},"_meta":${meta}}}`,
    { 'mcp-protocol-version': STATELESS, 'mcp-method': 'tools/call', 'mcp-name': 'update_product' },
  );
  expect(JSON.parse(called.result.content[0].text as string)).toMatchObject({ errors: [fault] });
});

test('an import refuses it too, and takes it where a decimal is wanted', () => {
  const kind = recordKinds.find(({ file }) => file === 'orders')!;
  const read = recordReaders(recordKinds)(kind);
  const line = JSON.stringify(northwind('orders')[0]);
  expect(read({ text: line })).toHaveProperty('record');
  for (const number of BROKEN)
    expect(read({ text: line.replace(/"shipping_minor":\d+/, `"shipping_minor":${number}`) })).toMatchObject({
      faults: [{ pointer: '/shipping_minor', code: 'type', detail: 'must be an integer' }],
    });
  const decimal = read({ text: line.replace(/"qty":\d+/, '"qty":0.99999999999999999999') });
  expect((decimal as { record: Json }).record.lines[0].qty).toBe(1 - Number.EPSILON / 2);
});
