import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { AppError, ERROR_CODES, type ErrorCode } from '../../src/errors';
import { errorHeaders, problemText } from '../../src/http/problem';
import { makeKey, makeNorthwind, northwind, store } from '../support/factories';
import { AMOUNTS, expectAmounts } from '../clients/amounts';
import { copied, installPython, installTypescript } from '../clients/packages';
import { served } from '../support/gateway';
import { ROOT, run } from './run';

const EXAMPLES = join(ROOT, 'examples');
const SCOPES = ['products:read', 'products:write', 'orders:read'] as const;

/** Errors simulated for each route, in order; together, every retryable code. `lost` is an answer that never arrives. */
const OBSTACLES: Readonly<Record<string, readonly (ErrorCode | 'lost')[]>> = {
  'GET /api/v1/me': ['rate_limited', 'internal'],
  'GET /api/v1/orders': ['lost', 'unavailable'],
  'POST /api/v1/products/bulk': ['conflict', 'idempotency_in_progress', 'internal', 'lost'],
};

const MET: readonly string[] = [...new Set(Object.values(OBSTACLES).flat())];

let road: Awaited<ReturnType<typeof roughRoadTo>> | undefined;
let environment: Record<string, string>;

const gateway = served();

/** Sets up an unreliable connection to the gateway, and a key for an organisation with the Northwind data. */
async function begin(): Promise<void> {
  const organisation = await makeNorthwind(gateway);
  const [order] = northwind('orders');
  await store(gateway, organisation, {
    orders: [{ ...order!, id: randomUUID(), number: 'SO-JPY', currency: 'JPY', status: 'completed' }],
  });
  const { key } = await makeKey(gateway, organisation, { scopes: SCOPES });
  road = await roughRoadTo(gateway.url);
  environment = { SCOPEGATE_URL: road.url, SCOPEGATE_KEY: key };
}
afterEach(() => road?.close());

/** Expects that the client got every retryable error once, and then succeeded. */
function expectRetried(): void {
  for (const [route, ...met] of [
    ['GET /api/v1/me', 'rate_limited', 'internal', '200'],
    ['GET /api/v1/orders', 'answer lost', 'unavailable', '200'],
    ['POST /api/v1/products/bulk', 'conflict', 'idempotency_in_progress', 'internal', 'answer lost', '200'],
  ] as const) {
    const seen = road!.seen.filter((line) => line.startsWith(`${route}: `)).slice(0, met.length);
    expect(seen).toEqual(met.map((what) => `${route}: ${what}`));
  }
}

test('the simulated errors are exactly the retryable ones', () => {
  const codes = (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => ERROR_CODES[code].retry !== 'no');
  expect(codes.filter((code) => !MET.includes(code))).toEqual([]);
  expect(MET.filter((code) => code !== 'lost' && !codes.includes(code as ErrorCode))).toEqual([]);
});

/** Expects all Northwind orders and one in yen, read in nine pages, and a bulk write that ran once although its answer was lost. */
function expectTour(output: string): void {
  expect(output).toMatch(/^key svc_live_\w+… of Northwind Traders, \d+ requests left$/m);
  // the yen has no minor unit
  expect(output).toMatch(/^830 orders in USD, (USD |\$)1,330,735\.45 in total$/m);
  expect(output).toMatch(/^1 orders in JPY, (JPY |¥)47,238 in total$/m);
  expect(output).toContain('products: 2 created, 0 updated, 0 unchanged, 1 failed');
  expect(output).toContain('  /products/2/name: ');
  expect(road!.seen.filter((line) => line === 'GET /api/v1/orders: 200')).toHaveLength(9);
  expectRetried();
  expect(road!.seen.at(-1)).toBe('POST /api/v1/products/bulk: 200');
  expect(new Set(road!.idempotencyKeys).size).toBe(1);
  expect(road!.idempotencyKeys[0]).toBeDefined();
}

