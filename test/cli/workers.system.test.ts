import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { freePort } from '../../faults/processes';
import { eventually } from '../http/eventually';
import { head, openWire } from '../operation/wire';
import { commandLine, type Environment, makeKey, makeOrganisation, serve, type Served } from './commandLine';

const LIMIT = 30;
/** Milliseconds; a worker's start takes long on a busy machine. */
const START = 60_000;
const cli = commandLine({ PORT: '0', LOG_LEVEL: 'info', RATE_LIMIT_PER_MINUTE: String(LIMIT) });

let organisation: string;
beforeAll(async () => {
  ({ id: organisation } = await makeOrganisation(cli));
});

jest.setTimeout(120_000);

const start = (more?: Environment): Promise<Served> => serve(cli, ['--workers', '2'], more);

/** Pids of a process' children. */
function childrenOf({ child: { pid } }: Pick<Served, 'child'>): number[] {
  const file = `/proc/${String(pid)}/task/${String(pid)}/children`;
  return readFileSync(file, 'utf8').trim().split(' ').map(Number);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A call on its own connection, so that both workers get some; one that is never answered fails before the test's time is over. */
const call = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { headers: { connection: 'close', ...headers }, signal: AbortSignal.timeout(START / 2) });

async function get(url: string, key?: string): Promise<number> {
  const { status, body } = await call(url, key === undefined ? {} : { authorization: `Bearer ${key}` });
  await body?.cancel();
  return status;
}

async function metricsOf(url: string): Promise<string> {
  return (await call(`${url}/metrics`)).text();
}

