import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import fs, { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import mongoose from 'mongoose';
import { chooseDatabase } from '../../src/database/embedded';
import { withLock } from '../../src/database/embedded/lock';
import { announce, clearStale, findRunning } from '../../src/database/embedded/runFile';
import type { Chain, EmbeddedOptions } from '../../src/database/embedded/types';

const { BSON } = mongoose.mongo;

let dataDir: string;
const servers: FakeMongo[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'scopegate-run-'));
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  await rm(dataDir, { recursive: true, force: true });
});

interface FakeMongo {
  readonly uri: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Answers hello, ping and serverStatus like a one-member replica set with this process id. */
async function fakeMongo(pid = process.pid): Promise<FakeMongo> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    let received = Buffer.alloc(0);
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        received = Buffer.concat([received, chunk]);
        while (received.length >= 4 && received.length >= received.readInt32LE(0)) {
          const length = received.readInt32LE(0);
          socket.write(reply(received.subarray(0, length), pid));
          received = received.subarray(length);
        }
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address && typeof address === 'object' ? address.port : 0;
  const fake = {
    port,
    uri: `mongodb://127.0.0.1:${String(port)}/?directConnection=true`,
    close: () =>
      new Promise<void>((resolve) => {
        sockets.forEach((socket) => socket.destroy());
        server.close(() => {
          resolve();
        });
      }),
  };
  servers.push(fake);
  return fake;
}

const OP_QUERY = 2004;

function reply(request: Buffer, pid: number): Buffer {
  const old = request.readInt32LE(12) === OP_QUERY;
  const body = BSON.serialize({
    ...{ ok: 1, pid, ismaster: true, isWritablePrimary: true, helloOk: true, setName: 'rs0', hosts: ['127.0.0.1'] },
    ...{
      minWireVersion: 0,
      maxWireVersion: 25,
      maxBsonObjectSize: 16777216,
      maxMessageSizeBytes: 48000000,
      maxWriteBatchSize: 100000,
    },
  });
  const preamble = old ? Buffer.alloc(20) : Buffer.alloc(5);
  if (old) preamble.writeInt32LE(1, 16);
  const head = Buffer.alloc(16);
  head.writeInt32LE(16 + preamble.length + body.length, 0);
  head.writeInt32LE(request.readInt32LE(4), 8);
  head.writeInt32LE(old ? 1 : 2013, 12);
  return Buffer.concat([head, preamble, body]);
}

/** The id of a process that has exited. */
const deadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid;

const runFile = (): string => join(dataDir, 'database.run.json');

const changeRecord = async (change: Record<string, unknown>): Promise<void> =>
  writeFile(runFile(), JSON.stringify({ ...(JSON.parse(await readFile(runFile(), 'utf8')) as object), ...change }));

const options = (lines: string[] = []): EmbeddedOptions => ({
  DATA_DIR: dataDir,
  CACHE_DIR: dataDir,
  PATH: '',
  report: (line) => lines.push(line),
});

function chainTo(fake: FakeMongo): Chain & { starts: number; stops: number } {
  const chain: Chain & { starts: number; stops: number } = {
    starts: 0,
    stops: 0,
    links: [
      {
        kind: 'secantusdb',
        title: 'fake',
        offer: () =>
          Promise.resolve({
            ...{ kind: 'secantusdb', program: 'secantusd-py', version: '1', title: 'fake', command: 'fake' },
            ...{ storage: 'fake', replicaSet: 'rs0', args: () => [] },
          }),
      },
    ],
    start: async () => {
      chain.starts += 1;
      await new Promise((resolve) => setTimeout(resolve, 100));
      const stop = (): Promise<void> => Promise.resolve(void (chain.stops += 1));
      return { uri: fake.uri, pid: process.pid, port: fake.port, exited: new Promise<never>(() => undefined), stop };
    },
  };
  return chain;
}

