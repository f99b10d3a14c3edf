import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { commandLine, finished, firstLine } from '../cli/commandLine';
import { eventually } from '../http/eventually';
import { raw } from '../http/raw';
import { untilReady } from '../http/ready';
import { makeKey, makeOrganisation } from '../support/factories';
import { head, openWire } from './wire';
import { operate, type OperatedGateway } from './gateway';

describe('with ADMIN_PORT', () => {
  let gateway: OperatedGateway;
  beforeAll(async () => {
    gateway = await operate({ ADMIN_PORT: '0' });
    await untilReady(gateway);
  });
  afterAll(() => gateway.stop());

  test.each(['/livez', '/readyz', '/metrics'])('%s is on that port, even through a proxy', async (path) => {
    const headers = { 'x-forwarded-for': '8.8.8.8' };
    expect(await raw(gateway.adminUrl!, path, { headers })).toMatchObject({ status: 200 });
    expect(await raw(gateway.adminUrl!, path, { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  });

  test('the public port serves the health checks, but /metrics to no one', async () => {
    expect(await raw(gateway.url, '/readyz', {})).toMatchObject({ status: 200 });
    expect(await raw(gateway.url, '/metrics', {})).toMatchObject({ status: 404 });
  });

  test.each(['/', '/graphql', '/api/v1/products', '/settings/integrations'])('%s is not served on it', async (path) => {
    const { key } = await makeKey(gateway, await makeOrganisation(gateway));
    const answer = await raw(gateway.adminUrl!, path, { headers: { authorization: `Bearer ${key}` } });
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([404, 'not_found']);
  });
});

test('METRICS=off applies to ADMIN_PORT', async () => {
  await using gateway = await operate({ ADMIN_PORT: '0', METRICS: 'off' });
  expect(await raw(gateway.adminUrl!, '/metrics', {})).toMatchObject({ status: 404 });
  await gateway.stop();
});

test('while draining, /readyz on ADMIN_PORT is 503 at once, and metrics are served until the last request is answered', async () => {
  const gateway = await operate({ ADMIN_PORT: '0' });
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
  expect(await wire.whole()).toMatch(/^HTTP\/1\.1 201 /m);
  await drained;
  await expect(raw(gateway.adminUrl!, '/livez', {})).rejects.toThrow('ECONNREFUSED');
  await gateway.stop();
});

describe('serve', () => {
  const cli = commandLine();

  test('--json prints both addresses', async () => {
    const child = cli.start(['serve', '--json'], { PORT: '0', ADMIN_PORT: '0' });
    const end = finished(child);
    const { url, admin_url: admin } = JSON.parse(await firstLine(child)) as Record<string, string>;
    expect(admin).not.toBe(url);
    expect((await fetch(`${admin!}/metrics`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await end).toMatchObject({ code: 0 });
  });

  test('names ADMIN_PORT if that port is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const port = String((taken.address() as AddressInfo).port);
    const { code, stderr } = await finished(cli.start(['serve'], { PORT: '0', ADMIN_PORT: port }));
    taken.close();
    expect(code).toBe(1);
    expect(stderr).toContain(`port ${port} on 127.0.0.1 is in use; set ADMIN_PORT to another port`);
  });
});

test('metrics report the version, the pool limit, and how long database commands took', async () => {
  await using gateway = await operate({ ADMIN_PORT: '0' });
  const { key } = await makeKey(gateway, await makeOrganisation(gateway));
  const scrape = async (): Promise<string> => (await raw(gateway.adminUrl!, '/metrics', {})).text;
  const valueOf = (text: string, name: string): number =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1],
    );
  const count = 'scopegate_database_command_duration_seconds_count{cluster="default"}';
  const sum = 'scopegate_database_command_duration_seconds_sum{cluster="default"}';
  const before = await scrape();
  for (let call = 0; call < 5; call += 1)
    await raw(gateway.url, '/api/v1/products', { headers: { authorization: `Bearer ${key}` } });
  const after = await scrape();
  // at least the key and the products of each request
  expect(valueOf(after, count) - valueOf(before, count)).toBeGreaterThanOrEqual(10);
  expect(valueOf(after, sum)).toBeGreaterThan(valueOf(before, sum));
  const all = 'scopegate_database_command_duration_seconds_bucket{le="+Inf",cluster="default"}';
  expect(valueOf(after, all)).toBe(valueOf(after, count));
  expect(valueOf(after, 'scopegate_database_connections_max{cluster="default"}')).toBe(100);
  expect(after).toMatch(/^scopegate_build_info\{version="\d+\.\d+\.\d+",node="v\d+\.\d+\.\d+"\} 1$/m);
  await raw(gateway.url, '/api/v1/products', {});
  expect(await scrape()).toContain('scopegate_http_requests_unauthenticated_total{reason="missing"} 1\n');
});
