import { mongo } from 'mongoose';
import { databaseName } from '../../src/database/organisationData';
import { commandLine, makeOrganisation } from './commandLine';

interface Diagnosis {
  readonly ok: boolean;
  readonly checks: readonly { name: string; ok: boolean; detail: string; fix?: string }[];
}

test('doctor finds a missing index, suggests the fix, and creates it with --fix', async () => {
  const cli = commandLine();
  const { id } = await makeOrganisation(cli);
  expect(await cli.json('doctor')).toMatchObject({ ok: true });

  await dropIndex(id, 'quotes', 'number_1');
  const sick = await cli.run('doctor', '--json');
  expect(sick.code).toBe(1);
  const diagnosis = JSON.parse(sick.stdout) as Diagnosis;
  expect(diagnosis.ok).toBe(false);
  expect(diagnosis.checks.filter(({ ok }) => !ok)).toEqual([
    {
      name: `indexes of Northwind Traders (${id})`,
      ok: false,
      detail: expect.stringContaining('quotes: number_1') as unknown,
      fix: 'run scopegate doctor --fix',
    },
  ]);

  const fixed = await cli.json<Diagnosis>('doctor', '--fix');
  expect(fixed.ok).toBe(true);
  expect(fixed.checks).toContainEqual(
    expect.objectContaining({ ok: true, detail: expect.stringContaining('created quotes: number_1') as unknown }),
  );
  expect(await cli.json('doctor')).toMatchObject({ ok: true });
});

test('doctor checks the database, its replica set and its transactions', async () => {
  const { checks } = await commandLine().json<Diagnosis>('doctor');
  expect(checks.map(({ name }) => name)).toEqual([
    'node',
    'environment',
    'keys',
    'redis',
    'database',
    'replica set',
    'transactions',
    'pepper',
    'clocks',
    'indexes',
  ]);
});

test.each([
  [{ MONGODB_URI: 'mongodb://127.0.0.1:1' }, 'database'],
  [{ PORT: 'x' }, 'environment'],
])('doctor with %j exits with 1 and reports the failed check last', async (environment, name) => {
  const { code, stdout } = await commandLine(environment).run('doctor', '--json');
  expect(code).toBe(1);
  const { ok, checks } = JSON.parse(stdout) as Diagnosis;
  expect(ok).toBe(false);
  expect(checks.at(-1)).toMatchObject({ name, ok: false, fix: expect.any(String) as unknown });
});

test('doctor reports an unreachable Redis without its password', async () => {
  const { code, stdout } = await commandLine({ REDIS_URL: 'redis://user:hunter2@127.0.0.1:1' }).run('doctor', '--json');
  expect(code).toBe(1);
  const { checks } = JSON.parse(stdout) as Diagnosis;
  expect(checks.filter(({ ok }) => !ok)).toMatchObject([{ name: 'redis', fix: expect.stringContaining('REDIS_URL') }]);
  expect(stdout).not.toContain('hunter2');
});

async function dropIndex(organisationId: string, collection: string, index: string): Promise<void> {
  const client = await mongo.MongoClient.connect(process.env.TEST_MONGODB_URI ?? '');
  await client.db(databaseName(organisationId)).collection(collection).dropIndex(index);
  await client.close();
}