describe('the run file', () => {
  const server = (fake: FakeMongo) =>
    ({ serverPid: process.pid, kind: 'secantusdb', uri: fake.uri, description: 'fake' }) as const;

  test('of two concurrent starts one starts the server, the other joins it, and only the first can stop it', async () => {
    const chain = chainTo(await fakeMongo());
    const lines: string[] = [];
    const both = await Promise.all([chooseDatabase(options(lines), chain), chooseDatabase(options(lines), chain)]);
    expect(chain.starts).toBe(1);
    expect(both[0].uri).toBe(both[1].uri);
    const joined = both.find(({ description }) => description.includes('already running'));
    await joined?.stop();
    expect(chain.stops).toBe(0);
    await Promise.all(both.map((database) => database.stop()));
    expect(chain.stops).toBe(1);
  });

  test('a running server is joined only if its process id matches the recorded one', async () => {
    await announce(dataDir, server(await fakeMongo()));
    expect(await findRunning(dataDir)).toMatchObject({ serverPid: process.pid });
    await changeRecord({ uri: (await fakeMongo(process.pid + 1)).uri });
    expect(await findRunning(dataDir)).toBeUndefined();
  });

  test('a server that is stopping, or whose owner is dead, is not joined', async () => {
    const run = await announce(dataDir, server(await fakeMongo()));
    await changeRecord({ ownerPid: deadPid() });
    expect(await findRunning(dataDir)).toBeUndefined();
    await changeRecord({ ownerPid: process.pid });
    await run.stopping();
    expect(await findRunning(dataDir)).toBeUndefined();
  });

  test('a stale file of a dead server is removed', async () => {
    await announce(dataDir, server(await fakeMongo()));
    await changeRecord({ serverPid: deadPid() });
    expect(await findRunning(dataDir)).toBeUndefined();
    await clearStale(dataDir);
    expect(existsSync(runFile())).toBe(false);
  });

  test('an incomplete file is ignored and removed', async () => {
    await writeFile(runFile(), '{"state":"runn');
    expect(await findRunning(dataDir)).toBeUndefined();
    await clearStale(dataDir);
    expect(existsSync(runFile())).toBe(false);
  });

  test('an owner removes only its own record', async () => {
    const fake = await fakeMongo();
    const first = await announce(dataDir, server(fake));
    await announce(dataDir, server(fake));
    await first.remove();
    expect(await findRunning(dataDir)).toBeDefined();
  });
});

describe('the start lock', () => {
  const lock = (): string => join(dataDir, 'database.lock');

  test('is never held twice', async () => {
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setTimeout(resolve, 20));
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 6 }, () => withLock(lock(), work)));
    expect(most).toBe(1);
    expect(existsSync(lock())).toBe(false);
  });

  test('is taken immediately from a dead holder', async () => {
    await writeFile(lock(), JSON.stringify({ pid: deadPid(), host: hostname(), token: 'old' }));
    expect(await withLock(lock(), () => Promise.resolve('in'))).toBe('in');
  });

  test('is taken from a holder on another machine once that is silent', async () => {
    await writeFile(lock(), JSON.stringify({ pid: 1, host: 'elsewhere', token: 'old' }));
    const waitedFor: (number | undefined)[] = [];
    const since = performance.now();
    await withLock(lock(), () => Promise.resolve(), { silentMs: 200, onWait: (pid) => waitedFor.push(pid) });
    expect(performance.now() - since).toBeGreaterThanOrEqual(190);
    expect(waitedFor).toEqual([1]);
  });

  test('that was taken from a live holder by mistake goes back, but never over that of another', async () => {
    await writeFile(lock(), JSON.stringify({ pid: deadPid(), host: hostname(), token: 'old' }));
    const held = (token: string): string => JSON.stringify({ pid: process.pid, host: hostname(), token });
    const rename = fs.rename.bind(fs);
    // between the look at the dead holder and the renaming another one takes the lock, and after the renaming a third
    const renaming = jest.spyOn(fs, 'rename').mockImplementationOnce(async (from, to) => {
      await writeFile(lock(), held('second'));
      await rename(from, to);
      await writeFile(lock(), held('third'));
    });
    const signal = AbortSignal.timeout(100);
    await expect(withLock(lock(), () => Promise.resolve(), { signal })).rejects.toThrow(/timeout|abort/i);
    renaming.mockRestore();
    expect(await readFile(lock(), 'utf8')).toBe(held('third'));
    expect((await readdir(dataDir)).filter((file) => file.startsWith('database.lock.'))).toEqual([]);
  });

  test('is released after a failed start', async () => {
    await expect(withLock(lock(), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(existsSync(lock())).toBe(false);
  });

  test('waiting ends when the signal aborts', async () => {
    await writeFile(lock(), JSON.stringify({ pid: process.pid, host: hostname(), token: 'held' }));
    const signal = AbortSignal.timeout(100);
    await expect(withLock(lock(), () => Promise.resolve(), { signal })).rejects.toThrow(/timeout|abort/i);
  });
});
