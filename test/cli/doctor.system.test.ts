import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { mongo } from 'mongoose';
import type { Check } from '../../src/cli/doctor/check';
import { settingsForProduction } from '../../src/cli/doctor/production';
import { readConfig } from '../../src/config';
import { databaseName } from '../../src/mongo/databaseNames';
import { openDatabaseProxy } from '../../faults/databaseProxy';
import { resourceOf } from '../../src/resources';
import { eventually } from '../api/http/eventually';
import {
  type CommandLine,
  commandLine,
  type Diagnosis,
  followed,
  makeOrganisation,
  newFolder,
  NORTHWIND,
} from './commandLine';
import { driver, late } from '../support/gateway';
import { grow } from '../support/grown';
import { recordCommands } from '../support/recordedCommands';

const quotes = resourceOf('quotes');

const bare = driver();
const databaseOf = (id: string): mongo.Db => bare.db(databaseName(id));

/** The first records of each of Northwind's files. */
const few = late(async () => {
  const folder = await newFolder();
  for (const file of await readdir(NORTHWIND)) {
    const lines = (await readFile(join(NORTHWIND, file), 'utf8')).split('\n');
    await writeFile(join(folder, file), lines.slice(0, 50).join('\n'));
  }
  return { folder };
});

/** Creates an organisation with data. */
async function makeStocked(cli: CommandLine): Promise<{ id: string }> {
  const { id } = await makeOrganisation(cli);
  await cli.json('import', '--org', id, few.folder);
  return { id };
}

test('doctor checks the database, its replica set and its transactions', async () => {
  const { checks } = await commandLine().json<Diagnosis>('doctor');
  // not every server reports its limit
  const names = checks.map(({ name }) => name).filter((name) => name !== 'transaction limit');
  expect(names).toEqual([
    ...['node', 'environment', 'keys', 'redis', 'database', 'replica set', 'transactions', 'pepper', 'clocks'],
    ...['events', 'control database', 'control schema', 'webhooks', 'moves', 'jobs', 'databases', 'indexes', 'files'],
  ]);
});

describe('doctor --production', () => {
  const outcomesOf = (checks: readonly Check[]): Record<string, string> => {
    const word = ({ ok, fix }: Check): string => (ok ? (fix === undefined ? 'ok' : 'warn') : 'failed');
    const ofProduction = checks.filter(({ name }) => name.startsWith('production: '));
    return Object.fromEntries(ofProduction.map((check) => [check.name.slice('production: '.length), word(check)]));
  };
  const outcomes = async (cli: CommandLine): Promise<Record<string, string>> => {
    const { stdout } = await cli.run('doctor', '--production', '--json');
    return outcomesOf((JSON.parse(stdout) as Diagnosis).checks);
  };
  const COMPLETE = {
    NODE_ENV: 'production',
    KEY_PEPPER: 'a pepper of thirty-two characters',
    PUBLIC_URL: 'https://api.example.com',
    TRUST_PROXY: '1',
    ADMIN_PORT: '4001',
    WEBHOOK_SECRET: 'a master secret of webhooks for tests',
    REDIS_URL: 'redis://127.0.0.1:1',
    INSTANCES: '2',
    MAX_CONNECTIONS: '100',
  };

  test('names what a bare environment lacks, and nothing of a complete one', async () => {
    const bare = { PUBLIC_URL: '', KEY_PEPPER: '', WEBHOOK_SECRET: '', REDIS_URL: '', MAX_CONNECTIONS: '1000000' };
    expect(await outcomes(commandLine(bare))).toMatchObject({
      NODE_ENV: 'failed',
      MONGODB_URI: 'ok',
      KEY_PEPPER: 'failed',
      PUBLIC_URL: 'failed',
      TRUST_PROXY: 'failed',
      HOST: 'ok',
      ADMIN_PORT: 'warn',
      WEBHOOK_SECRET: 'warn',
      REDIS_URL: 'ok',
      'by hand': 'ok',
      'open files': 'failed',
    });
    // the server of the tests has one member, and is young
    const { members, 'log window': _, ...complete } = await outcomes(commandLine(COMPLETE));
    expect(members).toBe('warn');
    expect(complete).toEqual(Object.fromEntries(Object.keys(complete).map((name) => [name, 'ok'])));
  });

  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['http', { PUBLIC_URL: 'http://api.example.com' }, { PUBLIC_URL: 'failed' }],
    ['another host beside a proxy', { HOST: '0.0.0.0' }, { HOST: 'warn' }],
    [
      'operators at the port of callers',
      { ADMIN_PORT: '', OPERATOR_TOKENS: `backend=${'x'.repeat(32)}` },
      { ADMIN_PORT: 'failed' },
    ],
    ['webhooks into private networks', { WEBHOOK_ALLOWED_RANGES: '10.0.0.0/8' }, { WEBHOOK_ALLOWED_RANGES: 'warn' }],
    ['several gateways without Redis', { REDIS_URL: '' }, { REDIS_URL: 'failed' }],
  ])('%s', async (_title, change, expected) => {
    const checks: Check[] = [];
    for await (const check of settingsForProduction(readConfig({ ...COMPLETE, ...change }))) checks.push(check);
    expect(outcomesOf(checks)).toMatchObject(expected);
  });
});

