import { connect } from 'node:net';
import { client } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';
import { eventually } from '../api/http/eventually';
import { head, openWire, type Wire } from './wire';

let gateway: TestGateway;
afterEach(() => gateway.stop());

const BODY = JSON.stringify({ text: 'Accepted before the end' });

/** Starts a write that has got 100 Continue, so the gateway is waiting for its body. */
async function writeUnderWay(): Promise<Wire> {
  const { key } = await makeKey(gateway, await makeOrganisation(gateway));
  const wire = await openWire(gateway.url);
  const headers = [`Authorization: Bearer ${key}`, 'Content-Type: application/json', 'Expect: 100-continue'];
  wire.send(`${head('POST /api/v1/requests', ...headers, `Content-Length: ${String(BODY.length)}`)}\r\n`);
  await wire.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
  return wire;
}

async function isRefused(): Promise<boolean> {
  const { hostname, port } = new URL(gateway.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.destroy();
      resolve(false);
    }).once('error', () => {
      resolve(true);
    });
  });
}

const LIVEZ = `${head('GET /livez')}\r\n`;
const CLOSED_AFTER_200 = /HTTP\/1\.1 200 OK\r\n(.+\r\n)*Connection: close\r\n/;

test('/readyz returns 503 first, the port stays open for DRAIN_DELAY, and every answer closes its connection', async () => {
  gateway = await startGateway({ DRAIN_DELAY: '20' }, { drain: 60_000 });
  const { key } = await makeKey(gateway, await makeOrganisation(gateway));
  const reused = await openWire(gateway.url);
  reused.send(LIVEZ);
  expect(await reused.until(/"ok"/)).toMatch(/^Connection: keep-alive\r$/m);
  const drained = gateway.drain();

  const ready = await fetch(`${gateway.url}/readyz`);
  expect([ready.status, ready.headers.get('connection'), await ready.json()]).toEqual([
    503,
    'close',
    { status: 'draining' },
  ]);
  const answer = await client(gateway, key).get('/products');
  expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
  reused.send(LIVEZ);
  expect((await reused.whole()).slice(20)).toMatch(CLOSED_AFTER_200);
  expect(await isRefused()).toBe(false);

  await drained;
  expect(await isRefused()).toBe(true);
  const cutOff = { requests: 0, streams: 0, connections: 0 };
  expect(gateway.logs.at(-1)).toMatchObject({ msg: 'stopped', cut_off: cutOff });
});

test('a request arriving on a keep-alive connection is answered, not cut off', async () => {
  gateway = await startGateway({}, { head: 120_000, request: 120_000, drain: 120_000 });
  const wire = await openWire(gateway.url);
  wire.send(LIVEZ);
  await wire.until(/"ok"/);
  wire.send(head('GET /livez'));
  const probe = await openWire(gateway.url);
  probe.send(LIVEZ);
  await probe.until(/"ok"/);
  const drained = gateway.drain();
  await eventually(isRefused);
  // the idle connection is closed, so the grace period is over
  await probe.whole();
  wire.send('\r\n');
  expect((await wire.whole()).slice(20)).toMatch(CLOSED_AFTER_200);
  await drained;
});

test('idle and silent connections are closed without an answer', async () => {
  gateway = await startGateway();
  const [idle, silent] = [await openWire(gateway.url), await openWire(gateway.url)];
  idle.send(LIVEZ);
  const answered = await idle.until(/"ok"/);
  await gateway.drain();
  expect(await idle.whole()).toBe(answered);
  expect(await silent.whole()).toBe('');
});

test('a caller that never finishes cannot delay the exit', async () => {
  gateway = await startGateway({}, { drain: 500 });
  const wire = await writeUnderWay();
  await gateway.drain();
  expect(await wire.whole()).not.toMatch(/HTTP\/1\.1 2/);
  // the log says what was in hand, and what was cut off
  const inHand = { requests: 1, streams: 0, connections: 1 };
  expect(gateway.logs).toContainEqual(
    expect.objectContaining({ msg: 'draining', ...inHand, waiting_requests: 0 }) as unknown,
  );
  expect(gateway.logs.at(-1)).toMatchObject({ msg: 'stopped', ms: expect.any(Number), cut_off: inHand });
});
