import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseUnavailable, chooseDatabase, type EmbeddedOptions, type Means } from '../../src/embedded';
import { CANDIDATES } from '../../src/embedded/candidates';
import { uriOf } from '../../src/embedded/server';
import { type Candidate, type Program, type ServerRecord, Unusable } from '../../src/embedded/types';

/** The process that answers at any address: this one, which the fake servers run in. */
let answering = process.pid;
jest.mock('../../src/embedded/server', () => ({
  ...jest.requireActual<object>('../../src/embedded/server'),
  identify: () => Promise.resolve(answering),
}));

let dataDir: string;
let lines: string[];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'scopegate-choice-'));
  lines = [];
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const options = (more: Partial<EmbeddedOptions> = {}): EmbeddedOptions => ({
  DATA_DIR: dataDir,
  CACHE_DIR: join(dataDir, 'cache'),
  report: (line) => lines.push(line),
  ...more,
});

type LocalKind = Program['kind'];

const PROGRAMS: Record<LocalKind, Program['program']> = {
  binary: 'mongod',
  'memory-server': 'mongod',
  secantusdb: 'secantusd-py',
};

const programOf = (kind: LocalKind, program = PROGRAMS[kind]): Program => ({
  kind,
  program,
  version: '1.0',
  command: `/opt/${kind}`,
  storage: kind,
});

function works(kind: LocalKind, program?: Program['program']): Candidate & { asked: number } {
  const candidate = {
    kind,
    title: `link ${kind}`,
    asked: 0,
    find: () => {
      candidate.asked += 1;
      return Promise.resolve(programOf(kind, program));
    },
  };
  return candidate;
}

const fails = (kind: LocalKind, reason: string): Candidate => ({
  kind,
  title: `link ${kind}`,
  find: () => Promise.reject(new Unusable(reason)),
});

interface FakeMeans extends Means {
  readonly started: { kind: LocalKind; preferredPort: number | undefined }[];
  readonly stops: LocalKind[];
}

function chainOf(candidates: Candidate[], broken: LocalKind[] = []): FakeMeans {
  const started: FakeMeans['started'] = [];
  const stops: LocalKind[] = [];
  return {
    candidates,
    started,
    stops,
    start: (program, _options, preferredPort) => {
      const { kind } = program;
      if (broken.includes(kind)) return Promise.reject(new Unusable(`${kind} fell over`));
      started.push({ kind, preferredPort });
      const stop = (): Promise<void> => Promise.resolve(void stops.push(kind));
      const exited = new Promise<never>(() => undefined);
      return Promise.resolve({ uri: uriOf({ ...program, port: 4711 }), pid: process.pid, port: 4711, exited, stop });
    },
  };
}

/** Starts and stops once, so that the choice is saved. */
async function once(chain: Means, more: Partial<EmbeddedOptions> = {}): Promise<string> {
  const database = await chooseDatabase(options(more), chain);
  await database.stop();
  return database.kind;
}

async function refusal(chain: Means, more: Partial<EmbeddedOptions> = {}): Promise<string> {
  const error: unknown = await chooseDatabase(options(more), chain).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(DatabaseUnavailable);
  return (error as Error).message;
}

test('a new folder for the data, and the record of what was started, are for their owner alone', async () => {
  const DATA_DIR = join(dataDir, 'new');
  await once(chainOf([works('binary')]), { DATA_DIR });
  expect((await stat(DATA_DIR)).mode & 0o777).toBe(0o700);
  expect((await stat(join(DATA_DIR, 'database.json'))).mode & 0o077).toBe(0);
});

test('a folder for the data that cannot be made is named, with its variable', async () => {
  const DATA_DIR = join(process.execPath, 'data');
  expect(await refusal(chainOf([works('binary')]), { DATA_DIR })).toContain(
    `DATA_DIR: ${DATA_DIR} cannot be made (ENOTDIR`,
  );
});

const memory = (): Promise<string> => readFile(join(dataDir, 'database.json'), 'utf8');

