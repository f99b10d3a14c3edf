import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseDatabase, type Database } from '../../src/database/embedded';
import { buildProgram } from './built';

declare global {
  var testDatabase: Database | undefined;
  /** Where the database keeps its data. */
  var testFolder: string | undefined;
}

/** Starts one database for the whole run, as the demo does; TEST_MONGODB_URI or MONGOD_BINARY select another. */
export default async function globalSetup(): Promise<void> {
  const { TEST_MONGODB_URI, MONGOD_BINARY, PATH } = process.env;
  await buildProgram();
  process.stderr.write('starting the test database\n');
  const folder = await mkdtemp(join(tmpdir(), 'scopegate-test-'));
  globalThis.testFolder = folder;
  const database = await chooseDatabase({
    MONGODB_URI: TEST_MONGODB_URI,
    MONGOD_BINARY,
    DATA_DIR: folder,
    CACHE_DIR: join(__dirname, '..', '..', '.cache'),
    PATH: PATH ?? '',
    report: (line) => process.stderr.write(`${line}\n`),
  });
  globalThis.testDatabase = database;
  process.env.TEST_MONGODB_URI = database.uri;
  if (database.kind === 'secantusdb') process.env.TEST_TURN = join(folder, 'turn');
  process.env.WRITTEN_ANSWERS = join(folder, 'written-answers');
}
