import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Socket } from 'node:net';
import { IDLE_RECEIVERS } from '../../../src/limits';
import { createAddressPolicy, type Resolve } from '../../../src/webhooks/addresses';
import { createPoster, type Poster, type PosterOptions } from '../../../src/webhooks/post';
import { late } from '../../support/late';
import { type Receiver, startReceiver } from '../../support/receiver';

/* Single posts to hostile receivers. */

const LOOPBACK = ['127.0.0.0/8'];
const posters: Poster[] = [];
const receiver = late(startReceiver);
afterAll(async () => {
  for (const poster of posters) poster.close();
  await receiver.stop();
});
beforeEach(() => {
  receiver.arrived.length = 0;
  receiver.answer = () => 204;
});

function posterOf(ranges: readonly string[], more: Omit<PosterOptions, 'policy'> = {}): Poster {
  const poster = createPoster({ policy: createAddressPolicy(ranges), ...more });
  posters.push(poster);
  return poster;
}

const headers = { 'webhook-id': '1' };
const send = (poster: Poster, url: string, body = '{}') => poster.post({ url, headers, body });
const portOf = ({ url }: Receiver): string => new URL(url).port;

describe('a non-public address is never connected to:', () => {
  const names: Record<string, readonly string[]> = {
    'inside.example': ['127.0.0.1'],
    'both.example': ['93.184.216.34', '127.0.0.1'],
    'mapped.example': ['::ffff:127.0.0.1'],
    'meta.example': ['169.254.169.254'],
    'none.example': [],
  };
  const resolve: Resolve = (name) => Promise.resolve(names[name] ?? []);

  const hosts = `
    127.0.0.1 2130706433 0x7f.0.0.1 0177.0.0.1 127.1 0.0.0.0 [::1] [::ffff:127.0.0.1] [::ffff:7f00:1]
    [::127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::] [fe80::1] [fd00:ec2::254] 10.1.2.3 100.64.0.1
    172.16.0.1 192.168.0.1 169.254.169.254 2852039166 0xa9.0376.43518 168.63.129.16 [::ffff:168.63.129.16]
    100.100.100.200 192.0.0.192 [fd00::1] 198.18.0.1 224.0.0.1 255.255.255.255 localhost a.localhost
    inside.example both.example mapped.example meta.example none.example
  `;

  test.each(hosts.trim().split(/\s+/))('%s', async (host) => {
    for (const protocol of ['http', 'https']) {
      const outcome = await send(posterOf([], { resolve }), `${protocol}://${host}:${portOf(receiver)}/`);
      expect(outcome).toMatchObject({ ok: false, status: null, answer: null });
      expect(outcome.error).toMatch(
        /^the URL (has the address \S+, which is not public|has no public address|must begin with https:)/,
      );
    }
    expect(receiver.arrived).toEqual([]);
  });

  test('and errors reveal no internal names: they are the same for names that do not exist', async () => {
    const poster = posterOf([], { resolve });
    const errorsOf = async (protocol: string): Promise<Set<unknown>> => {
      const names = ['inside', 'both', 'meta', 'none'];
      return new Set(
        await Promise.all(names.map(async (name) => (await send(poster, `${protocol}://${name}.example/`)).error)),
      );
    };
    expect(await errorsOf('https')).toEqual(new Set(['the URL has no public address']));
    const { size } = await errorsOf('http');
    expect(size).toBe(1);
  });

  test('nor is a public address over http', async () => {
    const asPublic: Resolve = () => Promise.resolve(['93.184.216.34']);
    const { error } = await send(posterOf(LOOPBACK, { resolve: asPublic }), 'http://public.example/');
    expect(error).toMatch(/^the URL must begin with https:.* is not one that is opened for http$/);
  });
});