/** The values of a metric, of each worker. */
async function metric(url: string, name: string): Promise<number[]> {
  const lines = (await metricsOf(url)).matchAll(new RegExp(`^scopegate_${name}\\{.*\\} (\\d+)$`, 'gm'));
  return [...lines].map(([, count]) => Number(count));
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

async function countOfWorkers({ url }: Pick<Served, 'url'>): Promise<number> {
  return new Set((await metricsOf(url)).match(/worker="\d+"/g)).size;
}

describe('serve --workers 2', () => {
  let served: Served;
  beforeAll(async () => {
    served = await start();
  });
  afterAll(() => served.stop());

  test('enforces the rate limit of an organisation exactly across both workers', async () => {
    const own = await makeOrganisation(cli);
    const keys: string[] = [];
    for (let nth = 0; nth < 12; nth += 1) keys.push((await makeKey(cli, own.id)).key);
    const tenPoints = `{ ${Array.from({ length: 10 }, (_, nth) => `a${String(nth)}: me { key { id } }`).join(' ')} }`;
    const body = JSON.stringify({ query: tenPoints });
    const statuses: number[] = [];
    for (const key of keys.flatMap((one) => Array.from({ length: LIMIT / 10 }, () => one))) {
      // a connection of its own, as above
      const headers = { connection: 'close', authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      statuses.push((await fetch(`${served.url}/graphql`, { method: 'POST', headers, body })).status);
    }
    expect(statuses).toEqual([...Array<number>(LIMIT).fill(200), ...Array<number>(6).fill(429)]);
  });

  test('enforces the rate limit of a key exactly across both workers', async () => {
    const { key } = await makeKey(cli, organisation);
    const statuses = await Promise.all(
      Array.from({ length: LIMIT * 2 }, () => get(`${served.url}/api/v1/products`, key)),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(LIMIT);
    expect(statuses.filter((status) => status === 429)).toHaveLength(LIMIT);
  });

  test('serves one page of metrics, with a series per worker', async () => {
    for (let at = 0; at < 10; at += 1) await get(`${served.url}/livez`);
    const text = await metricsOf(served.url);
    const served200 = [
      ...text.matchAll(
        /^scopegate_http_requests_total\{.*operation="products".*status="(\d+)".*worker="(\d)"\} (\d+)$/gm,
      ),
    ];
    const total = sumOf(served200.map(([, , , count]) => Number(count)));
    expect(new Set(served200.map(([, , worker]) => worker))).toEqual(new Set(['1', '2']));
    expect(total).toBe(LIMIT * 2);
  });

  test('logs each request with the process and the worker that answered it', async () => {
    const pids = childrenOf(served);
    const line = await eventually(async () => {
      await get(`${served.url}/api/v1/none`);
      return served
        .stderr()
        .split('\n')
        .find((one) => one.includes('/api/v1/none'));
    });
    const { pid, worker } = JSON.parse(line) as Record<string, unknown>;
    expect(pids).toContain(pid);
    expect(['1', '2']).toContain(worker);
  });

  test('replaces a worker that is killed, and logs it', async () => {
    const before = childrenOf(served).filter((pid) =>
      readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8').includes('serve'),
    );
    expect(before).toHaveLength(2);
    process.kill(before[0]!, 'SIGKILL');
    // until then it may still get connections
    await eventually(() => served.stderr().includes('a worker died; replacing it'));
    expect(await get(`${served.url}/readyz`)).toBe(200);
    await eventually(async () => (await countOfWorkers(served)) === 2, START);
    expect(isAlive(before[0]!)).toBe(false);
    expect(childrenOf(served)).toContain(before[1]);
  });

  test('SIGTERM lets an accepted request finish, and ends every process', async () => {
    const { key } = await makeKey(cli, organisation);
    const workers = childrenOf(served);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ products: [{ sku: 'late', name: 'Late' }] });
    const sent = request(`${served.url}/api/v1/products/bulk`, {
      method: 'POST',
      headers: { ...headers, 'content-length': body.length },
    });
    sent.write(body.slice(0, 5));
    const answered = once(sent, 'response') as Promise<[{ statusCode: number; resume(): void }]>;
    // once the worker counts the request, it has read the head
    await eventually(async () => sumOf(await metric(served.url, 'http_requests_in_hand')) > 0);
    const callers = Array.from({ length: 8 }, () => connectUntilRefused(served.url));
    served.child.kill('SIGTERM');
    await eventually(async () => (await get(`${served.url}/readyz`).catch(() => 503)) === 503);
    // all are closed, though the request goes on
    const ends = await Promise.all(callers);
    // the system resets a connection that it accepts in the moment that the port closes
    expect(ends.filter((end) => end !== 'ECONNREFUSED').length).toBeLessThan(4);
    sent.end(body.slice(5));
    const [response] = await answered;
    response.resume();
    expect(response.statusCode).toBe(200);
    expect(await served.end).toMatchObject({ code: 0 });
    expect(workers.filter(isAlive)).toEqual([]);
  });
});

/** Requests on a connection each, one after the other, until one is not answered; returns its error. */
async function connectUntilRefused(url: string): Promise<string> {
  for (;;) {
    try {
      await get(`${url}/livez`);
    } catch (error) {
      return String(((error as Error).cause as NodeJS.ErrnoException | undefined)?.code);
    }
  }
}

test('above MAX_CONNECTIONS a connection is closed and counted, and the next one gets the place of one that ended', async () => {
  const { url, adminUrl: admin, stop } = await start({ ADMIN_PORT: '0', MAX_CONNECTIONS: '4' });
  await eventually(async () => (await countOfWorkers({ url: admin })) === 2, START);
  const dropped = async (): Promise<number> => sumOf(await metric(admin, 'http_connections_dropped_total'));
  let sockets: Socket[] = [];
  /** Opens connections until each worker has its two, whichever gets the next. */
  const fill = () =>
    eventually(async () => {
      sockets = sockets.filter(({ closed }) => !closed);
      while (sockets.length < 4) sockets.push((await openWire(url)).socket.resume());
      return String(await metric(admin, 'http_connections')) === '2,2';
    });
  await fill();
  const before = await dropped();
  await once((await openWire(url)).socket.resume(), 'close');
  expect(await dropped()).toBe(before + 1);
  for (const socket of sockets.slice(1)) socket.destroy();
  await eventually(async () => String((await metric(admin, 'http_connections')).sort()) === '0,1');
  await fill();
  for (const socket of sockets) socket.destroy();
  expect(await stop()).toMatchObject({ code: 0 });
});

test('workers exit by themselves if their parent process is killed', async () => {
  const served = await start();
  const workers = childrenOf(served);
  served.child.kill('SIGKILL');
  await eventually(() => !workers.some(isAlive));
});

test('with ADMIN_PORT, the health and metrics of all workers are on that port, also after all were killed', async () => {
  // no other program gets these while no worker listens
  const [PORT, ADMIN_PORT] = [String(await freePort()), String(await freePort())];
  const { url, adminUrl: admin, child, stop } = await start({ PORT, ADMIN_PORT });
  expect([url, admin].map((one) => new URL(one).port)).toEqual([PORT, ADMIN_PORT]);
  expect([await get(`${url}/api/v1/products`), await get(`${admin}/readyz`)]).toEqual([401, 200]);
  expect(await get(`${url}/metrics`)).toBe(404);
  await eventually(async () => (await countOfWorkers({ url: admin })) === 2, START);
  for (const pid of childrenOf({ child })) process.kill(pid, 'SIGKILL');
  // at the same ports
  const again = async (): Promise<boolean> => (await countOfWorkers({ url: admin }).catch(() => 0)) === 2;
  await eventually(async () => !(await again()));
  await eventually(again, START);
  expect(await get(`${url}/api/v1/products`)).toBe(401);
  expect(await stop()).toMatchObject({ code: 0 });
});

/** Opens connections, each with a request; the promises are of the first bytes of their answers. */
async function requests(url: string, count: number): Promise<Promise<string>[]> {
  const wires = await Promise.all(Array.from({ length: count }, () => openWire(url)));
  return wires.map(async ({ send, whole }) => {
    send(`${head('GET /livez', 'Connection: close')}\r\n`);
    return (await whole()).slice(0, 12);
  });
}

test('connections that a worker has not got when it is killed go to another', async () => {
  const served = await start();
  const [killed, other] = childrenOf(served) as [number, number];
  for (const pid of [killed, other]) process.kill(pid, 'SIGSTOP');
  const answers = await requests(served.url, 16);
  process.kill(killed, 'SIGKILL');
  process.kill(other, 'SIGCONT');
  // one at a time is on its way to each worker
  const answered = (await Promise.all(answers)).filter((answer) => answer === 'HTTP/1.1 200');
  expect(answered.length).toBeGreaterThanOrEqual(15);
  expect(await served.stop()).toMatchObject({ code: 0 });
});

test('SIGTERM lets the connections that wait to be accepted be answered', async () => {
  const served = await start();
  served.child.kill('SIGSTOP');
  const answers = await requests(served.url, 400);
  served.child.kill('SIGTERM');
  served.child.kill('SIGCONT');
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['HTTP/1.1 200']));
  expect(await served.end).toMatchObject({ code: 0 });
});
