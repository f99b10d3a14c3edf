import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Organisation } from '../../src/auth/principal';
import { commandLine, NORTHWIND } from '../cli/commandLine';
import { makeNorthwind, makeOrganisation } from '../support/factories';
import { served } from '../support/gateway';

/* Erases organisations by the command line; erasing.test.ts has what happens to requests and imports meanwhile. */

const CONTROL_DATABASE = 'scopegate_erasing';
const cli = commandLine({ CONTROL_DATABASE });

const gateway = served({ CONTROL_DATABASE });

const erase = ({ id, name }: Organisation, ...more: string[]) =>
  cli.spawned('org', 'erase', id, '--confirm', name, '--json', ...more);

test('an organisation that is being erased is shown as such, cannot be resumed, and is erased by the same command again', async () => {
  const organisation = await makeOrganisation(gateway);
  const { id } = organisation;
  await gateway.control.erasing.begin(id);
  expect(await cli.run('org', 'resume', id)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is being erased; to finish that, run scopegate org erase again') as unknown,
  });
  expect(await cli.json('org', 'show', id)).toMatchObject({ state: 'erasing' });
  for (let time = 1; time <= 2; time += 1) {
    const { code, stdout } = await erase(organisation, '--no-export');
    expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({ code: 0, erased: true });
  }
});

test('a wrong name or none is wrong usage, and the export goes to DATA_DIR by default', async () => {
  const organisation = await makeNorthwind(gateway, 3);
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'scopegate-erasing-'));
  const own = commandLine({ CONTROL_DATABASE, DATA_DIR });
  for (const confirm of [['--confirm', 'Northwind'], []])
    expect(await own.run('org', 'erase', organisation.id, ...confirm)).toMatchObject({ code: 2, stdout: '' });
  const folder = join(DATA_DIR, 'erased', organisation.id);
  expect(await own.json('org', 'erase', organisation.id, '--confirm', organisation.name)).toEqual({
    ...{ id: organisation.id, erased: true, export: folder },
  });
  expect((await readdir(folder)).sort()).toEqual((await readdir(NORTHWIND)).sort());
});
