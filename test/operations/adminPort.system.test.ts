import { eventually } from '../api/http/eventually';
import { raw, untilReady } from '../api/http/raw';
import { makeKey, makeOrganisation } from '../support/factories';
import { served, startGateway } from '../support/gateway';
import { head, openWire } from './wire';

describe('with ADMIN_PORT', () => {
  const gateway = served({ ADMIN_PORT: '0' });
  beforeAll(() => untilReady(gateway));

  test.each(['/livez', '/readyz', '/metrics'])('%s is on that port, even through a proxy', async (path) => {
    const headers = { 'x-forwarded-for': '8.8.8.8' };
    expect(await raw(gateway.adminUrl!, path, { headers })).toMatchObject({ status: 200 });
    expect(await raw(gateway.adminUrl!, path, { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  });

  test('the public port serves the health checks, but /metrics to no one', async () => {
    await untilReady(gateway);
    expect(await raw(gateway.url, '/metrics', {})).toMatchObject({ status: 404 });
  });

  test.each(['/', '/graphql', '/api/v1/products', '/settings/integrations'])('%s is not served on it', async (path) => {
    const { key } = await makeKey(gateway, await makeOrganisation(gateway));
    const answer = await raw(gateway.adminUrl!, path, { headers: { authorization: `Bearer ${key}` } });
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([404, 'not_found']);
  });

  test('metrics report the version, and how long database commands took', async () => {
    const { key } = await makeKey(gateway, await makeOrganisation(gateway));
    const scrape = async (): Promise<string> => (await raw(gateway.adminUrl!, '/metrics', {})).text;
    const valueOf = (text: string, name: string): number => Number(text.split(`\n${name} `)[1]?.split('\n')[0]);
    const count = 'scopegate_database_command_duration_seconds_count';
    const sum = 'scopegate_database_command_duration_seconds_sum';
    const before = await scrape();
    for (let call = 0; call < 5; call += 1)
      await raw(gateway.url, '/api/v1/products', { headers: { authorization: `Bearer ${key}` } });
    const after = await scrape();
    // at least the key and the products of each request
    expect(valueOf(after, count) - valueOf(before, count)).toBeGreaterThanOrEqual(10);
    expect(valueOf(after, sum)).toBeGreaterThan(valueOf(before, sum));
    const all = 'scopegate_database_command_duration_seconds_bucket{le="+Inf"}';
    expect(valueOf(after, all)).toBe(valueOf(after, count));
    expect(after).toMatch(/^scopegate_build_info\{version="\d+\.\d+\.\d+",node="v\d+\.\d+\.\d+"\} 1$/m);
    const missing = 'scopegate_http_requests_unauthenticated_total{reason="missing"}';
    await raw(gateway.url, '/api/v1/products', {});
    expect(valueOf(await scrape(), missing)).toBe(valueOf(after, missing) + 1);
  });

  test('what is not valid HTTP gets a problem there, too', async () => {
    const wire = await openWire(gateway.adminUrl!);
    wire.send('noise\r\n\r\n');
    expect(await wire.whole()).toMatch(/^HTTP\/1\.1 400 .*"code":"invalid_request"/s);
  });

  test('a body that is asked about is not sent for until it is wanted', async () => {
    const wire = await openWire(gateway.adminUrl!);
    wire.send(`${head('POST /elsewhere', 'Expect: 100-continue', 'Content-Length: 100', 'Connection: close')}\r\n`);
    expect(await wire.whole()).toMatch(/^HTTP\/1\.1 4\d\d /);
  });
});

test('a caller at ADMIN_PORT that stops reading is cut off', async () => {
  await using gateway = await startGateway({ ADMIN_PORT: '0' }, { stalled: 200, head: 120_000, request: 120_000 });
  const wire = await openWire(gateway.adminUrl!);
  const began = performance.now();
  expect(await wire.whole()).toBe('');
  // by default it is a minute
  expect(performance.now() - began).toBeLessThan(30_000);
});

test('METRICS=off applies to ADMIN_PORT', async () => {
  await using gateway = await startGateway({ ADMIN_PORT: '0', METRICS: 'off' });
  expect(await raw(gateway.adminUrl!, '/metrics', {})).toMatchObject({ status: 404 });
});

test('while draining, /readyz on ADMIN_PORT is 503 at once, an accepted request is answered after the port is closed, and metrics are served until then', async () => {
  const gateway = await startGateway({ ADMIN_PORT: '0' }, { request: 120_000, drain: 120_000 });
  const { key } = await makeKey(gateway, await makeOrganisation(gateway));
  const wire = await openWire(gateway.url);
  const body = JSON.stringify({ text: 'Sent slowly' });
  const headers = [`Authorization: Bearer ${key}`, 'Content-Type: application/json', 'Expect: 100-continue'];
  wire.send(`${head('POST /api/v1/requests', ...headers, `Content-Length: ${String(body.length)}`)}\r\n`);
  await wire.until(/100 Continue/);
  const drained = gateway.drain();
  expect(await raw(gateway.adminUrl!, '/readyz', {})).toMatchObject({ status: 503, text: '{"status":"draining"}' });
  await eventually(() =>
    raw(gateway.url, '/livez', {}).then(
      () => false,
      () => true,
    ),
  );
  expect(await raw(gateway.adminUrl!, '/readyz', {})).toMatchObject({ status: 503 });
  expect(await raw(gateway.adminUrl!, '/metrics', {})).toMatchObject({ status: 200 });
  wire.send(body);
  expect(await wire.whole()).toMatch(/^HTTP\/1\.1 201 Created\r\n(.+\r\n)*Connection: close\r\n/m);
  await drained;
  await expect(raw(gateway.adminUrl!, '/livez', {})).rejects.toThrow('ECONNREFUSED');
  await gateway.stop();
});
