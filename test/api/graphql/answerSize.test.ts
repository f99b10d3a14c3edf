import { randomUUID } from 'node:crypto';
import { MAX_OBJECTS } from '../../../src/operations/answers';
import { MEBIBYTE } from '../../../src/units';
import { type Answer, client, type Client, type Json } from '../../support/client';
import { callerOf, makeKey, makeOrganisation, northwind, store } from '../../support/factories';
import { served } from '../../support/gateway';
import { blocksIn } from '../../support/mcpFace';

// less than the 16 MiB of production, and more than the 100,000 objects below
jest.mock('../../../src/units', () => ({
  ...jest.requireActual<object>('../../../src/units'),
  MAX_ANSWER: 6 * 1024 * 1024,
}));
test('an answer has at most 16 MiB', () => {
  expect(jest.requireActual<{ MAX_ANSWER: number }>('../../../src/units').MAX_ANSWER).toBe(16 * MEBIBYTE);
});

/** Lines of the only order, which is read once however often a query selects it. */
const LINES = 5500;

let caller: Client;
let id: string;

const gateway = served();
beforeAll(async () => {
  const organisation = await makeOrganisation(gateway);
  const [customer] = northwind('customers');
  const [order] = northwind('orders') as unknown as [{ lines: object[] }];
  const lines = Array.from({ length: LINES }, (_line, position) => ({ ...order.lines[0], id: randomUUID(), position }));
  id = randomUUID();
  const orders = [{ ...order, id, quote_id: null, customer_id: customer!.id, lines }];
  await store(gateway, organisation, { customers: [customer!], orders });
  caller = await callerOf(gateway, organisation);
});

/** Queries the order with its lines `times` times. */
function ask(times: number): Promise<Answer> {
  const one = (at: number): string => `o${String(at)}: order(id: "${id}") { lines { id } }`;
  return caller.graphql(`{ ${Array.from({ length: times }, (_time, at) => one(at)).join(' ')} }`);
}

/** How often the order fits into one answer. */
const ALLOWED = Math.floor(MAX_OBJECTS / LINES);

test('lines count as objects of an answer, and an answer just within the limit is complete', async () => {
  const { body } = await ask(ALLOWED);
  expect(body.errors).toBeUndefined();
  expect(body.data[`o${String(ALLOWED - 1)}`].lines).toHaveLength(LINES);
});

// the first two runs use graphql-js, the third is compiled
test.each([1, 2, 3])('an answer over the limit is a short error (run %i)', async () => {
  const { body, text, status } = await ask(ALLOWED + 1);
  expect(status).toBe(400);
  expect(body.errors).toHaveLength(1);
  expect(body.errors[0]).toMatchObject({
    message: expect.stringContaining('more than 100,000 objects'),
    extensions: { code: 'invalid_request', status: 400 },
  });
  expect(text.length).toBeLessThan(1000);
});

