import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { client } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';
import { openTunnel } from './tunnel';
import { eventually } from './eventually';
import { raw } from './raw';
import { untilReady } from './ready';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
  await untilReady(gateway);
});
afterAll(() => gateway.stop());

describe('a running gateway', () => {
  test.each(['/livez', '/readyz'])('returns 200 for GET and HEAD %s without a key', async (path) => {
    const answer = await raw(gateway.url, path, {});
    expect({ ...answer, status: answer.status }).toMatchObject({ status: 200, text: expect.stringContaining('"ok"') });
    expect(await raw(gateway.url, path, { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  });

  test('lists its readiness checks', async () => {
    const { text } = await raw(gateway.url, '/readyz', {});
    expect(JSON.parse(text)).toEqual({ status: 'ok', checks: { database: 'ok', limiter: 'ok' } });
  });
});

describe('while the database is down', () => {
  test('the gateway is live but not ready, returns 503 with Retry-After in both APIs, and recovers', async () => {
    const tunnel = await openTunnel();
    const away = await startGateway({ MONGODB_URI: tunnel.uri });
    try {
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
    } finally {
      await away.stop();
      await tunnel.cut();
    }
  });

  test('a closed connection pool gives the same answers', async () => {
    const closed = await startGateway();
    const { key } = await makeKey(closed, await makeOrganisation(closed));
    await closed.databases.close();
    try {
      await expectUnavailable(closed, key);
    } finally {
      await closed.stop();
    }
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
      const line = await eventually(() => logs.find((one) => one.request_id === id && one.method !== undefined));
      expect(line).toMatchObject({ status: 503, code: 'unavailable' });
    }
    expect(JSON.parse(rest.text)).toMatchObject({ code: 'unavailable', status: 503 });
    expect(JSON.parse(graphql.text).errors[0].extensions).toMatchObject({ code: 'unavailable', status: 503 });
  }
});

describe('a draining gateway', () => {
  test('finishes an accepted request, is not ready, and rejects new connections', async () => {
    const draining = await startGateway();
    const { key } = await makeKey(draining, await makeOrganisation(draining));
    const caller = client(draining, key);
    const body = JSON.stringify({ text: 'Sent slowly' });
    const slow = await open(draining.url);
    const probe = await open(draining.url);
    slow.write(requestHead('POST /api/v1/requests', key, body.length) + body.slice(0, 5));
    probe.write('GET /readyz HTTP/1.1\r\n');
    // once a later request is answered, both have started to arrive
    expect((await caller.get('/me')).status).toBe(200);

    const stopped = draining.stop();
    probe.write('Host: test\r\n\r\n');
    const ready = await whole(probe);
    expect(ready).toMatch(/^HTTP\/1\.1 503 /);
    expect(ready).toContain('"draining"');
    await eventually(() => isRefused(draining.url));
    slow.write(body.slice(5));
    const answer = await whole(slow);
    expect(answer).toMatch(/^HTTP\/1\.1 201 /);
    expect(answer).toMatch(/^connection: close\r$/im);
    await stopped;
    expect((await client(gateway, key).get('/requests')).body.data).toHaveLength(1);
  });

  test('exits immediately if no request is in progress, even with idle connections', async () => {
    const draining = await startGateway();
    const idle = await open(draining.url);
    const closed = once(idle, 'close');
    expect((await client(draining).get('/openapi.json')).status).toBe(200);
    await draining.stop();
    await closed;
  });

  function isRefused(url: string): Promise<boolean> {
    return raw(url, '/livez', {}).then(
      () => false,
      (error: unknown) => (error as NodeJS.ErrnoException).code === 'ECONNREFUSED',
    );
  }

  async function open(url: string): Promise<Socket> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return socket;
  }

  function requestHead(line: string, key: string, length: number): string {
    return [
      `${line} HTTP/1.1`,
      'Host: test',
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      `Content-Length: ${String(length)}`,
      '\r\n',
    ].join('\r\n');
  }

  /** Everything received until the other side closes the connection. */
  async function whole(socket: Socket): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString();
  }
});
