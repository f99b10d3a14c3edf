import { mkdir, mkdtemp, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseDatabase, type Database, recordOf } from '../../src/embedded';
import { isAlive } from '../../src/embedded/process';
import { buildProgram } from './built';

declare global {
  var testDatabases: readonly Database[] | undefined;
  /** Everything that the run leaves on disk. */
  var testFolder: string | undefined;
}

const PREFIX = 'scopegate-test-';
/** The most that a run needs, with some to spare, in bytes. */
const ROOM = 4 * 1024 ** 3;
/** More than any test waits for. With a log of all tests of a worker, those of events took most of their time to load it. */
const LOG_ENTRIES = 5000;

/**
 * Starts one database for each worker, as the demo does, so that files do not wait for each other's; TEST_MONGODB_URI selects one that is
 * running, for all, and MONGOD_BINARY another program. environment.js gives each worker its own. Whatever tests leave in the
 * folder for temporary files goes with the run's own.
 */
export default async function globalSetup({ maxWorkers }: { readonly maxWorkers: number }): Promise<void> {
  const { TEST_MONGODB_URI, MONGOD_BINARY } = process.env;
  const folder = await runFolder();
  globalThis.testFolder = folder;
  await mkdir((process.env.TMPDIR = join(folder, 'tmp')));
  await buildProgram();
  process.stderr.write('starting the test databases\n');
  const dataOf = (worker: number): string => join(folder, String(worker));
  const start = (worker: number): Promise<Database> =>
    chooseDatabase({
      MONGODB_URI: TEST_MONGODB_URI,
      MONGOD_BINARY,
      DATA_DIR: dataOf(worker),
      logEntries: LOG_ENTRIES,
      CACHE_DIR: join(__dirname, '..', '..', '.cache'),
      report: (line) => {
        if (worker === 1) process.stderr.write(`${line}\n`);
      },
    });
  const first = await start(1);
  const others = Array.from({ length: first.kind === 'uri' ? 0 : maxWorkers - 1 }, async (_, index) => {
    // the same program, without looking for those that the first did not find
    const { running: _running, ...record } = JSON.parse(await readFile(recordOf(dataOf(1)), 'utf8')) as {
      running: object;
    };
    await mkdir(dataOf(index + 2));
    await writeFile(recordOf(dataOf(index + 2)), JSON.stringify(record));
    return start(index + 2);
  });
  globalThis.testDatabases = [first, ...(await Promise.all(others))];
  process.env.TEST_DATABASE = first.kind;
  process.env.TEST_MONGODB_URIS = globalThis.testDatabases.map(({ uri }) => uri).join(' ');
}

/** In memory where there is room, because databases wait for the disk at each write. Removes what killed runs left. */
async function runFolder(): Promise<string> {
  const inMemory = await statfs('/dev/shm').then(
    ({ bavail, bsize }) => bavail * bsize > ROOM,
    () => false,
  );
  const place = inMemory ? '/dev/shm' : tmpdir();
  const left = (await readdir(place)).filter((name) => {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split('-')[0]) : NaN;
    return Number.isInteger(pid) && !isAlive(pid);
  });
  for (const name of left) await rm(join(place, name), { recursive: true, force: true });
  return mkdtemp(join(place, `${PREFIX}${String(process.pid)}-`));
}
