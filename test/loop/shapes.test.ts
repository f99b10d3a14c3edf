import { STATELESS } from '../../src/mcp/protocol';
import { BODY_LIMIT, BULK_BODY_LIMIT } from '../../src/http/body';
import { WORST_BODIES, type WorstBody } from '../support/worstBodies';
import { startWatched, watch, type Watched } from '../support/watchdog';

/* Bodies whose objects differ as much as they may. */

let gateway: Watched;
beforeAll(async () => {
  gateway = await startWatched();
});
afterAll(() => gateway.stop());

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

// the other faces read bodies with the same code, so only those that are not refused before they are parsed
const parsed = WORST.filter(({ name }) => name.includes('nearly'));
test.each([
  ...WORST.map((body) => ({ ...REST, body, name: body.name })),
  ...OTHERS.flatMap((face) => parsed.map((body) => ({ ...face, body, name: body.name }))),
])('$name over $face', async ({ face, name, path, headers, text, status, body }) => {
  const common = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', connection: 'close' };
  const init = { method: 'POST', headers: { ...common, accept: 'application/json', ...headers } };
  const sendText = async (one: string): Promise<number> => {
    const answer = await fetch(gateway.url + path(body), { ...init, body: one });
    await answer.arrayBuffer();
    return answer.status;
  };
  const worst = text(body);
  const send = async (): Promise<void> => {
    expect(await sendText(worst)).toBe(status);
  };
  // what is loaded and compiled at first is not what is measured
  await sendText(text({ ...body, make: () => '{"products":[]}' }));
  await watch(gateway, `${name} over ${face}`, async () => {
    for (let sent = 0; sent < 3; sent += 1) await send();
  });
});