test.each([
  ['mongod', false],
  ['secantusd-rs', true],
  ['secantusd-py', true],
] as const)('%s: whether it stands in for MongoDB is known: %s', async (program, expected) => {
  const database = await chooseDatabase(options(), chainOf([works('binary', program)]));
  expect(database.isStandIn).toBe(expected);
  await database.stop();
});

test('MONGODB_URI is used unchanged, starts nothing, and its password is never shown', async () => {
  const chain = chainOf([works('binary')]);
  const MONGODB_URI = 'mongodb://ada:s3cret@db.example:27017,db2.example/?replicaSet=rs0';
  const database = await chooseDatabase(options({ MONGODB_URI }), chain);
  await database.stop();
  expect(database).toMatchObject({ uri: MONGODB_URI, kind: 'uri', isStandIn: false });
  expect(chain.started).toEqual([]);
  expect(`${database.description} ${lines.join(' ')}`).toContain('db.example:27017,db2.example');
  expect(`${database.description} ${lines.join(' ')}`).not.toMatch(/ada|s3cret/);
});

test('the first link that works is used, and later ones are not tried', async () => {
  const last = works('secantusdb');
  expect(await once(chainOf([fails('binary', 'none'), works('memory-server'), last]))).toBe('memory-server');
  expect(last.asked).toBe(0);
});

test('if a server fails to start, the reason is printed and the next link is tried', async () => {
  expect(await once(chainOf([works('binary'), works('secantusdb')], ['binary']))).toBe('secantusdb');
  expect(lines).toContain('database: link binary: binary fell over; trying link secantusdb instead');
});

test('if nothing works, one error lists every link with its reason and what to do', async () => {
  const chain = chainOf(
    [fails('binary', 'none on PATH'), works('memory-server'), fails('secantusdb', 'no Python')],
    ['memory-server'],
  );
  const message = await refusal(chain);
  expect(message).toMatch(
    /1\. MONGODB_URI: not set\n.*2\. link binary: none on PATH\n.*3\. link memory-server: memory-server fell over\n.*4\. link secantusdb: no Python/,
  );
  expect(message).toMatch(/set MONGODB_URI .*install mongod .*Python 3\.10/s);
  expect(existsSync(join(dataDir, 'database.json'))).toBe(false);
});

test('the first start says that it created a database and how to use an existing one, and later starts do not', async () => {
  const created = `database: created in ${dataDir}, which had none; to use an existing one, set DATA_DIR or MONGODB_URI`;
  const chain = chainOf([works('binary')]);
  await once(chain);
  expect(lines).toContain(created);
  lines.length = 0;
  await once(chain);
  expect(lines).not.toContain(created);
});

test('the next start uses the server that created the data, on the same port', async () => {
  await once(chainOf([fails('binary', 'none'), works('secantusdb')]));
  const earlier = works('binary');
  const chain = chainOf([earlier, works('secantusdb')]);
  expect(await once(chain)).toBe('secantusdb');
  expect(earlier.asked).toBe(0);
  expect(chain.started).toEqual([{ kind: 'secantusdb', preferredPort: 4711 }]);
});

test('if the saved server is missing, the error says where the data are, and no empty database is started', async () => {
  await once(chainOf([works('secantusdb')]));
  const chain = chainOf([works('binary'), fails('secantusdb', 'no Python')]);
  const message = await refusal(chain);
  expect(chain.started).toEqual([]);
  expect(message).toContain(`${dataDir}/secantusdb was created with secantusd-py 1.0`);
  expect(message).toContain('no Python');
  expect(message).toContain(`delete ${join(dataDir, 'database.json')}`);
});

test('MONGOD_BINARY never opens data of another program', async () => {
  await once(chainOf([works('secantusdb')]));
  expect(await refusal(chainOf([works('binary'), works('secantusdb')]), { MONGOD_BINARY: '/opt/mongod' })).toContain(
    'Leave MONGOD_BINARY unset',
  );
  await rm(join(dataDir, 'database.json'));
  await once(chainOf([works('binary', 'secantusd-rs')]), { MONGOD_BINARY: '/opt/secantusd-rs' });
  expect(await refusal(chainOf([works('binary', 'mongod')]), { MONGOD_BINARY: '/opt/mongod' })).toContain(
    'created with secantusd-rs',
  );
});

