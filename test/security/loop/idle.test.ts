import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connections, trackConnections } from '../../../src/http/connections';
import { eventually } from '../../api/http/eventually';
import { startWatched, watch } from '../../support/watchdog';

/* Connections that send nothing. */

/** Half of it is more than the 100 that an address always has. */
const MOST = 204;
const MOST_SHARED = 40;
const ASK = 'GET / HTTP/1.1\r\nHost: test\r\n\r\n';

async function open(url: string, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  return socket;
}

/** Asks on a connection and waits for the answer. */
async function ask(socket: Socket): Promise<string> {
  socket.write(ASK);
  return String((await once(socket, 'data'))[0]);
}

describe('of the connections of a server', () => {
  let server: Server;
  let connections: Connections;
  let url: string;
  let evicted: number;
  let dropped: number;
  let opened: Socket[];
  let begun: ServerResponse[];

  async function start({ isShared = false, isAnswering = true } = {}): Promise<void> {
    [evicted, dropped, opened, begun] = [0, 0, [], []];
    server = createServer({ keepAliveTimeout: 60_000 });
    connections = trackConnections(server, {
      most: isShared ? MOST_SHARED : MOST,
      isShared,
      onEvicted: () => (evicted += 1),
      onDropped: () => (dropped += 1),
    });
    server.on('request', (_request, response) => {
      begun.push(response);
      connections.requestArrived(response, () => {
        if (isAnswering) response.end('answer');
        else response.flushHeaders();
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  }
  afterEach(() => {
    for (const socket of opened) socket.destroy();
    server.closeAllConnections();
    server.close();
  });

  /** Opens connections one after another, so that the server has them in that order. */
  async function openSome(count: number, localAddress?: string): Promise<Socket[]> {
    const sockets: Socket[] = [];
    for (let one = 0; one < count; one += 1) {
      const before = connections.count() + evicted + dropped;
      const socket = await open(url, localAddress);
      await eventually(() => connections.count() + evicted + dropped > before);
      sockets.push(socket);
      opened.push(socket);
    }
    return sockets;
  }

  test('the longest idle one is closed for each new one from four fifths on', async () => {
    await start({ isShared: true });
    const [first, second, third] = await openSome((MOST_SHARED * 4) / 5);
    await ask(first!);
    await openSome(2);
    await Promise.all([second!, third!].map(async (socket) => socket.closed || (await once(socket, 'close'))));
    await eventually(() => connections.count() === (MOST_SHARED * 4) / 5);
    expect([evicted, dropped]).toEqual([2, 0]);
    expect(await ask(first!)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('none that is being answered is closed for a new one', async () => {
    await start({ isShared: true, isAnswering: false });
    const busy = await openSome((MOST_SHARED * 4) / 5);
    for (const socket of busy) await ask(socket);
    await openSome(10);
    expect(await eventually(() => connections.count() === busy.length + 1)).toBe(true);
    expect(evicted).toBe(9);
    expect(busy.some(({ closed }) => closed)).toBe(false);
  });

  test('of as many as there may be, one that has become idle is closed for a new one', async () => {
    await start({ isShared: true, isAnswering: false });
    for (let one = 0; one < MOST_SHARED; one += 1) {
      const [socket] = await openSome(1);
      await ask(socket!);
    }
    const [refused] = await openSome(1);
    if (!refused!.closed) await once(refused!, 'close');
    begun[0]!.end();
    await once(opened[0]!, 'data');
    const [next] = await openSome(1);
    if (!opened[0]!.closed) await once(opened[0]!, 'close');
    expect([evicted, dropped]).toEqual([1, 1]);
    expect(await ask(next!)).toMatch(/^HTTP\/1\.1 200 /);
  });

  // only Linux routes all of 127.0.0.0/8 to the loopback interface
  const onLinux = process.platform === 'linux' ? test : test.skip;

  onLinux('one address has half, and its own longest idle one is closed for more', async () => {
    await start();
    // with which all are more than four fifths
    const others = Math.ceil((MOST * 4) / 5) - MOST / 2;
    const [other] = await openSome(others, '127.0.0.2');
    const [first] = await openSome(MOST / 2 + 1);
    if (!first!.closed) await once(first!, 'close');
    await eventually(() => connections.count() === MOST / 2 + others);
    expect([evicted, dropped]).toEqual([1, 0]);
    expect(await ask(other!)).toMatch(/^HTTP\/1\.1 200 /);
  });

  onLinux('an address without an idle one gets no more than half, while another does', async () => {
    await start({ isAnswering: false });
    for (const socket of await openSome(MOST / 2)) await ask(socket);
    const [more] = await openSome(1);
    if (!more!.closed) await once(more!, 'close');
    expect([evicted, dropped, connections.count()]).toEqual([0, 1, MOST / 2]);
    const [other] = await openSome(1, '127.0.0.2');
    expect(await ask(other!)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

test('more idle connections than MAX_CONNECTIONS lock out nobody', async () => {
  await using gateway = await startWatched({ MAX_CONNECTIONS: '80' });
  const idle: Socket[] = [];
  await watch(gateway, 'idle connections', async () => {
    for (let opened = 0; opened < 160; opened += 1) idle.push(await open(gateway.url));
    await sleep(1000);
    for (const socket of idle) socket.destroy();
  });
});
