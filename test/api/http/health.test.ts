import { client } from '../../support/client';
import { isSharded } from '../../support/differences';
import { makeKey, makeOrganisation } from '../../support/factories';
import { served, startGateway, type TestGateway } from '../../support/gateway';
import { openTunnel } from './tunnel';
import { eventually } from './eventually';
import { raw, untilReady } from './raw';

const gateway = served();

beforeAll(async () => {
  await untilReady(gateway);
});

describe('a running gateway', () => {
  test.each(['/livez', '/readyz'])('returns 200 for GET and HEAD %s without a key', async (path) => {
    const text: unknown = expect.stringContaining('"ok"');
    expect(await raw(gateway.url, path, {})).toMatchObject({ status: 200, text });
    expect(await raw(gateway.url, path, { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  });

  test('lists its readiness checks', async () => {
    const { text } = await raw(gateway.url, '/readyz', {});
    const shards = (await isSharded(gateway.databases.control.getClient())) && { shards: expect.anything() as unknown };
    expect(JSON.parse(text)).toEqual({ status: 'ok', checks: { database: 'ok', limiter: 'ok', ...shards } });
  });
});

describe('while the database is down', () => {
  test('the gateway is live but not ready, returns 503 with Retry-After in both APIs, and recovers', async () => {
    await using tunnel = await openTunnel();
    await using away = await startGateway({ MONGODB_URI: tunnel.uri });
    const { key } = await makeKey(away, await makeOrganisation(away));
    const caller = client(away, key);
    expect((await caller.get('/products')).status).toBe(200);
    await tunnel.cut();
    expect((await raw(away.url, '/livez', {})).status).toBe(200);
    const ready = await raw(away.url, '/readyz', {});
    expect(ready.status).toBe(503);
    expect(JSON.parse(ready.text)).toMatchObject({ status: 'unavailable', checks: { database: 'unavailable' } });
    await expectUnavailable(away, key);
    await tunnel.restore();
    for (const path of ['/readyz', '/api/v1/products', '/graphql?query={products{has_more}}']) {
      const headers = { authorization: `Bearer ${key}`, 'apollo-require-preflight': 'true' };
      await eventually(async () => (await raw(away.url, path, { headers })).status === 200);
    }
  });

  test('a closed connection pool gives the same answers', async () => {
    await using closed = await startGateway();
    const { key } = await makeKey(closed, await makeOrganisation(closed));
    await closed.databases.close();
    await expectUnavailable(closed, key);
  });

  async function expectUnavailable({ url, logs }: TestGateway, key: string): Promise<void> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const rest = await raw(url, '/api/v1/products', { headers });
    const body = JSON.stringify({ query: '{ products { has_more } }' });
    const graphql = await raw(url, '/graphql', { method: 'POST', headers, body });
    for (const answer of [rest, graphql]) {
      expect(answer.status).toBe(503);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      expect(answer.text).not.toMatch(/mongo|127\.0\.0\.1|ECONN|topology/i);
      const id = answer.headers['x-request-id'];
      const line = await eventually(() => logs.find((log) => log.request_id === id && log.method !== undefined));
      expect(line).toMatchObject({ status: 503, code: 'unavailable' });
    }
    expect(JSON.parse(rest.text)).toMatchObject({ code: 'unavailable', status: 503 });
    expect(JSON.parse(graphql.text).errors[0].extensions).toMatchObject({ code: 'unavailable', status: 503 });
  }
});
