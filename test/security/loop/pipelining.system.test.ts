import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { asset } from '../../../src/pages/assets';
import { head, openWire } from '../../operations/wire';
import { post, watch, watchedGateway } from '../../support/watchdog';

/* Many requests sent on one connection whose answers are never read. */

const REQUESTS = 1500;

const gateway = watchedGateway();

/** Sends a request many times on each of some connections that never read, and closes them a moment later. */
async function pipeline(line: string, { headers = [] as string[], connections = 1 } = {}): Promise<void> {
  const sockets = await Promise.all(
    Array.from({ length: connections }, async (): Promise<Socket> => {
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1').on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(`${head(line, ...headers)}\r\n`.repeat(REQUESTS));
      return socket;
    }),
  );
  await sleep(1500);
  for (const socket of sockets) socket.destroy();
}

test.each([
  ['files', `GET ${asset('reference.js')}`],
  ['the OpenAPI document', 'GET /api/v1/openapi.json'],
  ['a page', 'GET /'],
  ['an error', 'GET /api/v1/products'],
  ['the metrics', 'GET /metrics'],
])('1,500 requests for %s on each of three connections leave nothing behind', async (name, line) => {
  // made at its first request, in a turn that takes as long as the machine is slow
  await (await fetch(`${gateway.url}${line.slice('GET '.length)}`)).arrayBuffer();
  await watch(gateway, `pipelined: ${name}`, () => pipeline(line, { connections: 3 }), { peak: 96 });
});

test('1,500 requests with a key on one connection hold the memory of one', async () => {
  const products = Array.from({ length: 40 }, (_product, at) => ({
    sku: `LONG-${String(at)}`,
    name: 'Long',
    description: '語'.repeat(5000),
  }));
  const { text } = await post(gateway, '/api/v1/products/bulk', { products });
  expect(JSON.parse(text)).toMatchObject({ created: 40 });
  const work = (): Promise<void> =>
    pipeline('GET /api/v1/products?limit=100', { headers: [`Authorization: Bearer ${gateway.key}`] });
  await watch(gateway, 'pipelined: with a key', work, { peak: 96 });
});

test('up to 17 requests on a connection are answered, in their order', async () => {
  const wire = await openWire(gateway.url);
  const lines = Array.from({ length: 16 }, (_line, at) => `GET /${at % 2 === 0 ? 'livez' : 'api/v1/nothing'}`);
  const last = `${head('GET /livez', 'Connection: close')}\r\n`;
  wire.send(lines.map((line) => `${head(line)}\r\n`).join('') + last);
  const statuses = (await wire.whole()).match(/HTTP\/1\.1 \d+/g);
  expect(statuses).toEqual(Array.from({ length: 17 }, (_status, at) => `HTTP/1.1 ${at % 2 === 0 ? '200' : '404'}`));
});

test('a body behind another request is read once it is its turn', async () => {
  const wire = await openWire(gateway.url);
  const body = JSON.stringify({ products: [{ sku: 'A', name: 'A' }], dry_run: true }).padEnd(400_000);
  const bulk = head(
    'POST /api/v1/products/bulk',
    `Authorization: Bearer ${gateway.key}`,
    'Content-Type: application/json',
    `Content-Length: ${String(body.length)}`,
  );
  wire.send(
    `${head(`GET ${asset('reference.js')}`)}\r\n${bulk}\r\n${body}${head('GET /livez', 'Connection: close')}\r\n`,
  );
  expect((await wire.whole()).match(/HTTP\/1\.1 \d+/g)).toEqual(Array(3).fill('HTTP/1.1 200'));
});
