import { eventually } from '../api/http/eventually';
import { callerOf, makeKey, makeOrganisation } from '../support/factories';
import { metric, served } from '../support/gateway';
import { head, openWire, type Wire } from './wire';

const MIB = 1024 * 1024;
/** The minimum setting: 4 MiB per key, 8 MiB per organisation. */
const MOST = 16 * MIB;

let wires: Wire[] = [];

const gateway = served(
  { MAX_BODY_MEMORY: '16' },
  // bodies that a slow test leaves incomplete stay so
  { request: 600_000, stalled: 600_000, answer: 550_000 },
);
afterEach(async () => {
  for (const { socket } of wires) socket.destroy();
  wires = [];
  await eventually(async () => (await held()) === 0);
});

const held = (): Promise<number> => metric(gateway, 'scopegate_http_body_bytes');

async function newBearer(organisation = makeOrganisation(gateway)): Promise<string> {
  return `Authorization: Bearer ${(await makeKey(gateway, await organisation)).key}`;
}

/** Sends the headers of a bulk call and part of its body. */
async function begin(bearer: string, sent: string, length?: number): Promise<Wire> {
  const framing = length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${String(length)}`;
  const wire = await openWire(gateway.url);
  wires.push(wire);
  wire.send(`${head('POST /api/v1/products/bulk', bearer, 'Content-Type: application/json', framing)}\r\n${sent}`);
  return wire;
}

/** Sends bodies without their last byte, one after another; returns how many were rejected with 503 and Retry-After. */
async function pile(bearer: string, count: number, size: number): Promise<number> {
  let refused = 0;
  for (let sent = 0; sent < count; sent += 1) {
    const before = await held();
    const wire = await begin(bearer, ' '.repeat(size - 1), size);
    const end = await eventually(async () => {
      if (wire.socket.bytesRead > 0) return 'answered';
      return (await held()) >= before + size - 1 ? 'held' : undefined;
    });
    if (end === 'held') continue;
    expect(await wire.until(/"code":"unavailable"/)).toMatch(/^HTTP\/1\.1 503 [^]*\r\nRetry-After: \d+\r\n/);
    refused += 1;
  }
  return refused;
}

async function isServed(bearer: string): Promise<boolean> {
  const wire = await openWire(gateway.url);
  const body = JSON.stringify({ products: [{ sku: 'SMALL', name: 'Small' }], dry_run: true }).padEnd(MIB);
  wire.send(
    `${head('POST /api/v1/products/bulk', bearer, 'Content-Type: application/json', `Content-Length: ${String(body.length)}`, 'Connection: close')}\r\n${body}`,
  );
  return (await wire.whole()).startsWith('HTTP/1.1 200 ');
}

test('one key may use a quarter of the body memory, while other keys, even of its organisation, are served', async () => {
  const organisation = makeOrganisation(gateway);
  const bearer = await newBearer(organisation);
  const caller = await callerOf(gateway, await organisation);
  const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${String(at)}`, '€'.repeat(500)]));
  const { body } = await caller.post('/products/bulk', { products: [{ sku: 'LARGE', name: 'Large', metadata }] });
  const read = async () => {
    const wire = await openWire(gateway.url);
    wire.send(`${head(`GET /api/v1/products/${String(body.results[0].id)}`, bearer, 'Connection: close')}\r\n`);
    return (await wire.whole()).split('\r\n\r\n')[0];
  };
  expect(await read()).toMatch(/^HTTP\/1\.1 200 [^]*\r\nETag: /);
  expect(await pile(bearer, 8, MIB)).toBe(4);
  expect(await held()).toBeLessThanOrEqual(MOST / 4);
  // a large answer is refused as well, without the headers that it would have
  const refused = await read();
  expect(refused).toMatch(/^HTTP\/1\.1 503 /);
  expect(refused).not.toMatch(/\r\nETag: /);
  expect(await isServed(await newBearer(organisation))).toBe(true);
  expect(await isServed(await newBearer())).toBe(true);
  expect(await metric(gateway, 'scopegate_http_requests_shed_total{reason="bodies"}')).toBe(5);
});