test('if MONGOD_BINARY fails to start, that is an error and nothing else is tried', async () => {
  const other = works('secantusdb');
  const message = await refusal(chainOf([works('binary'), other], ['binary']), { MONGOD_BINARY: '/opt/mongod' });
  expect(message).toContain('MONGOD_BINARY is /opt/mongod');
  expect(message).toContain('binary fell over');
  expect(other.asked).toBe(0);
});

test.each([
  ['does not exist', '/nonexistent/mongod', /cannot be used: is not there/],
  ['is not on PATH', 'mongod-of-nobody', /cannot be used: is not there/],
  ['is not a database', process.execPath, /neither mongod nor secantusd-rs/],
])('a MONGOD_BINARY that %s is rejected with one line', async (_case, MONGOD_BINARY, reason) => {
  const message = await refusal(chainOf([CANDIDATES[0]!, works('secantusdb')]), { MONGOD_BINARY });
  expect(message).toMatch(reason);
  expect(message).not.toContain('\n');
});

test('MONGODB_URI does not change the saved choice', async () => {
  await once(chainOf([works('secantusdb')]));
  const before = await memory();
  await once(chainOf([works('binary')]), { MONGODB_URI: 'mongodb://db.example/' });
  expect(await memory()).toBe(before);
});

test('a saved choice that cannot be read is an error', async () => {
  await writeFile(join(dataDir, 'database.json'), '{"kind":"oracle"}');
  expect(await refusal(chainOf([works('binary')]))).toContain('cannot be read');
});

test('of two concurrent starts one starts the server, the other joins it, and only the first can stop it', async () => {
  const chain = chainOf([works('binary')]);
  const both = await Promise.all([chooseDatabase(options(), chain), chooseDatabase(options(), chain)]);
  expect(chain.started).toHaveLength(1);
  expect(both[0].uri).toBe(both[1].uri);
  await both.find(({ description }) => description.includes('already running'))?.stop();
  expect(chain.stops).toEqual([]);
  await Promise.all(both.map((database) => database.stop()));
  expect(chain.stops).toEqual(['binary']);
});

test('a running server is joined only if it is the recorded process that answers, its owner lives, and it is not stopping', async () => {
  const database = await chooseDatabase(options(), chainOf([works('binary')]));
  await database.stop();
  const record = JSON.parse(await memory()) as ServerRecord;
  expect(record.running).toBeUndefined();
  const [server, dead] = [spawn('sleep', ['60']), spawnSync('true').pid];
  const isJoined = async (running: object, answers = server.pid!): Promise<boolean> => {
    answering = answers;
    const others = { serverPid: server.pid, ownerPid: process.pid };
    await writeFile(join(dataDir, 'database.json'), JSON.stringify({ ...record, running: { ...others, ...running } }));
    const chain = chainOf([works('binary')]);
    // one that is not joined is waited for
    const joined = chooseDatabase(options({ signal: AbortSignal.timeout(200) }), chain);
    return joined.then(() => chain.started.length === 0).catch(() => false);
  };
  try {
    expect(await isJoined({})).toBe(true);
    expect(await isJoined({}, process.pid)).toBe(false);
    expect(await isJoined({ ownerPid: dead })).toBe(false);
    expect(await isJoined({ ownerPid: undefined })).toBe(false);
    expect(await isJoined({ serverPid: dead })).toBe(false);
  } finally {
    server.kill();
    answering = process.pid;
  }
});

test('stop ends the server once, however often it is called', async () => {
  const chain = chainOf([works('binary')]);
  const database = await chooseDatabase(options(), chain);
  await Promise.all([database.stop(), database.stop()]);
  expect(chain.stops).toEqual(['binary']);
  expect(existsSync(join(dataDir, 'database.lock'))).toBe(false);
});

test('an aborted start starts nothing', async () => {
  const chain = chainOf([works('binary')]);
  await expect(chooseDatabase(options({ signal: AbortSignal.abort() }), chain)).rejects.toThrow(/abort/i);
  expect(chain.started).toEqual([]);
});
