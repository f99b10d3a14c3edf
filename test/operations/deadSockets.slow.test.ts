import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { cookieOf, makeLink, person, sendLink } from '../admin/settings/people';
import { makeKey, makeOrganisation } from '../support/factories';
import { head, openWire } from './wire';
import { late, metric, served } from '../support/gateway';

/** Number of connections reset in the middle of a body, per route. */
const RESETS = 1000;
const AT_ONCE = 250;

let [bearer, cookie, csrf] = ['', '', ''];

const gateway = served();
const organisation = late(() => makeOrganisation(gateway));
beforeAll(async () => {
  bearer = `Authorization: Bearer ${(await makeKey(gateway, organisation)).key}`;
  const user = await person(gateway, cookieOf(await sendLink(gateway, await makeLink(gateway, organisation))));
  [cookie, csrf] = [`Cookie: ${user.cookie}`, `X-CSRF-Token: ${user.csrf}`];
});

const FORM = 'Content-Type: application/x-www-form-urlencoded';

const inHand = (): Promise<number> => metric(gateway, 'scopegate_http_requests_in_hand');
const connections = (): Promise<number> => metric(gateway, 'scopegate_http_connections');

/** Polls slowly, since the gateway accepts one connection per event-loop turn, and polling takes turns too. */
async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const start = Date.now();
  while (!(await isSo())) {
    if (Date.now() - start > 30_000) throw new Error(`not within 30 s: ${isSo.toString()}`);
    await pause(25);
  }
}

async function begin(text: string): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

/** Delays calls of a method until the returned function is called. */
function holdBack<Name extends string>(of: Record<Name, (id: string) => Promise<unknown>>, name: Name): () => void {
  const ask = of[name];
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  Object.assign(of, { [name]: (id: string) => released.then(() => ask.call(of, id)) });
  return () => {
    Object.assign(of, { [name]: ask });
    release();
  };
}

test.each([
  ['POST /api/v1/products/bulk', () => [bearer]],
  ['POST /graphql', () => [bearer]],
  ['POST /settings/graphql', () => [cookie, csrf]],
])('%s: 1,000 connections reset during key lookup leave nothing behind', async (line, who) => {
  const text = `${head(line, ...who(), 'Content-Type: application/json', 'Content-Length: 100')}\r\n{"`;
  for (let sent = 0; sent < RESETS; sent += AT_ONCE) {
    const release = [holdBack(gateway.control.apiKeys, 'find'), holdBack(gateway.control.sessions, 'find')];
    const before = await connections();
    const sockets = await Promise.all(Array.from({ length: AT_ONCE }, () => begin(text)));
    await eventually(async () => (await inHand()) === AT_ONCE);
    for (const socket of sockets) socket.resetAndDestroy();
    await eventually(async () => (await connections()) <= before);
    for (const one of release) one();
    await eventually(async () => (await inHand()) === 0);
  }
  expect(await metric(gateway, 'scopegate_http_body_bytes')).toBe(0);
});

test.each([['POST /settings/sign-in'], ['POST /settings/sign-out']])(
  '%s: 1,000 connections reset in the middle of a form leave nothing behind',
  async (line) => {
    const text = `${head(line, cookie, FORM, 'Content-Length: 100')}\r\nli`;
    const before = await connections();
    for (let sent = 0; sent < RESETS; sent += AT_ONCE) {
      const sockets = await Promise.all(Array.from({ length: AT_ONCE }, () => begin(text)));
      await eventually(async () => (await connections()) >= AT_ONCE);
      for (const socket of sockets) socket.resetAndDestroy();
      await eventually(async () => (await connections()) <= before);
    }
    expect(await inHand()).toBe(0);
  },
);

test('of pipelined requests on a connection that is reset, the one that was begun is logged with 499, and no other is begun', async () => {
  const release = holdBack(gateway.control.apiKeys, 'find');
  const lines = gateway.logs.length;
  const socket = await begin(`${head('GET /api/v1/me', bearer)}\r\n`.repeat(5));
  await eventually(async () => (await inHand()) === 1);
  socket.resetAndDestroy();
  const left = { path: '/api/v1/me', status: 499 };
  const logged = (): unknown[] => gateway.logs.slice(lines).filter(({ path }) => path === left.path);
  await eventually(() => logged().length >= 1);
  release();
  await eventually(async () => (await inHand()) === 0);
  expect(logged()).toEqual([expect.objectContaining(left)]);
});

test('a form sent with Expect: 100-continue gets 100 Continue', async () => {
  const wire = await openWire(gateway.url);
  const body = 'link=none';
  wire.send(
    `${head('POST /settings/sign-in', FORM, 'Expect: 100-continue', `Content-Length: ${String(body.length)}`)}\r\n`,
  );
  await wire.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
  wire.send(body);
  await wire.until(/HTTP\/1\.1 410 /);
  wire.socket.destroy();
});