test('bytes that are announced but not sent do not count', async () => {
  const bearer = await newBearer();
  await Promise.all(Array.from({ length: 20 }, () => begin(bearer, '{', 5 * MIB)));
  await eventually(async () => (await metric(gateway, 'scopegate_http_requests_in_hand')) === 20);
  expect(await held()).toBeLessThanOrEqual(20 * 16 * 1024);
  expect(await isServed(bearer)).toBe(true);
});

test('a body in the smallest chunks that are accepted counts at most twice its size', async () => {
  const size = 300_000;
  const wire = await begin(await newBearer(), '');
  wire.send(`50\r\n${' '.repeat(80)}\r\n`.repeat(size / 80));
  await eventually(async () => (await held()) >= size, 45_000);
  expect(await held()).toBeLessThanOrEqual(2 * size);
});

test('a body larger than the share of a key is accepted when no memory is in use, so retries succeed eventually', async () => {
  const wire = await openWire(gateway.url);
  const body = `{"products":[{"sku":"LARGE","name":"Large"}],"dry_run":true}`.padEnd(5 * MIB);
  wire.send(
    `${head('POST /api/v1/products/bulk', await newBearer(), 'Content-Type: application/json', `Content-Length: ${String(body.length)}`, 'Connection: close')}\r\n${body}`,
  );
  expect(await wire.whole()).toMatch(/^HTTP\/1\.1 200 /);
});

test('parsed values count until their request ends', async () => {
  const organisation = await makeOrganisation(gateway);
  const bearer = await newBearer(Promise.resolve(organisation));
  let answer: (found: null) => void = () => undefined;
  const read = new Promise<null>((resolve) => (answer = resolve));
  Object.assign(gateway.databases.organisationData(organisation).objects, { read: () => read });
  const query = '{ product(id: "0c8b4d6a-6f1e-4b63-8d1c-3f6c9f3f6c55") { id } }';
  const body = JSON.stringify({ query, variables: { junk: Array(19_000).fill({}) } });
  const wire = await openWire(gateway.url);
  wires.push(wire);
  wire.send(
    `${head('POST /graphql', bearer, 'Content-Type: application/json', `Content-Length: ${String(body.length)}`)}\r\n${body}`,
  );
  // an empty object in a list takes 64 bytes
  await eventually(async () => (await held()) > 19_000 * 64);
  answer(null);
  await wire.until(/"code":"not_found"/);
  expect(await held()).toBe(0);
});

test('a hundred uploads at once stay in the share of their key: each is stored or gets 503', async () => {
  const organisation = await makeOrganisation(gateway);
  const { key } = await makeKey(gateway, organisation);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const products = Array.from({ length: 10 }, (_none, at) => ({ sku: String(at), name: 'Bolt' }));
  const body = JSON.stringify({ products });
  const made = await fetch(`${gateway.url}/api/v1/products/bulk`, { method: 'POST', headers, body });
  const { results } = (await made.json()) as { results: readonly { id: string }[] };
  const shed = () => metric(gateway, 'scopegate_http_requests_shed_total{reason="bodies"}');
  const before = await shed();
  let peak = 0;
  const watch = new AbortController();
  const watched = (async () => {
    while (!watch.signal.aborted) peak = Math.max(peak, await held());
  })();
  const file = Buffer.alloc(MIB, 'x');
  const as = { ...headers, 'content-type': 'text/plain', 'content-disposition': 'attachment; filename="x.txt"' };
  const statuses = await Promise.all(
    Array.from({ length: 100 }, async (_none, at) => {
      const url = `${gateway.url}/api/v1/products/${results[at % 10]!.id}/attachments`;
      const answer = await fetch(url, { method: 'POST', headers: as, body: file as unknown as BodyInit });
      return answer.status;
    }),
  );
  watch.abort();
  await watched;
  expect(new Set(statuses)).toEqual(new Set([201, 503]));
  // before as many wait for their turn as may
  expect(await shed()).toBeGreaterThan(before);
  expect(peak).toBeLessThanOrEqual(MOST / 4);
  const { database } = gateway.databases.organisationData(organisation);
  const stored = statuses.filter((status) => status === 201).length;
  expect(await database.collection('attachments.files').countDocuments()).toBe(stored);
});
