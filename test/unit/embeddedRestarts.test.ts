import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseDatabase, type EmbeddedOptions, type Means } from '../../src/embedded';
import { uriOf } from '../../src/embedded/server';
import { type Candidate, type ServerRecord, Unusable } from '../../src/embedded/types';
import { eventually } from '../api/http/eventually';

/** The process that answers at any address: this one, which the fake servers run in. */
let answering = process.pid;
let identified = 0;
jest.mock('../../src/embedded/server', () => ({
  ...jest.requireActual<object>('../../src/embedded/server'),
  identify: () => {
    identified += 1;
    return Promise.resolve(answering);
  },
}));

let dataDir: string;
let lines: string[];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'scopegate-restarts-'));
  lines = [];
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const options = (): EmbeddedOptions => ({
  DATA_DIR: dataDir,
  CACHE_DIR: join(dataDir, 'cache'),
  report: (line) => lines.push(line),
});

const candidate: Candidate = {
  kind: 'binary',
  title: 'link binary',
  find: () =>
    Promise.resolve({ kind: 'binary', program: 'mongod', version: '1.0', command: '/opt/binary', storage: 'binary' }),
};

const memory = (): Promise<string> => readFile(join(dataDir, 'database.json'), 'utf8');

describe('a server that ends by itself', () => {
  type End = Awaited<Awaited<ReturnType<Means['start']>>['exited']>;

  /** A chain whose servers end when they are told to, and which cannot be started while it is broken. */
  function mortal(pauses: readonly number[]) {
    const ends: ((end: End) => void)[] = [];
    const state = { isBroken: false, port: 4711 };
    const means: Means = {
      candidates: [candidate],
      pauses,
      start: (program) => {
        if (state.isBroken) return Promise.reject(new Unusable('the disk is full'));
        const exited = new Promise<End>((resolve) => void ends.push(resolve));
        const { port } = state;
        const stop = (): Promise<void> => {
          ends.at(-1)!({ code: null, text: 'stopped' });
          return Promise.resolve();
        };
        return Promise.resolve({ uri: uriOf({ ...program, port }), pid: process.pid, port, exited, stop });
      },
    };
    return { means, ends, state };
  }

  const said = (words: string): Promise<boolean> => eventually(() => lines.some((line) => line.includes(words)));

  test('is started again, with a line that says why, and then stopped on purpose', async () => {
    const { means, ends } = mortal([0]);
    const database = await chooseDatabase(options(), means);
    ends[0]!({ code: null, text: 'ended by SIGKILL' });
    await said('the server is running again');
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^database: the server ended unexpectedly \(ended by SIGKILL\); starting it again in 0 s; see .*\.log$/,
      ),
    );
    await database.stop();
    expect(ends).toHaveLength(2);
    expect(lines.filter((line) => line.includes('unexpectedly'))).toHaveLength(1);
  });

  test('is started again once that of another process has ended, whose record a stop leaves as it is', async () => {
    const other = spawn('sleep', ['60']);
    try {
      /** Has a server end while that of another process runs, and waits until it was looked for twice. */
      const lose = async () => {
        const { means, ends } = mortal([0]);
        answering = process.pid;
        const database = await chooseDatabase(options(), means);
        const record = JSON.parse(await memory()) as ServerRecord;
        const taken = JSON.stringify({ ...record, running: { serverPid: other.pid, ownerPid: process.pid } });
        await writeFile(join(dataDir, 'database.json'), taken);
        answering = other.pid!;
        identified = 0;
        ends[0]!({ code: null, text: 'ended by SIGKILL' });
        await eventually(() => identified > 1);
        expect(ends).toHaveLength(1);
        return { database, ends, taken, record };
      };
      const { database: stopped, taken, record } = await lose();
      await stopped.stop();
      expect(await memory()).toBe(taken);
      await writeFile(join(dataDir, 'database.json'), JSON.stringify({ ...record, running: undefined }));
      const { database, ends } = await lose();
      other.kill();
      await said('the server is running again');
      await database.stop();
      expect(ends).toHaveLength(2);
    } finally {
      other.kill();
      answering = process.pid;
    }
  });

  test('is given up after so many attempts, and not started at another port', async () => {
    const { means, ends, state } = mortal([0, 0]);
    const database = await chooseDatabase(options(), means);
    state.isBroken = true;
    ends[0]!({ code: 14, text: 'exit code 14' });
    await said('(the disk is full) and was started again in vain (attempts: 2); mend the cause, then restart');
    await database.stop();

    const other = mortal([0]);
    const next = await chooseDatabase(options(), other.means);
    other.state.port = 4712;
    other.ends[0]!({ code: 14, text: 'exit code 14' });
    await said('(port 4711 is taken) and was started again in vain (attempts: 1)');
    await next.stop();
  });
});