describe('of texts that are longer in JSON than where they are stored', () => {
  /** Their JSON has 64 KiB each, so that 31 of them are an answer, and 33 are too much. */
  const PRODUCTS = 33;
  let key: string;
  let owner: Client;
  beforeAll(async () => {
    const organisation = await makeOrganisation(gateway);
    const [product] = northwind('products');
    const products = Array.from({ length: PRODUCTS }, (_product, at) => ({
      ...product,
      id: randomUUID(),
      sku: `LONG-${String(at)}`,
      description: '"'.repeat((3 * MEBIBYTE) / 32),
    }));
    await store(gateway, organisation, { products });
    ({ key } = await makeKey(gateway, organisation));
    owner = client(gateway, key);
  });

  /** Over REST, without the check of the client for texts that are longer than they can be. */
  async function read(limit: number): Promise<Answer> {
    const url = `${gateway.url}/api/v1/products?limit=${String(limit)}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  }
  const ROWS = '{ data { id description } }';
  const ASKS: [string, (limit: number) => Promise<Answer>, (answer: Answer) => Json][] = [
    ['a page over REST', read, ({ body }) => body],
    // the first two runs are executed, the third is written from bytes
    ...[1, 2, 3].map((run): (typeof ASKS)[number] => [
      `a page over GraphQL (run ${String(run)})`,
      (limit) => owner.graphql(`query ($limit: Int!) { products(limit: $limit) ${ROWS} }`, { limit }),
      errorOf,
    ]),
    [
      'pages over GraphQL',
      (limit) => owner.graphql(`{ a: products(limit: ${String(limit - 1)}) ${ROWS} b: products(limit: 1) ${ROWS} }`),
      errorOf,
    ],
  ];
  test.each(ASKS)('%s has at most so many bytes, and is refused as a whole beyond that', async (_what, ask, error) => {
    expect((await ask(30)).status).toBe(200);
    const answer = await ask(34);
    expect(answer.status).toBe(400);
    expect(error(answer)).toMatchObject({ code: 'invalid_request' });
    expect(answer.text).toContain('The response would be larger than 6 MiB. Request fewer objects or fields.');
    expect(answer.text.length).toBeLessThan(1000);
  });

  test('a tool says so to its model, and gives shortened rows within that', async () => {
    const call = (limit: number) =>
      owner.mcp('tools/call', { name: 'products', arguments: { limit, fields: ['description'] } });
    expect(blocksIn(await call(100))[0]).toContain('larger than 6 MiB');
    expect(blocksIn(await call(30)).join()).toContain('The answer was too long');
  });

  test('errors beside data as text have the id of the request', async () => {
    const { body, headers } = await owner.graphql('{ products(limit: 1) { data { id } } product(id: "none") { id } }');
    expect(body.data.products.data).toHaveLength(1);
    expect(body.errors).toMatchObject([{ extensions: { request_id: headers.get('x-request-id') } }]);
  });
});

function errorOf({ body: { errors } }: Answer): Json {
  expect(errors).toHaveLength(1);
  return errors[0].extensions;
}

describe('of a write', () => {
  /** A customer whose contacts have 20 kB of JSON, and whose threads refer to it, so that few selections are a large answer. */
  const THREADS = 60;
  const contactsTimes = (times: number, members: string): string =>
    Array.from({ length: times }, (_alias, at) => `c${String(at)}: contacts { ${members} }`).join(' ');
  let writer: Client;
  let customer: string;
  beforeAll(async () => {
    writer = await callerOf(gateway, await makeOrganisation(gateway));
    const contacts = Array.from({ length: 60 }, (_contact, at) => ({
      name: `${String(at)}${'n'.repeat(198)}`,
      role: 'r'.repeat(100),
    }));
    const customers = [{ external_ref: 'large', name: 'Large', contacts }];
    customer = (await writer.post('/customers/bulk', { customers })).body.results[0].id;
    for (let made = 0; made < THREADS; made += 1)
      await writer.post('/requests', { text: 'One', customer_id: customer });
  });

  const change = (limit: number, other = '', selected = contactsTimes(8, 'name role')): Promise<Answer> =>
    writer.graphql(
      `mutation ($name: String!, $id: ID!, $limit: Int!) {
        update_customer(id: $id, name: $name) { name requests(limit: $limit) { data { customer { ${selected} } } } } ${other}
      }`,
      { id: customer, limit, name: `Large ${String(limit)}` },
    );

  // the first two runs use graphql-js, the third is compiled
  test.each([1, 2, 3])('is bounded as that of a read, and the change is stored (run %i)', async () => {
    expect((await change(10)).body.data.update_customer.name).toBe('Large 10');
    const { status, body, text, headers } = await change(THREADS);
    expect([status, body.data]).toEqual([200, null]);
    expect(body.errors).toMatchObject([
      {
        message: expect.stringMatching(/larger than 6 MiB.* Every change that has no error of its own was stored\.$/),
        extensions: { code: 'invalid_request', request_id: headers.get('x-request-id') },
      },
    ]);
    expect(text.length).toBeLessThan(1000);
    expect((await writer.get(`/customers/${customer}`)).body.name).toBe(`Large ${String(THREADS)}`);
  });

  test('counts its objects too, before they are made', async () => {
    const { body } = await change(THREADS, '', contactsTimes(28, 'primary'));
    expect(body.errors).toMatchObject([{ message: expect.stringContaining('more than 100,000 objects') }]);
  });

  test('names other changes that failed', async () => {
    const { body } = await change(THREADS, 'none: update_customer(id: "00000000-0000-4000-8000-000000000000") { id }');
    expect(body.errors).toMatchObject([
      { extensions: { code: 'invalid_request' } },
      { path: ['none'], extensions: { code: 'not_found' } },
    ]);
  });
});
