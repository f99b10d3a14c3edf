import { STATELESS } from '../../../src/mcp/protocol';
import { BODY_LIMIT, BULK_BODY_LIMIT } from '../../../src/http/body';
import { WORST_BODIES, type WorstBody } from '../../support/worstBodies';
import { post, watch, watchedGateway } from '../../support/watchdog';

/* Bodies whose objects differ as much as they may. */

const gateway = watchedGateway();

/** How often each is sent, and the memory that may be kept afterwards, in MiB: no more for each than by default if sent three times. */
const [SENT, KEPT] = [2, 40];

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
  const send = async (): Promise<void> => {
    expect((await post(gateway, path(body), worst, headers)).status).toBe(status);
  };
  // loading and compiling at first are not measured
  await post(gateway, path(body), text({ ...body, make: () => '{"products":[]}' }), headers);
  const sendAll = async (): Promise<void> => {
    for (let sent = 0; sent < SENT; sent += 1) await send();
  };
  await watch(gateway, `${name} over ${face}`, sendAll, { kept: KEPT });
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
  const send = async (): Promise<void> => {
    expect((await post(gateway, '/graphql', body)).status).toBe(status);
  };
  await send();
  const sendAll = async (): Promise<void> => {
    for (let sent = 0; sent < SENT; sent += 1) await send();
  };
  await watch(gateway, `variables of ${name}`, sendAll, { kept: KEPT });
});
