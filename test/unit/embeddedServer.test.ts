import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mongoose from 'mongoose';
import { runCommand } from '../../src/embedded/candidates';
import { isAlive, spawnGuarded, waitUntilGone, WATCHDOG_SOURCE } from '../../src/embedded/process';
import { type Commands, formReplicaSet, startServer } from '../../src/embedded/server';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scopegate-server-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const FOREVER = 'setInterval(() => {}, 1000)';
const node = (source: string): { command: string; args: string[]; logFile: string } => ({
  command: process.execPath,
  args: ['-e', source],
  logFile: join(folder, 'log'),
});

describe('a guarded process', () => {
  test('exits when its parent is killed with SIGKILL', async () => {
    const { command, args } = node(FOREVER);
    const order = JSON.stringify({ command, args, graceMs: 1_000 });
    const parent = spawn(process.execPath, [
      '-e',
      `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(WATCHDOG_SOURCE)}, ${JSON.stringify(order)}],
         { detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }).on('message', (said) => console.log(JSON.stringify(said))); ${FOREVER}`,
    ]);
    const [said] = (await once(parent.stdout, 'data')) as [Buffer];
    const { pid } = JSON.parse(said.toString()) as { pid: number };
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    expect(await waitUntilGone(pid, 30_000)).toBe(true);
  });

  test('that ignores SIGTERM is killed after the grace period', async () => {
    const child = await spawnGuarded({
      ...node(`process.on('SIGTERM', () => {}); console.log('up'); ${FOREVER}`),
      graceMs: 200,
    });
    while (!(await readFile(join(folder, 'log'), 'utf8')).includes('up'))
      await new Promise((resolve) => setTimeout(resolve, 10));
    await child.stop();
    expect(isAlive(child.pid)).toBe(false);
    expect((await child.exited).text).toBe('ended by SIGKILL');
  });

  test('is gone once it was stopped, even if its watchdog was killed and it ignores SIGTERM', async () => {
    const child = await spawnGuarded({
      ...node(`process.on('SIGTERM', () => {}); console.log(process.ppid); ${FOREVER}`),
      graceMs: 200,
    });
    let watchdog = 0;
    while (watchdog === 0) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      watchdog = Number(await readFile(join(folder, 'log'), 'utf8'));
    }
    process.kill(watchdog, 'SIGKILL');
    await child.stop();
    expect(await waitUntilGone(child.pid, 30_000)).toBe(true);
    expect((await child.exited).text).toBe('its watchdog was killed');
  });

  test('whose log cannot be opened is an error with the file', async () => {
    const logFile = join(folder, 'none', 'log');
    await expect(spawnGuarded({ ...node(FOREVER), logFile })).rejects.toThrow(logFile);
  });

  test('that cannot be run is an error with its name', async () => {
    await expect(
      spawnGuarded({ command: '/nonexistent/mongod', args: [], logFile: join(folder, 'log') }),
    ).rejects.toThrow('/nonexistent/mongod cannot be run');
  });

  test('that exits at once counts as started', async () => {
    const over = { command: '/bin/sh', args: ['-c', 'exit 3'], logFile: join(folder, 'log') };
    const exits = await Promise.all(Array.from({ length: 8 }, async () => (await spawnGuarded(over)).exited));
    expect(exits).toEqual(exits.map(() => ({ code: 3, text: 'exit code 3' })));
  });
});

test('a command that is asked ends when the signal aborts, or after its time', async () => {
  const { command, args } = node(FOREVER);
  const asked = runCommand(command, args, { signal: AbortSignal.timeout(200), timeout: 0 });
  await expect(asked).rejects.toThrow(/timeout|abort/i);
  await expect(runCommand(command, args, { timeout: 200 })).rejects.toThrow('did not answer within 0.2 s');
});

test('a server that fails to start is reported with the end of its log; the folder of its files is for their owner alone', async () => {
  // as earlier versions made it
  await mkdir(join(folder, 'mongod'), { mode: 0o755 });
  const options = { DATA_DIR: folder, CACHE_DIR: folder, report: () => undefined };
  const command = join(folder, 'broken');
  await writeFile(command, '#!/bin/sh\necho "disk is full"; exit 14\n', { mode: 0o755 });
  const program = { kind: 'binary', program: 'mongod', version: '8', storage: 'mongod', command } as const;
  await expect(startServer(program, options)).rejects.toThrow(
    /did not start \(exit code 14\).*mongod\.log ends with:\ndisk is full/s,
  );
  expect((await stat(join(folder, 'mongod'))).mode & 0o777).toBe(0o700);
});

describe('a mongod becomes a one-member replica set', () => {
  const HERE = '127.0.0.1:1';
  const AGAIN = ['replSetGetConfig', 'hello'];
  const setOf = (host: string) => ({ _id: 'rs0', version: 3, term: 2, members: [{ _id: 0, host, votes: 1 }] });

  /** A fake mongod: `config` is on its disk, and it has read that from the second question on. It is primary at the second look. */
  function mongod(state: { config?: Record<string, unknown> }): Commands & { sent: string[] } {
    const sent: string[] = [];
    const isAgain = (name: string): boolean => sent.filter((other) => other === name).length > 1;
    const refuse = (code: number) => Promise.reject(new mongoose.mongo.MongoServerError({ message: 'refused', code }));
    return {
      sent,
      command: (command) => {
        const name = Object.keys(command)[0] ?? '';
        sent.push(name);
        if (name === 'hello') return Promise.resolve({ isWritablePrimary: isAgain(name) });
        if (name === 'replSetGetConfig')
          return state.config && isAgain(name) ? Promise.resolve({ config: state.config }) : refuse(94);
        if (name === 'replSetInitiate' && state.config) return refuse(23);
        state.config = command[name] as Record<string, unknown>;
        return Promise.resolve({ ok: 1 });
      },
    };
  }

  test.each([
    [
      'that is initiated on the first start, and primary before it is used',
      undefined,
      { _id: 'rs0', members: [{ _id: 0, host: HERE }] },
      ['replSetGetConfig', 'replSetInitiate', ...AGAIN, ...AGAIN],
    ],
    [
      'that is unchanged on the same port, even while it is still reading its configuration',
      setOf(HERE),
      setOf(HERE),
      ['replSetGetConfig', 'replSetInitiate', ...AGAIN, ...AGAIN],
    ],
    [
      'that is reconfigured if its port has changed',
      setOf('127.0.0.1:2'),
      { ...setOf(HERE), version: 4 },
      ['replSetGetConfig', 'replSetInitiate', 'replSetGetConfig', 'replSetReconfig', ...AGAIN, ...AGAIN],
    ],
  ])('%s', async (_title, config, expected, sent) => {
    const state = config ? { config } : {};
    const server = mongod(state);
    await formReplicaSet(server, 'rs0', HERE);
    expect(state).toEqual({ config: expected });
    expect(server.sent).toEqual(sent);
  });
});
