import { BODY_LIMIT, BULK_BODY_LIMIT } from '../../../src/http/body';
import { WORST_BODIES } from '../../support/worstBodies';
import { client } from '../../support/client';
import { makeKey, makeOrganisation } from '../../support/factories';
import { late, served } from '../../support/gateway';

const KIB = 1024;
const JSON_TYPE = { 'content-type': 'application/json' };
/** Limit of CPU time in milliseconds, which other load does not affect: a linear check takes a fiftieth of this, any other takes minutes. */
const ROOM = 10_000;

const gateway = served();
const made = late(async () => makeKey(gateway, await makeOrganisation(gateway)));
const caller = late(() => Promise.resolve(client(gateway, made.key)));

const cpuTimeSince = (started: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
};
const largest = (path: string): number => (path.endsWith('/bulk') ? BULK_BODY_LIMIT : BODY_LIMIT);

test.each(WORST_BODIES)('$path: $name is rejected quickly, with a short answer', async ({ path, code, make }) => {
  const body = make(largest(path));
  expect(body.length).toBeGreaterThan(largest(path) / 2);
  const started = process.cpuUsage();
  const { status, body: problem, text } = await caller.send('POST', path, { body, headers: JSON_TYPE });
  expect(cpuTimeSince(started)).toBeLessThan(ROOM);
  if (code !== undefined) expect(problem.errors).toEqual([expect.objectContaining({ code })]);
  // if elements are checked one by one, all of them fail
  if (status === 200) expect(problem.failed).toBe(problem.results.length);
  else expect([400, 422]).toContain(status);
  if (status === 200) return;
  expect(problem.errors.length).toBeLessThanOrEqual(100);
  expect(text.length).toBeLessThan(100 * KIB);
});

describe('in GraphQL', () => {
  const UPSERT = 'mutation ($products: [ProductUpsert!]!) { upsert_products(products: $products) { failed } }';

  // it reads bodies as REST does: one for each way to be rejected, and one that is parsed
  const ofEach = new Map(WORST_BODIES.map((one) => [one.code, one]));
  test.each([...ofEach.values()])('$name as the body', async ({ code, make }) => {
    const body = make(BODY_LIMIT);
    const headers = { ...JSON_TYPE, authorization: `Bearer ${made.key}` };
    const answer = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body });
    const text = await answer.text();
    expect([400, 422]).toContain(answer.status);
    if (code !== undefined) expect(text).toContain(`"code":"${code}"`);
    expect(text.length).toBeLessThan(100 * KIB);
  });

  test.each<[string, unknown]>([
    ['zeros', new Array(100_000).fill(0)],
    ['ill-typed elements', new Array(50_000).fill({ sku: 1 })],
    ['too many elements', new Array(20_000).fill({})],
    [
      'elements of unknown members',
      [Object.fromEntries(Array.from({ length: 15_000 }, (_, at) => [`x${String(at)}`, 0]))],
    ],
    ['one long text', 'x'.repeat(900 * KIB)],
    ['long texts', new Array(40).fill('x'.repeat(20 * KIB))],
    ['long names', [Object.fromEntries(Array.from({ length: 40 }, (_, at) => [String(at) + 'x'.repeat(20 * KIB), 0]))]],
  ])('variables of %s', async (_title, products) => {
    // after compilation, another library runs the operation
    for (let times = 0; times < 3; times += 1) {
      const started = process.cpuUsage();
      const { status, body, text } = await caller.graphql(UPSERT, { products });
      expect(cpuTimeSince(started)).toBeLessThan(ROOM);
      expect(status).toBeLessThan(500);
      expect(body.errors.length).toBeLessThanOrEqual(100);
      expect(body.errors[0].extensions.code).toMatch(/^(invalid_request|validation_failed)$/);
      expect(text.length).toBeLessThan(100 * KIB);
    }
  });

  test('too many elements are reported as one error', async () => {
    const elements = Array.from({ length: 1001 }, () => ({}));
    const found = await caller.graphql(UPSERT, { products: elements });
    expect(found.body.errors[0].extensions.errors).toHaveLength(1);
  });
});

test('100 of 150 errors are listed, and 50 are counted', async () => {
  const unknown = Object.fromEntries(Array.from({ length: 150 }, (_none, at) => [`x${String(at)}`, 0]));
  const { status, body } = await caller.post('/requests', { text: 'Hello', ...unknown });
  expect(status).toBe(422);
  expect(body).toMatchObject({ code: 'validation_failed', more_errors: 50 });
  expect(body.errors).toHaveLength(100);
  expect(body.detail).toMatch(/^\/x0: is not a known field \(and 149 more\)$/);
});

test('the same limit applies to parameter errors', async () => {
  const { status, body } = await caller.get(
    `/products?${Array.from({ length: 150 }, (_, at) => `x${String(at)}`).join('&')}`,
  );
  expect({ status, more: body.more_errors, listed: body.errors.length }).toEqual({
    status: 400,
    more: 50,
    listed: 100,
  });
});