test('examples/curl reads, pages, writes once, shows an error and retries after a delay', async () => {
  await begin();
  const output = await run('bash', [join(EXAMPLES, 'curl', 'tour.sh')], { env: environment });
  expect(output).toContain('"name":"Northwind Traders"');
  expect(output).toContain('"name":"Chai"');
  const numbers = [...output.matchAll(/"number":"(SO-\d+)"/g)].map((match) => match[1]);
  expect(new Set(numbers).size).toBe(6);
  expect(output.match(/"created":1,"updated":0,"unchanged":0,"failed":1/g)).toHaveLength(2);
  // the first answer was lost, so both that arrived are replays
  expect(output.match(/^idempotent-replayed: true/gim)).toHaveLength(2);
  expect(output).toMatch(/"code":"invalid_request".*\nHTTP 400/);
  expect(output).toMatch(/^ratelimit: /im);
  expectRetried();
  expect(road!.seen.filter((line) => line.endsWith(': 400'))).toHaveLength(1);
}, 120_000);

test('the dashboard, which has no libraries, formats amounts as the clients do', async () => {
  const program = `const { amount } = require(${JSON.stringify(join(EXAMPLES, 'dashboard', 'draw.js'))});
    for (const [minor, currency] of ${JSON.stringify(AMOUNTS)}) console.log(amount(minor, currency));`;
  const output = await run('node', ['--require', 'tsx/cjs', '--eval', program]);
  expectAmounts(output.trim().split('\n'));
});

test('examples/typescript pages, retries and writes once', async () => {
  await begin();
  const folder = await copied('examples', 'typescript');
  const bin = (name: string): string => join(ROOT, 'node_modules', '.bin', name);
  try {
    await installTypescript(folder);
    await run(bin('tsc'), ['--project', folder]);
    expectTour(await run(bin('tsx'), ['tour.ts'], { cwd: folder, env: environment }));
  } finally {
    await rm(folder, { recursive: true });
  }
}, 240_000);

test.each(['typescript', 'receivers/typescript'])(
  'examples/%s depends on the versions it is tested with',
  async (folder) => {
    const { dependencies, devDependencies } = JSON.parse(
      await readFile(join(EXAMPLES, folder, 'package.json'), 'utf8'),
    ) as Record<'dependencies' | 'devDependencies', Record<string, string>>;
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      // the client of this repository
      if (version.startsWith('file:')) continue;
      const installed = JSON.parse(await readFile(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')) as object;
      expect({ name, version }).toEqual({ name, version: (installed as { version: string }).version });
    }
  },
);

test('examples/python pages, retries and writes once', async () => {
  await begin();
  const folder = await copied('examples', 'python');
  try {
    expectTour(await run(await installPython(folder), ['tour.py'], { cwd: folder, env: environment }));
  } finally {
    await rm(folder, { recursive: true });
  }
}, 240_000);

/** A proxy to the gateway that simulates the errors a client should retry. */
async function roughRoadTo(url: string) {
  /** `METHOD path: result`, in order of arrival. */
  const seen: string[] = [];
  /** Idempotency-Keys of the writes that reached the gateway. */
  const idempotencyKeys: (string | undefined)[] = [];
  const met = new Map<string, number>();

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = request;
    const route = `${method} ${path.split('?')[0] ?? ''}`;
    const turn = met.get(route) ?? 0;
    met.set(route, turn + 1);
    const obstacle = OBSTACLES[route]?.[turn];
    if (obstacle !== undefined && obstacle !== 'lost') {
      seen.push(`${route}: ${obstacle}`);
      const error = new AppError(obstacle, 'Again.', {
        reason: 'shed',
        ...(obstacle === 'rate_limited' && { retryAfter: 1 }),
      });
      response
        .writeHead(error.status, { 'content-type': 'application/problem+json', ...errorHeaders(error) })
        .end(problemText(error, randomUUID()));
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { authorization = '', 'content-type': type = '', 'idempotency-key': key } = headers;
    const answer = await fetch(url + path, {
      method,
      headers: { authorization, 'content-type': type, ...(key && { 'idempotency-key': String(key) }) },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    if (method === 'POST') idempotencyKeys.push(key as string | undefined);
    if (obstacle === 'lost') {
      seen.push(`${route}: answer lost`);
      request.socket.destroy();
      return;
    }
    seen.push(`${route}: ${String(answer.status)}`);
    const kept = [...answer.headers].filter(([name]) => !['content-encoding', 'transfer-encoding'].includes(name));
    response.writeHead(answer.status, Object.fromEntries(kept)).end(Buffer.from(await answer.arrayBuffer()));
  }

  const server = createServer((request, response) => void pass(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    seen,
    idempotencyKeys,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
