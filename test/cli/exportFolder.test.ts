import { chmod, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createDraft, PID_NAMESPACE } from '../../src/cli/export/draft';
import { commandLine, makeOrganisation, newFolder } from './commandLine';

/* What `export` does to the folder that it writes to. */

const cli = commandLine();
let org = '';
beforeAll(async () => {
  org = (await makeOrganisation(cli)).id;
});

test('removes what exports that were killed have left in the folder, but not what one that runs is writing', async () => {
  const folder = await newFolder();
  const draft = async (pid: number, host: string, age = 0): Promise<string> => {
    const name = `.export.${String(pid)}.${host}.0123456789abcdef.part`;
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'customers.ndjson'), 'personal');
    const at = Date.now() / 1000 - age;
    await utimes(join(folder, name), at, at);
    return name;
  };
  // no process has this id
  const gone = 2 ** 30;
  await Promise.all([draft(gone, PID_NAMESPACE), draft(gone, 'old.example', 120), draft(1, PID_NAMESPACE, 120)]);
  const running = await Promise.all([draft(process.pid, PID_NAMESPACE), draft(gone, hostname())]);
  await cli.json('export', '--org', org, folder);
  expect((await readdir(folder)).filter((name) => name.startsWith('.')).sort()).toEqual(running.sort());
});

test('a draft is touched by the clock of its file system, which that of its machine may differ from', async () => {
  const folder = await newFolder();
  jest.useFakeTimers({ now: 0 });
  try {
    const draft = await createDraft(folder);
    const [name] = await readdir(folder);
    const modified = async (): Promise<number> => (await stat(join(folder, name!))).mtimeMs;
    const created = await modified();
    await utimes(join(folder, name!), 1, 1);
    jest.advanceTimersByTime(5000);
    expect(await modified()).toBeGreaterThanOrEqual(created);
    await draft.remove();
    expect(await readdir(folder)).toEqual([]);
  } finally {
    jest.useRealTimers();
  }
});

test('an export is readable by its owner only, also if it overwrites files that everyone could read', async () => {
  const folder = join(await newFolder(), 'made');
  await cli.json('export', '--org', org, folder, '--keys');
  await chmod(join(folder, 'keys.ndjson'), 0o644);
  await cli.json('export', '--org', org, folder, '--keys', '--force');
  const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
  const modes = await Promise.all((await readdir(folder)).map((file) => modeOf(join(folder, file))));
  expect([await modeOf(folder), ...new Set(modes)]).toEqual([0o700, 0o600]);
});

test('export overwrites files only with --force, which also removes keys and webhooks of an earlier export', async () => {
  const folder = await newFolder();
  await writeFile(join(folder, 'orders.ndjson'), 'mine');
  expect(await cli.failed(1, 'export', '--org', org, folder)).toContain('already has orders.ndjson');
  expect(await readdir(folder)).toEqual(['orders.ndjson']);
  expect(await readFile(join(folder, 'orders.ndjson'), 'utf8')).toBe('mine');
  expect(await cli.run('export', '--org', org, folder, '--force')).toMatchObject({ code: 0 });
  expect(await readFile(join(folder, 'orders.ndjson'), 'utf8')).not.toBe('mine');
  const secrets = ['keys.ndjson', 'webhooks.ndjson'];
  const other = await newFolder();
  for (const file of secrets) {
    await writeFile(join(other, file), 'mine');
    expect(await cli.failed(1, 'export', '--org', org, other)).toContain(`already has ${file}`);
    await rm(join(other, file));
  }
  await cli.json('export', '--org', org, other, '--keys', '--webhooks');
  expect(await readdir(other)).toEqual(expect.arrayContaining(secrets));
  await cli.json('export', '--org', org, other, '--force');
  expect((await readdir(other)).filter((file) => secrets.includes(file))).toEqual([]);
});
