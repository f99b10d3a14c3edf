import { existsSync } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createDraft, PID_NAMESPACE } from '../../src/cli/export/draft';
import { writeLines } from '../../src/cli/export/lines';
import { syncFiles } from '../../src/cli/export/sync';
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

describe('files that are complete', () => {
  const files = ['organisation.json', 'attachments', 'orders.ndjson', 'quotes.ndjson'];
  const written = new Set(files.slice(0, 3));

  /** A folder with an export, and the draft of another one. */
  async function replacing(old = files) {
    const folder = await newFolder();
    const fill = async (path: (file: string) => string, which: Iterable<string>, text: string): Promise<void> => {
      for (const file of which) {
        if (file === 'attachments') await mkdir(path(file));
        await writeFile(path(file === 'attachments' ? join(file, text) : file), text);
      }
    };
    await fill((file) => join(folder, file), old, 'old');
    const draft = await createDraft(folder);
    await fill(draft.path, written, 'new');
    const read = async (): Promise<string[]> => {
      const there = (await readdir(folder)).filter((file) => !file.startsWith('.')).sort();
      return Promise.all(
        there.map(async (file) => {
          const path = join(folder, file);
          return `${file} ${file === 'attachments' ? String(await readdir(path)) : await readFile(path, 'utf8')}`;
        }),
      );
    };
    return { folder, draft, read };
  }

  const oldOf = (which: readonly string[]) => which.map((file) => `${file} old`).sort();
  const NEW = [...written].map((file) => `${file} new`).sort();

  test('take the places of others all at once, also if the process exits before it has removed those', async () => {
    const { draft, read } = await replacing();
    const exit = process.listeners('exit').at(-1)!;
    const completing = draft.complete({ files, written, force: true });
    // what a second Ctrl-C does
    exit(130);
    expect(await read()).toEqual(NEW);
    await completing;
    await draft.remove();
    expect(await read()).toEqual(NEW);
  });

  test('do not replace those that have come meanwhile, unless that is wanted', async () => {
    const { draft, read } = await replacing(['orders.ndjson']);
    await expect(draft.complete({ files, written, force: false })).rejects.toThrow('already has orders.ndjson');
    await draft.remove();
    expect(await read()).toEqual(['orders.ndjson old']);
  });

  test('leave others where they are if some of them were removed', async () => {
    const { draft, read } = await replacing();
    await rm(draft.path('orders.ndjson'));
    await expect(draft.complete({ files, written, force: true })).rejects.toThrow(
      'nothing was written: this process stood still for a minute',
    );
    await draft.remove();
    expect(await read()).toEqual(oldOf(files));
  });

  test('are synced before they are put in place, and the folder after that, files of attachments with theirs', async () => {
    const folder = await newFolder();
    const draft = await createDraft(folder);
    await using file = await open(join(folder, 'any'), 'w');
    const places: boolean[] = [];
    const prototype = Object.getPrototypeOf(file) as typeof file;
    const sync = jest.spyOn(prototype, 'sync').mockImplementation(() => {
      places.push(existsSync(join(folder, 'orders.ndjson')));
      return Promise.resolve();
    });
    expect(await writeLines(draft.path('orders.ndjson'), ['{}'], new AbortController().signal)).toBe(1);
    expect(places).toEqual([false]);
    await draft.complete({ files, written: new Set(['orders.ndjson']), force: false });
    expect(places).toEqual([false, true]);
    const attachments = await newFolder();
    for (let at = 0; at < 9; at += 1) await writeFile(join(attachments, String(at)), '');
    await syncFiles(attachments);
    expect(places).toHaveLength(2 + 9 + 1);
    sync.mockRestore();
    await draft.remove();
  });
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
