import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { head } from '../../operations/wire';
import { metric } from '../../support/gateway';
import { watch, watchedGateway } from '../../support/watchdog';

/* Large answers whose callers never read them. */

const MIB = 1024 * 1024;
/** The memory for bodies and answers: a quarter for a key, half for its organisation, in MiB. */
const MEMORY = 64;
/** What the gateway uses besides while it makes answers, in MiB: rows that were read, and garbage not collected yet. */
const PEAK = 400;

/** Connections to the database keep a reply each, of up to 11 MiB here, whether answers are read or not; in MiB. */
const KEPT = 256;

const gateway = watchedGateway({ MAX_BODY_MEMORY: String(MEMORY) });
beforeAll(async () => {
  const [description, name] = ['語'.repeat(5000), '語'.repeat(200)];
  const contacts = Array(100).fill({ name, role: '語'.repeat(100) });
  await store('products', 100, (at) => ({ sku: `P${String(at)}`, name, description }));
  for (const from of [0, 50])
    await store('customers', 50, (at) => ({ external_ref: String(from + at), name, contacts }));
});

const HEADERS = (key: string): string[] => [`Authorization: Bearer ${key}`, 'Content-Type: application/json'];

async function store(kind: string, count: number, make: (at: number) => object): Promise<void> {
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ [kind]: Array.from({ length: count }, (_, at) => make(at)) });
  const stored = await fetch(`${gateway.url}/api/v1/${kind}/bulk`, { method: 'POST', headers, body });
  expect(await stored.json()).toMatchObject({ created: count });
}

type Ask = (key: string) => string;
const get =
  (path: string): Ask =>
  (key) =>
    `${head(`GET ${path}`, ...HEADERS(key))}\r\n`;
const post =
  (path: string, body: object): Ask =>
  (key) => {
    const text = JSON.stringify(body);
    return `${head(`POST ${path}`, ...HEADERS(key), `Content-Length: ${String(Buffer.byteLength(text))}`)}\r\n${text}`;
  };
const PRODUCTS = 'products(limit: 100) { data { id description } }';
const CUSTOMERS = 'customers(limit: 100) { data { id contacts { name role } } }';

const unread: Socket[] = [];
afterEach(() => {
  for (const socket of unread.splice(0)) socket.destroy();
});

/** Sends a request and reads no more than Node does by itself; resolves with the start of the answer. */
async function begin(request: string): Promise<string> {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1').on('error', () => undefined);
  unread.push(socket);
  socket.write(request);
  await once(socket, 'readable');
  return String(socket.read());
}

/** Asks as often at once with each of some keys; resolves with the answers' starts once all have begun. */
async function askAll(callers: number, ask: Ask, keys: readonly string[]): Promise<string[]> {
  return Promise.all(Array.from({ length: callers }, (_, at) => begin(ask(keys[at % keys.length]!))));
}

const held = (): Promise<number> => metric(gateway, 'scopegate_http_body_bytes');
const statusesOf = (answers: readonly string[]): Set<string | undefined> =>
  new Set(answers.map((answer) => /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]));

test.each<[number, string, Ask]>([
  // nearly 16 MiB
  [
    10,
    'pages over GraphQL',
    post('/graphql', {
      query: `{ ${Array.from({ length: 10 }, (_, at) => `p${String(at)}: ${PRODUCTS}`).join(' ')} }`,
    }),
  ],
  [8, 'a page over GraphQL that is written from bytes', post('/graphql', { query: `{ ${CUSTOMERS} }` })],
  [8, 'a page over REST', get('/api/v1/customers?limit=100')],
])('%i callers with %s never read the answers, and nobody else notices', async (callers, name, ask) => {
  const keys = [await gateway.makeKey(), await gateway.makeKey(), await gateway.makeKey()];
  const work = async (): Promise<void> => {
    let answers = await askAll(callers, ask, keys);
    // all ten can need the same room at the same moment, so that none of them gets it
    for (let again = 0; again < 3 && !statusesOf(answers).has('200'); again += 1) {
      for (const socket of unread.splice(0)) socket.destroy();
      answers = await askAll(callers, ask, keys);
    }
    expect(statusesOf(answers)).toEqual(new Set(['200', '503']));
    for (const answer of answers.filter((answer) => answer.startsWith('HTTP/1.1 503')))
      expect(answer).toMatch(/\r\nRetry-After: \d+\r\n[^]*"code":"unavailable"/i);
    expect(await held()).toBeGreaterThan(0);
    expect(await held()).toBeLessThanOrEqual((MEMORY / 2) * MIB);
    // another organisation has its own share
    expect(await begin(ask(gateway.other.replace('Bearer ', '')))).toMatch(/^HTTP\/1\.1 200 /);
    for (const socket of unread.splice(0)) socket.destroy();
  };
  await watch(gateway, `answers: ${name}`, work, { peak: PEAK, kept: KEPT });
  expect(await held()).toBe(0);
});

test.each<[string, Ask]>([
  [
    'an assistant asks for, and which are cut',
    post('/mcp', {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'customers', arguments: { limit: 100, fields: ['id', 'contacts'] } },
    }),
  ],
  ['nobody gets, with HEAD', (key) => `${head('HEAD /api/v1/customers?limit=100', ...HEADERS(key))}\r\n`],
])('12 pages that %s hold up nobody', async (name, ask) => {
  const keys = [await gateway.makeKey(), await gateway.makeKey(), await gateway.makeKey()];
  const work = async (): Promise<void> => {
    // the rows of several pages at once are more than the organisation may keep in this memory
    const statuses = statusesOf(await askAll(12, ask, keys));
    expect([...statuses].filter((status) => status !== '503')).toEqual(['200']);
    for (const socket of unread.splice(0)) socket.destroy();
  };
  await watch(gateway, `pages that ${name}`, work, { kept: KEPT });
});

test('a write is answered even if its caller holds as much as it may, since it was done', async () => {
  const key = await gateway.makeKey();
  const authorization = `Bearer ${key}`;
  const listed = await (await fetch(`${gateway.url}/api/v1/customers?limit=15`, { headers: { authorization } })).text();
  // three such pages are nearly the quarter of a key
  const limit = Math.floor(((MEMORY / 4 / 3) * MIB) / (Buffer.byteLength(listed) / 15));
  while ((await begin(get(`/api/v1/customers?limit=${String(limit)}`)(key))).startsWith('HTTP/1.1 200'));
  const { data } = JSON.parse(listed) as { data: { id: string }[] };
  const change = 'name: "Changed") { name contacts { name role } }';
  const changes = data.map(({ id }, at) => `c${String(at)}: update_customer(id: "${id}", ${change}`);
  const answer = await begin(post('/graphql', { query: `mutation { ${changes.join(' ')} }` })(key));
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
});
