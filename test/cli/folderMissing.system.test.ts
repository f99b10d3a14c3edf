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

test('a database that was served with a folder is neither read nor served without it, and one that lacks something is warned of', async () => {
  const cli = commandLine({ PORT: '0' });
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

  const refused = `this database is served with a schema of your own, which adds ${ADDS}: set SCHEMA_DIR to that folder`;
  for (const args of [['serve'], ['export', '--org', id, join(smaller, 'export')]])
    expect(await cli.failed(1, ...args)).toContain(refused);
  const { checks } = JSON.parse((await cli.run('doctor', '--json')).stdout) as Diagnosis;
  expect(checks.at(-1)).toMatchObject({ name: 'database', ok: false, fix: expect.stringContaining('SCHEMA_DIR') });
  // unless it is meant
  expect(await as('none').spawned('org', 'list')).toMatchObject({
    code: 0,
    stderr: expect.not.stringContaining('lacks'),
  });
  expect(await as('none').doctor()).toMatchObject({
    ok: true,
    detail: `no folder, and lacks ${ADDS}, with which this database is served`,
  });
  expect(await as(TEMPLATE).doctor()).toEqual({ name: 'schema', ok: true, detail: `${TEMPLATE} adds ${ADDS}` });

  const lacks = 'lacks invoices, with which this database is served';
  expect(await as(smaller).spawned('org', 'list')).toMatchObject({ code: 0, stderr: expect.stringContaining(lacks) });
  const warned = await serve(as(smaller));
  expect((await warned.stop()).stderr).toMatch(new RegExp(`"level":40.*${lacks}`));
  expect(await as(smaller).doctor()).toMatchObject({
    ok: true,
    detail: expect.stringContaining(lacks),
    fix: expect.any(String),
  });
  await as(smaller).doctor('--fix');
  expect(await as(smaller).spawned('org', 'list')).toMatchObject({ stderr: expect.not.stringContaining('lacks') });
  // what it adds stays recorded
  expect(await cli.failed(1, 'org', 'list')).toContain('which adds Quote.project_code, QuoteStatus.negotiating: set');
});

test('an import with a folder records it', async () => {
  const cli = commandLine();
  const { id } = await makeOrganisation(cli);
  const own = commandLine({ ...cli.environment, SCHEMA_DIR: TEMPLATE });
  const products = join(TEMPLATE, '..', 'northwind', 'products.ndjson');
  expect(await own.spawned('import', '--org', id, products)).toMatchObject({ code: 0 });
  await cli.failed(1, 'org', 'list');
});