test('a name that changes between lookups is checked for each connection', async () => {
  const answers = [['127.0.0.1'], ['127.0.0.2']];
  let asked = 0;
  const resolve: Resolve = () => Promise.resolve(answers[asked++] ?? []);
  // one of two loopback addresses stands for the public one
  const poster = posterOf(['127.0.0.1/32'], { resolve });
  const url = `http://rebinding.example:${portOf(receiver)}/`;
  expect(await send(poster, url)).toMatchObject({ ok: true });
  poster.close();
  expect(await send(poster, url)).toMatchObject({ ok: false, status: null });
  expect(asked).toBe(2);
  expect(receiver.arrived).toHaveLength(1);
});

test('the connected address is checked too, before anything is sent', async () => {
  let arrived = '';
  const server = createNetServer((socket: Socket) =>
    socket.on('data', (bytes) => (arrived += bytes.toString())).on('error', () => undefined),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  let calls = 0;
  // as if the lookup had been bypassed: rejected only on the second check
  const policy = {
    isInAllowedRanges: () => false,
    allowsPlain: true,
    require: () => {
      if ((calls += 1) > 1) throw new Error('private');
    },
  };
  const poster = createPoster({ policy });
  const outcome = await send(poster, `http://127.0.0.1:${String(port)}/`);
  expect(outcome).toMatchObject({ ok: false, error: 'the URL was connected to an address that is not public' });
  expect(calls).toBe(2);
  expect(arrived).toBe('');
  poster.close();
  await new Promise((resolve) => server.close(resolve));
});

describe('an answer', () => {
  const usual = posterOf(LOOPBACK);
  const hasty = posterOf(LOOPBACK, { within: 1500 });
  const post = (poster = usual) => send(poster, receiver.url);

  test('that is a redirect is not followed', async () => {
    const inside = await startReceiver();
    receiver.answer = (_arrival, response) => void response.writeHead(307, { location: inside.url }).end();
    const outcome = await post();
    expect(outcome).toMatchObject({ ok: false, status: 307 });
    expect(outcome.error).toMatch(/a redirect, which is not followed/);
    expect(inside.arrived).toEqual([]);
    await inside.stop();
  });

  test('that never comes times out', async () => {
    receiver.answer = () => undefined;
    expect(await post(hasty)).toMatchObject({ ok: false, status: null, error: 'no answer within 1.5 s' });
  });

  test('with a slowly dripping head times out', async () => {
    let timer: NodeJS.Timeout | undefined;
    receiver.answer = (_arrival, response) => {
      const { socket } = response;
      socket!.write('HTTP/1.1 200 OK\r\n');
      timer = setInterval(() => socket!.write('X-Drip: 1\r\n'), 50);
      return undefined;
    };
    expect(await post(hasty)).toMatchObject({ ok: false, error: 'no answer within 1.5 s' });
    clearInterval(timer);
  });

  test('with a slowly dripping body counts by its status, and what arrived is kept', async () => {
    let timer: NodeJS.Timeout | undefined;
    receiver.answer = (_arrival, response) => {
      response.writeHead(500);
      timer = setInterval(() => response.write('drip '), 50);
      return undefined;
    };
    const outcome = await post(posterOf(LOOPBACK, { bodyWithin: 300 }));
    clearInterval(timer);
    expect(outcome).toMatchObject({ ok: false, status: 500 });
    expect(outcome.answer).toMatch(/^(drip )+$/);
  });

  test('of a gigabyte is read only up to 1 KiB', async () => {
    let written = 0;
    receiver.answer = (_arrival, response) => {
      response.writeHead(200);
      const more = (): void => {
        while (written < 2 ** 30 && !response.destroyed) {
          written += 65_536;
          if (!response.write(Buffer.alloc(65_536, 'x'))) {
            response.once('drain', more);
            return;
          }
        }
      };
      more();
      return undefined;
    };
    // so that only its size can end it
    const outcome = await send(posterOf(LOOPBACK, { bodyWithin: 20_000 }), receiver.url);
    expect(outcome).toMatchObject({ ok: true, status: 200, answer: 'x'.repeat(1024) });
    expect(written).toBeLessThan(2 ** 26);
  });

  test('with a head larger than 16 KiB is rejected', async () => {
    receiver.answer = (_arrival, response) => void response.writeHead(200, { 'x-large': 'x'.repeat(20_000) }).end();
    expect(await post()).toMatchObject({ ok: false, status: null, error: 'the head of the answer is too large' });
  });

  const retryAfterOf = async (status: number, header: string): Promise<number | undefined> => {
    receiver.answer = (_arrival, response) => void response.writeHead(status, { 'retry-after': header }).end();
    const outcome = await post();
    expect(outcome).toMatchObject({ ok: false, status });
    return outcome.retryAfter;
  };

  test.each([
    [429, '120', 120_000],
    [503, '1', 1000],
    [503, '999999', 3_600_000],
  ])('with %s and `Retry-After: %s` is honoured for at most an hour: %i ms', async (status, header, wait) => {
    expect(await retryAfterOf(status, header)).toBe(wait);
  });

  test.each([
    [500, '120'],
    [404, '120'],
    [429, '0'],
  ])('with %s has its `Retry-After: %s` ignored', async (status, header) => {
    expect(await retryAfterOf(status, header)).toBeUndefined();
  });

  test('that sends interim responses forever is abandoned', async () => {
    let announced = 0;
    receiver.answer = (_arrival, response) => {
      const more = (): void => {
        if (response.destroyed || announced >= 100_000) return;
        announced += 1;
        response.writeProcessing();
        setImmediate(more);
      };
      more();
      return undefined;
    };
    expect(await post()).toMatchObject({ ok: false, status: null, error: expect.stringContaining('only announces') });
    receiver.answer = (_arrival, response) => {
      for (let at = 0; at < 10; at += 1) response.writeProcessing();
      response.writeHead(204).end();
      return undefined;
    };
    expect(await post()).toMatchObject({ ok: true, status: 204 });
  });

  test('that is not HTTP, is cut off, or switches protocols is a failure', async () => {
    for (const text of [
      'hello\r\n\r\n',
      '',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    ]) {
      receiver.answer = (_arrival, response) => void response.socket!.end(text);
      const outcome = await post();
      expect(outcome).toMatchObject({ ok: false, status: null });
      expect(outcome.error).toMatch(/not HTTP|closed|reset|hang up/);
    }
  });
});

test('connections that are kept to many other hosts make no post wait, and their number is bounded', async () => {
  const resolve: Resolve = () => Promise.resolve(['127.0.0.1']);
  const poster = posterOf(LOOPBACK, { resolve });
  const open = new Set<Socket>();
  const server = createServer((_request, response) => void response.writeHead(204).end());
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const statuses: unknown[] = [];
  let most = 0;
  for (let turn = 0; turn < 40; turn += 1) {
    const hosts = Array.from({ length: 8 }, (_none, at) => `http://r${String(turn * 8 + at)}.example:${String(port)}/`);
    for (const { status } of await Promise.all(hosts.map((url) => send(poster, url)))) statuses.push(status);
    most = Math.max(most, open.size);
  }
  poster.close();
  await new Promise((closed) => server.close(closed));
  expect(statuses).toEqual(Array<number>(320).fill(204));
  // beside the posts of this turn, and those of the last, of which the server may learn late that they are closed
  expect(most).toBeLessThanOrEqual(IDLE_RECEIVERS + 2 * 8);
});

test('a refused connection is a failure that says so', async () => {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const poster = posterOf(LOOPBACK);
  expect(await send(poster, `http://127.0.0.1:${String(port)}/`)).toMatchObject({
    ok: false,
    error: 'the connection was refused',
  });
});

test('proxy variables are ignored, and an event over 20 kB is not sent', async () => {
  process.env.HTTP_PROXY = process.env.http_proxy = 'http://127.0.0.1:1';
  try {
    const poster = posterOf(LOOPBACK);
    expect(await send(poster, receiver.url)).toMatchObject({ ok: true, status: 204 });
    expect(await send(poster, receiver.url, 'x'.repeat(20_001))).toMatchObject({
      ok: false,
      error: 'the event is larger than 20000 bytes',
    });
    expect(receiver.arrived).toHaveLength(1);
  } finally {
    delete process.env.HTTP_PROXY;
    delete process.env.http_proxy;
  }
});