describe('doctor --fix', () => {
  test('creates only missing indexes, with one command per collection, and drops obsolete ones', async () => {
    const { proxy, sent } = await recordCommands();
    const cli = commandLine({ MONGODB_URI: proxy.uri });
    try {
      const { id } = await makeStocked(cli);
      const whole = await makeStocked(cli);
      const rows = databaseOf(id).collection('quotes');
      const names = async (): Promise<string[]> =>
        (await rows.listIndexes().toArray()).map(({ name }) => name as string).sort();
      await grow(databaseOf(id));
      const complete = await names();
      await rows.dropIndexes();
      await rows.createIndexes([
        { key: { number: 1 }, name: 'number_1', unique: true },
        { key: { number: 1, _id: 1 }, name: 'number_1__id_1' },
        { key: { created_at: -1 }, name: 'totals' },
        // so that it is not a small one, which lacks nothing
        { key: { search: 1 }, name: 'search_1' },
        { key: { total_minor: 1 }, name: 'made_by_the_operator' },
      ]);
      sent.length = 0;
      const fixed = await cli.json<Diagnosis>('doctor', '--fix');
      expect(fixed.ok).toBe(true);
      const made = sent.filter((one) => 'createIndexes' in one);
      expect(made).toEqual([expect.objectContaining({ createIndexes: 'quotes', $db: databaseName(id) })]);
      expect((made[0]!.indexes as { name: string }[]).map(({ name }) => name).sort()).toEqual(
        complete.filter((name) => !['_id_', 'number_1', 'search_1'].includes(name)),
      );
      const drops = sent.filter((one) => 'dropIndexes' in one);
      expect(drops.map(({ writeConcern }) => writeConcern)).toEqual(Array(2).fill({ w: 'majority', j: true }));
      expect(await names()).toEqual([...complete, 'made_by_the_operator'].sort());
      expect(fixed.checks.filter(({ name }) => name.includes(whole.id))).toEqual([]);

      sent.length = 0;
      expect(await cli.json('doctor', '--fix')).toMatchObject({ ok: true });
      expect(sent.filter((one) => 'createIndexes' in one || 'dropIndexes' in one)).toEqual([]);
      // what was made beside the gateways is counted too
      const { detail } = fixed.checks.find(({ name }) => name === 'files')!;
      const have = await Promise.all([whole.id, id].map((one) => countFiles(databaseOf(one))));
      const [collections, indexes] = [0, 1].map((at) => have.reduce((sum, counts) => sum + counts[at]!, 0));
      expect(detail).toBe(
        `${String(collections! + indexes!)} of 60,000 files (SHARD_FILES), for ${String(collections)} collections and ${String(indexes)} indexes of 2 organisations`,
      );
    } finally {
      await proxy.close();
    }
  });

  test('lists each organisation it could not fix, and fixes the others', async () => {
    const cli = commandLine();
    const [bad, good] = [await makeStocked(cli), await makeStocked(cli)];
    for (const { id } of [bad, good]) {
      await grow(databaseOf(id));
      await databaseOf(id).collection('quotes').dropIndex('number_1');
      await databaseOf(id).collection('orders').dropIndex('search_1');
    }
    await databaseOf(bad.id)
      .collection('quotes')
      .updateMany({}, { $set: { number: 'twice' } });
    const { code, stdout } = await cli.run('doctor', '--fix', '--json');
    expect(code).toBe(1);
    const { checks } = JSON.parse(stdout) as Diagnosis;
    expect(checks.filter(({ ok }) => !ok)).toEqual([
      {
        name: expect.stringContaining(bad.id) as unknown,
        ok: false,
        detail: expect.stringMatching(/^could not fix quotes \(.*; created orders: search_1$/) as unknown,
        fix: expect.stringContaining('run scopegate doctor --fix again') as unknown,
      },
    ]);
    expect(checks).toContainEqual(
      expect.objectContaining({ name: expect.stringContaining(good.id) as unknown, ok: true }),
    );
  });

  test('creates missing indexes in the control database', async () => {
    const cli = commandLine();
    await makeOrganisation(cli);
    await bare.db(cli.controlDatabase).collection('api_keys').dropIndexes();
    expect(await cli.json('doctor', '--fix')).toMatchObject({ ok: true });
    expect(await cli.json('doctor')).toMatchObject({ ok: true });
  });
});

test('organisations without a database count as complete', async () => {
  const cli = commandLine();
  await makeStocked(cli);
  await makeOrganisation(cli);
  const { checks } = await cli.json<Diagnosis>('doctor');
  expect(checks.find(({ name }) => name === 'indexes')!.detail).toBe(
    '2 organisations have every index; 1 of them has no data yet',
  );
});

test('doctor stops at once on SIGTERM while the database does not respond, says so, and keeps what it created', async () => {
  const cli = commandLine();
  await makeStocked(cli);
  let heldAt: number | undefined;
  await using proxy = await openDatabaseProxy(process.env.TEST_MONGODB_URI!, {
    onReply: (reply, command) => {
      // the driver's own checks are answered, or it would give up by itself
      if (command?.listIndexes !== quotes.name) return reply;
      heldAt ??= performance.now();
      return undefined;
    },
  });
  const doctor = followed(cli, ['doctor'], { MONGODB_URI: proxy.uri });
  const began = await eventually(() => heldAt, 60_000);
  expect(await doctor.end('SIGTERM')).toBe(130);
  expect(doctor.stderr()).toContain(
    'error: interrupted; indexes made so far stay, run the same command again to continue',
  );
  // the command would wait for its answer for 30 s
  expect(performance.now() - began).toBeLessThan(29_000);
});

/** How many collections and indexes a database has. */
async function countFiles(database: mongo.Db): Promise<[number, number]> {
  const all = await database.listCollections().toArray();
  const indexes = await Promise.all(all.map(({ name }) => database.collection(name).listIndexes().toArray()));
  return [all.length, indexes.flat().length];
}
