import { BODY_LIMIT, BULK_BODY_LIMIT } from '../../../src/http/body';
import { STATELESS } from '../../../src/mcp/protocol';
import { WORST_BODIES, type WorstBody } from '../../support/worstBodies';
import { post, watch, watchedGateway } from '../../support/watchdog';

/* The most expensive bodies: single values, such as texts of combining marks and lists instead of a text, and objects that differ as much as they may. */

const gateway = watchedGateway();

/** How often each is sent, and the memory that may be kept afterwards, in MiB: no more for each than by default if sent three times. */
const [SENT, KEPT] = [2, 40];

/** Text whose marks are all in the wrong order. */
const reversed = (length: number): string => `a${'\u0301'.repeat(length / 2)}${'\u0327'.repeat(length / 2)}`;
const NUMBERS = Array(2_400_000).fill(1);
const KEYED = { 'idempotency-key': 'once' };

interface Request {
  readonly path: string;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

const bulk = (product: object, headers = {}): Request => ({
  path: '/api/v1/products/bulk',
  body: { products: [product] },
  headers,
});
const tool = (name: string, args: object): Request => {
  const client = 'io.modelcontextprotocol';
  const _meta = { [`${client}/protocolVersion`]: STATELESS, [`${client}/clientCapabilities`]: {} };
  const params = { name, arguments: args, _meta };
  return {
    path: '/mcp',
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    headers: { 'mcp-protocol-version': STATELESS, 'mcp-method': 'tools/call', 'mcp-name': name },
  };
};
const LOOKUPS = Array.from({ length: 20 }, (_, at) => `c${String(at)}: customers(external_ref: $s) { data { id } }`);

const send = ({ path, body, headers }: Request) => post(gateway, path, body, headers);
const twice = async (work: () => Promise<void>): Promise<void> => {
  for (let sent = 0; sent < SENT; sent += 1) await work();
};

test.each<[string, number, RegExp, Request]>([
  ['a key of 1.2 million marks over REST', 200, /"code":"length"/, bulk({ sku: reversed(1_200_000), name: 'A' })],
  ['a key of 400,000 marks over MCP', 200, /length/, tool('customers', { external_ref: reversed(400_000) })],
  ['2,000 keys of 600 marks over MCP', 200, /length/, tool('products', { sku: Array(2000).fill(reversed(600)) })],
  [
    'a key of 20,000 marks, sought 20 times over GraphQL',
    200,
    /"length"/,
    {
      path: '/graphql',
      body: { query: `query ($s: String) { ${LOOKUPS.join(' ')} }`, variables: { s: reversed(20_000) } },
    },
  ],
  [
    'a message of 20,000 marks',
    201,
    /"open"/,
    { path: '/api/v1/requests', body: { text: reversed(19_990), contact: { name: 'A', email: 'a@example.com' } } },
  ],
  [
    'a time of 200,000 characters over REST',
    200,
    /"code":"format"/,
    bulk({ sku: 'A', name: 'A', created_at: '2026-01-01T'.repeat(18_000) }),
  ],
  ['2.4 million numbers as a name', 200, /"code":"type"/, bulk({ sku: 'A', name: NUMBERS })],
  ['2.4 million numbers as a name, with an Idempotency-Key', 200, /"type"/, bulk({ sku: 'A', name: NUMBERS }, KEYED)],
  [
    '2.4 million numbers as a name over MCP, with an idempotency key',
    200,
    /type/,
    tool('upsert_products', { products: [{ sku: 'A', name: NUMBERS }], idempotency_key: 'other' }),
  ],
  ['2.4 million numbers as fields over MCP', 200, /length/, tool('customers', { fields: NUMBERS })],
])('%s', async (name, status, said, worst) => {
  // loading and compiling at first are not measured
  await send(bulk({ sku: 'A' }));
  await send(tool('products', { limit: 1 }));
  const check = async (): Promise<void> => {
    const got = await send(worst);
    expect([got.status, got.text.slice(0, 3000)]).toEqual([status, expect.stringMatching(said)]);
  };
  await watch(gateway, `values: ${name}`, () => twice(check), { kept: KEPT });
});

const WORST = WORST_BODIES.filter(({ name }) => /out of|orders?$/.test(name));
const META = `"_meta":{"io.modelcontextprotocol/protocolVersion":"${STATELESS}","io.modelcontextprotocol/clientCapabilities":{}}`;
const QUERY = 'mutation ($products: [ProductUpsert!]!) { upsert_products(products: $products) { failed } }';

interface Face {
  readonly face: string;
  readonly path: (body: WorstBody) => string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The text of a request with the body of a bulk call. */
  readonly text: (body: WorstBody) => string;
  readonly status: number;
}

const REST: Face = {
  face: 'REST',
  path: ({ path }) => `/api/v1${path}`,
  text: ({ make }) => make(BULK_BODY_LIMIT),
  status: 422,
};
const OTHERS: Face[] = [
  {
    face: 'MCP',
    path: () => '/mcp',
    headers: { 'mcp-protocol-version': STATELESS, 'mcp-method': 'tools/call', 'mcp-name': 'upsert_products' },
    text: ({ make }) =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"upsert_products",${META},"arguments":${make(BULK_BODY_LIMIT - 500)}}}`,
    status: 200,
  },
  {
    face: 'GraphQL',
    path: () => '/graphql',
    text: ({ make }) => `{"query":${JSON.stringify(QUERY)},"variables":${make(BODY_LIMIT - 500)}}`,
    status: 400,
  },
];

// the other APIs read bodies with the same code, so send them only those that are parsed
const parsed = WORST.filter(({ name }) => name.includes('nearly'));
test.each([
  ...WORST.map((body) => ({ ...REST, body, name: body.name })),
  ...OTHERS.flatMap((face) => parsed.map((body) => ({ ...face, body, name: body.name }))),
])('$name over $face', async ({ face, name, path, headers, text, status, body }) => {
  const worst = text(body);
  const check = async (): Promise<void> => {
    expect((await post(gateway, path(body), worst, headers)).status).toBe(status);
  };
  // loading and compiling at first are not measured
  await post(gateway, path(body), text({ ...body, make: () => '{"products":[]}' }), headers);
  await watch(gateway, `${name} over ${face}`, () => twice(check), { kept: KEPT });
});

const times = (count: number, value: string): string => Array(count).fill(value).join(',');
const SKUS = `query ($s: [String!]) { ${Array.from({ length: 20 }, (_none, at) => `a${String(at)}: products(sku: $s) { data { id } }`).join(' ')} }`;
const CUSTOMERS = 'mutation ($c: [CustomerUpsert!]!) { upsert_customers(customers: $c) { failed } }';

test.each([
  ['249,000 empty products', QUERY, `{"products":[${times(249_000, '{}')}]}`, 400],
  ['75,000 products', QUERY, `{"products":[${times(75_000, '{"sku":"a"}')}]}`, 400],
  ['240,000 strings in 20 aliases', SKUS, `{"s":[${times(240_000, '"a"')}]}`, 400],
  [
    '1,000 customers with 18 empty contacts',
    CUSTOMERS,
    `{"c":[${times(1000, `{"contacts":[${times(18, '{}')}]}`)}]}`,
    200,
  ],
  [
    '1,000 customers with 100 empty contacts',
    CUSTOMERS,
    `{"c":[${times(1000, `{"contacts":[${times(100, '{}')}]}`)}]}`,
    400,
  ],
])('variables of %s', async (name, query, variables, status) => {
  const body = `{"query":${JSON.stringify(query)},"variables":${variables}}`;
  const check = async (): Promise<void> => {
    expect((await post(gateway, '/graphql', body)).status).toBe(status);
  };
  await check();
  await watch(gateway, `variables of ${name}`, () => twice(check), { kept: KEPT });
});
