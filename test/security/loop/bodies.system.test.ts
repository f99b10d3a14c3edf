import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { trackConnections } from '../../../src/http/connections';
import { eventually } from '../../api/http/eventually';
import { head } from '../../operations/wire';
import { watch, watchedGateway } from '../../support/watchdog';

/* Bodies in the smallest chunks, and bodies that go on after the answer. */

const KIB = 1024;
/** What one read of a socket may return, and what Node reads ahead. */
const READS = 4 * 64 * KIB;
const CHUNKED = 'Transfer-Encoding: chunked';
const ONE_BYTE = '1\r\n \r\n'.repeat(10_000);

/**
 * Sends a text again and again until the connection is closed or it has been sent so often; resolves with what was received when it is closed, or
 * in two seconds, or with `isAll` when that accepts it.
 */
async function sendAgain(
  url: string,
  start: string,
  text: string,
  times: number,
  isAll?: (received: string) => boolean,
): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  const closed = once(socket, 'close').catch(() => undefined);
  await once(socket, 'connect');
  socket.write(`${start}\r\n`);
  for (let sent = 0; sent < times && !socket.destroyed; sent += 1) {
    if (!socket.write(text)) await Promise.race([once(socket, 'drain').catch(() => undefined), closed]);
  }
  await Promise.race([closed, isAll ? eventually(() => isAll(received)) : sleep(2000)]);
  socket.destroy();
  return received;
}

describe('what is read', () => {
  let server: Server;
  let answer: RequestListener;
  let sockets: Socket[];
  beforeEach(async () => {
    sockets = [];
    server = createServer({ keepAliveTimeout: 60_000 });
    const connections = trackConnections(server, {
      most: Infinity,
      isShared: true,
      onEvicted: () => undefined,
      onDropped: () => undefined,
    });
    server.on('connection', (socket) => sockets.push(socket));
    server.on('request', (request, response) => {
      connections.requestArrived(response, () => {
        answer(request, response);
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const url = (): string => `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const bytesRead = (): number => sockets[0]!.bytesRead;
  const refuse: RequestListener = (_request, response) => {
    response.writeHead(401, { 'Content-Length': '2' }).end('no');
  };
  const endConnection: RequestListener = (_request, response) => {
    response.writeHead(413, { 'Content-Length': '2', Connection: 'close' }).end('no');
  };
  const refuseLate: RequestListener = (request, response) => {
    request.once('data', () => response.writeHead(422, { 'Content-Length': '2' }).end('no'));
  };

  test.each([
    ['nobody reads', 'POST', refuse],
    ['ends the connection', 'POST', endConnection],
    ['was being read', 'POST', refuseLate],
    ['nobody expects', 'GET', refuse],
  ])(
    'of a body after the answer is at most 256 KiB, and the caller gets the answer: one that %s',
    async (_which, method, listener) => {
      answer = listener;
      const start = head(`${method} /`, `Content-Length: ${String(2 ** 30)}`);
      const received = await sendAgain(url(), start, ' '.repeat(64 * KIB), 1024);
      expect(received).toMatch(/^HTTP\/1\.1 4\d\d [^]*\r\n\r\nno$/);
      expect(bytesRead()).toBeLessThanOrEqual(256 * KIB + READS);
      await eventually(() => sockets[0]!.closed);
    },
  );

  test('of a body that ends within that is all, and its connection is used again', async () => {
    answer = refuse;
    const start = head('POST /', `Content-Length: ${String(128 * KIB)}`);
    const body = ' '.repeat(128 * KIB);
    const isTwice = (received: string): boolean => received.match(/HTTP\/1\.1 401/g)?.length === 2;
    expect(isTwice(await sendAgain(url(), start, `${body}${start}\r\n${body}`, 1, isTwice))).toBe(true);
  });

  test.each([
    ['is read', (request) => request.resume()],
    ['waits', () => undefined],
    ['is refused', refuse],
  ] satisfies [string, RequestListener][])(
    'of a body in one-byte chunks is little, if it %s',
    async (_which, listener) => {
      answer = listener;
      await sendAgain(url(), head('POST /', CHUNKED), ONE_BYTE, 100);
      expect(bytesRead()).toBeLessThanOrEqual(2 * READS);
      expect(sockets[0]!.destroyed).toBe(true);
    },
  );

  test('of a body in 10,000 chunks of 80 bytes is all', async () => {
    let body = '';
    answer = (request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.once('end', () => response.end());
    };
    const chunk = `50\r\n${' '.repeat(80)}\r\n`;
    const all = `${chunk.repeat(10_000)}0\r\n\r\n`;
    const received = await sendAgain(url(), head('POST /', CHUNKED), all, 1, (text) => text.includes('\r\n\r\n'));
    expect([received.slice(0, 12), body.length]).toEqual(['HTTP/1.1 200', 800_000]);
  });
});

describe('others are served in time', () => {
  const gateway = watchedGateway();

  test.each([
    ['one-byte chunks to a route that needs a key', head('POST /api/v1/products', CHUNKED), ONE_BYTE],
    ['one-byte chunks to no route', head('POST /nothing', CHUNKED), ONE_BYTE],
    ['a body after a 404', head('POST /nothing', `Content-Length: ${String(2 ** 30)}`), ' '.repeat(64 * KIB)],
    ['a body of a GET', head('GET /livez', `Content-Length: ${String(2 ** 30)}`), ' '.repeat(64 * KIB)],
  ])('beside 5 connections with %s', async (name, start, text) => {
    const all = (): Promise<unknown> =>
      Promise.all(Array.from({ length: 5 }, () => sendAgain(gateway.url, start, text, 100)));
    await watch(gateway, `bodies: ${name}`, all);
  });
});
