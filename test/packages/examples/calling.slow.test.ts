import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { AppError, ERROR_CODES, type ErrorCode } from '../../../src/errors';
import { errorHeaders, problemText } from '../../../src/http/problem';
import { makeKey, makeNorthwind, northwind, store } from '../../support/factories';
import { AMOUNTS, expectAmounts } from '../clients/amounts';
import { copied, installPython, installTypescript } from '../clients/packages';
import { served } from '../../support/gateway';
import { roadTo } from './jobs/programs';
import { ROOT, run } from './run';

const EXAMPLES = join(ROOT, 'examples');
const SCOPES = ['products:read', 'products:write', 'orders:read'] as const;

/** What happens to the first requests of each route: every retryable error, and answers that never arrive. */
const OBSTACLES: Readonly<Record<string, readonly (ErrorCode | 'lost')[]>> = {
  'GET /api/v1/me': ['rate_limited', 'internal'],
  'GET /api/v1/orders': ['unavailable', 'lost'],
  'POST /api/v1/products/bulk': ['conflict', 'idempotency_in_progress', 'internal', 'lost'],
};

let road: Awaited<ReturnType<typeof roadTo>> | undefined;
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
  road = await roadTo(gateway.url);
  for (const [route, obstacles] of Object.entries(OBSTACLES)) {
    const pattern = new RegExp(`^${route}(\\?|$)`);
    for (const obstacle of obstacles) {
      if (obstacle === 'lost') road.meet('after', pattern, (response) => response.destroy());
      else road.meet('before', pattern, (response) => refuse(response, obstacle));
    }
  }
  environment = { SCOPEGATE_URL: road.url, SCOPEGATE_KEY: key };
}
afterEach(() => road?.close());

function refuse(response: ServerResponse, code: ErrorCode): void {
  const extras = { reason: 'shed', ...(code === 'rate_limited' && { retryAfter: 1 }) } as const;
  const error = new AppError(code, 'Again.', extras);
  response
    .writeHead(error.status, { 'content-type': 'application/problem+json', ...errorHeaders(error) })
    .end(problemText(error, randomUUID()));
}

test('the simulated errors are exactly the retryable ones', () => {
  const codes = (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => ERROR_CODES[code].retry !== 'no');
  expect(new Set(Object.values(OBSTACLES).flat())).toEqual(new Set([...codes, 'lost']));
});

/** Expects all Northwind orders and one in yen, read in nine pages, and a bulk write that was replayed, since its answer was lost. */
function expectTour(output: string): void {
  expect(output).toMatch(/^key svc_live_\w+… of Northwind Traders, \d+ requests left$/m);
  // the yen has no minor unit
  expect(output).toMatch(/^830 orders in USD, (USD |\$)1,330,735\.45 in total$/m);
  expect(output).toMatch(/^1 orders in JPY, (JPY |¥)47,238 in total$/m);
  expect(output).toContain('products: 2 created, 0 updated, 0 unchanged, 1 failed');
  expect(output).toContain('  /products/2/name: ');
  expect(road!.seen.filter((line) => line.startsWith('GET /api/v1/orders'))).toHaveLength(2 + 9);
  expect(road!.left()).toBe(0);
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
  expect(road!.left()).toBe(0);
});

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
});

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
});
