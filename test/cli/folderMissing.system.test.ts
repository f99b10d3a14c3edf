import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLine, type Diagnosis, makeOrganisation, serve } from './commandLine';

/* A database that is served with a folder is not used without it unnoticed. */

const TEMPLATE = join(__dirname, '..', '..', 'examples', 'schema');
const ADDS = 'Quote.project_code, QuoteStatus.negotiating, invoices';

let smaller: string;
beforeAll(async () => {
  smaller = await mkdtemp(join(tmpdir(), 'scopegate-smaller-'));
  await cp(join(TEMPLATE, 'quotes.graphql'), join(smaller, 'quotes.graphql'));
});
afterAll(() => rm(smaller, { recursive: true }));

/** A database that a gateway with the folder has served. */
async function served() {
  const cli = commandLine();
  const { id } = await makeOrganisation(cli);
  const gateway = await serve(cli, [], { SCHEMA_DIR: TEMPLATE });
  await gateway.stop();
  // each in a process of its own, since a process reads the folder once
  const as = (SCHEMA_DIR: string) => {
    const line = commandLine({ ...cli.environment, SCHEMA_DIR });
    const doctor = async (...args: string[]) => {
      const { checks } = JSON.parse((await line.spawned('doctor', '--json', ...args)).stdout) as Diagnosis;
      return checks.find(({ name }) => name === 'schema');
    };
    return { ...line, doctor };
  };
  return { id, cli, as };
}

test('without a folder nothing reads or serves it, unless SCHEMA_DIR is none', async () => {
  const { id, cli, as } = await served();
  const refused = `this database is served with a schema of your own, which adds ${ADDS}: set SCHEMA_DIR to that folder`;
  const folder = join(smaller, 'export');
  for (const args of [['serve'], ['export', '--org', id, folder], ['org', 'list']]) {
    const { code, stderr } = await cli.spawned(...args);
    expect([code, stderr]).toEqual([1, expect.stringContaining(refused)]);
  }
  const { checks } = JSON.parse((await cli.spawned('doctor', '--json')).stdout) as Diagnosis;
  expect(checks.at(-1)).toMatchObject({ name: 'database', ok: false, fix: expect.stringContaining('SCHEMA_DIR') });
  expect(await as('none').spawned('org', 'list')).toMatchObject({
    code: 0,
    stderr: expect.not.stringContaining('lacks'),
  });
  expect(await as('none').doctor()).toMatchObject({
    ok: true,
    detail: `no folder, and lacks ${ADDS}, with which this database is served`,
  });
  expect(await as(TEMPLATE).spawned('org', 'list')).toMatchObject({
    code: 0,
    stderr: expect.not.stringContaining('lacks'),
  });
  expect(await as(TEMPLATE).doctor()).toEqual({ name: 'schema', ok: true, detail: `${TEMPLATE} adds ${ADDS}` });
});

test('a folder that lacks what was there is warned of until doctor --fix, and what it adds stays recorded', async () => {
  const { as } = await served();
  const lacks = 'lacks invoices, with which this database is served';
  expect(await as(smaller).spawned('org', 'list')).toMatchObject({ code: 0, stderr: expect.stringContaining(lacks) });
  const gateway = await serve(as(smaller));
  expect((await gateway.stop()).stderr).toMatch(new RegExp(`"level":40.*${lacks}`));
  expect(await as(smaller).doctor()).toMatchObject({
    ok: true,
    detail: expect.stringContaining(lacks),
    fix: expect.any(String),
  });
  await as(smaller).doctor('--fix');
  expect(await as(smaller).spawned('org', 'list')).toMatchObject({ stderr: expect.not.stringContaining('lacks') });
  expect(await as('').spawned('org', 'list')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('which adds Quote.project_code, QuoteStatus.negotiating: set'),
  });
});

test('without folders there is no record, and doctor has no line about it', async () => {
  const cli = commandLine();
  const gateway = await serve(cli);
  await gateway.stop();
  const { checks } = JSON.parse((await cli.run('doctor', '--json')).stdout) as Diagnosis;
  expect(checks.map(({ name }) => name)).not.toContain('schema');
});

test('an import with a folder records it', async () => {
  const cli = commandLine();
  const { id } = await makeOrganisation(cli);
  const own = commandLine({ ...cli.environment, SCHEMA_DIR: TEMPLATE });
  const products = join(TEMPLATE, '..', 'northwind', 'products.ndjson');
  expect(await own.spawned('import', '--org', id, products)).toMatchObject({ code: 0 });
  expect(await cli.spawned('org', 'list')).toMatchObject({ code: 1 });
});
