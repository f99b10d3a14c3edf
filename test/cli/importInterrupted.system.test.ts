import { randomUUID } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabaseProxy } from '../../faults/databaseProxy';
import { eventually } from '../api/http/eventually';
import { northwind } from '../support/factories';
import { commandLine, finished, type Finished, type ImportAnswer, makeOrganisation, newFolder } from './commandLine';

const cli = commandLine();

test('Ctrl-C leaves complete batches, also of what is deleted, and running the import again completes it', async () => {
  const { id: org } = await makeOrganisation(cli, 'Interrupted');
  // four batches: the current one, the next, which may have started, and two that must not start
  const total = 2_000;
  const [product] = northwind('products');
  const lines = Array.from({ length: total }, (_, index) =>
    JSON.stringify({ ...product, sku: `NW-${String(index)}`, id: randomUUID() }),
  );
  const path = join(await newFolder(), 'products.ndjson');
  await writeFile(path, lines.join('\n'));

  const { code, stdout } = await interruptedAtFirst('insert', ['import', '--org', org, path, '--json']);
  expect(code).toBe(130);
  const { created = 0 } = (JSON.parse(stdout) as ImportAnswer).files.products ?? {};
  expect([500, 1_000]).toContain(created);

  const { files } = await cli.json<ImportAnswer>('import', '--org', org, path);
  expect(files.products).toEqual({ read: total, created: total - created, updated: 0, unchanged: created, failed: 0 });

  const gone = 100;
  await writeFile(path, lines.slice(gone).join('\n'));
  const deleting = ['import', '--org', org, path, '--delete-missing', '--yes'];
  const interrupted = await interruptedAtFirst('delete', [...deleting, '--json']);
  expect(interrupted.code).toBe(130);
  const { deleted = 0 } = (JSON.parse(interrupted.stdout) as ImportAnswer).files.products ?? {};
  expect([20, 40]).toContain(deleted);
  expect((await cli.json<ImportAnswer>(...deleting)).files.products).toMatchObject({ deleted: gone - deleted });
});

test.each(['SIGKILL', 'SIGINT'] as const)(
  'what an export has written before a %s is removed at once, or if it cannot be, by the next export',
  async (signal) => {
    const { id: org } = await makeOrganisation(cli, 'Exported');
    const folder = await newFolder();
    const drafts = async (): Promise<string[]> => (await readdir(folder)).filter((name) => name.endsWith('.part'));
    let left: string[] = [];
    await using proxy = await openDatabaseProxy(process.env.TEST_MONGODB_URI ?? '', {
      onReply: async (reply, command) => {
        // products are written
        if (command?.find !== 'customers' || child.killed) return reply;
        left = (await readdir(join(folder, ...(await drafts())))).sort();
        child.kill(signal);
        // while the command still waits for this reply
        if (signal === 'SIGINT') await eventually(async () => (await drafts()).length === 0);
        else await ended;
        return reply;
      },
    });
    const child = cli.start(['export', '--org', org, folder], { MONGODB_URI: proxy.uri });
    const ended = finished(child);
    const { code, stderr } = await ended;
    expect(left).toEqual(['customers.ndjson', 'products.ndjson']);
    if (signal === 'SIGINT')
      expect({ code, stderr }).toMatchObject({ code: 130, stderr: expect.stringContaining('nothing was written') });
    else expect(await drafts()).toHaveLength(1);
    await cli.json('export', '--org', org, folder);
    expect(await drafts()).toEqual([]);
  },
);

/** Milliseconds. */
const SIGNAL_DELIVERED = 1000;

/** Runs a command and sends Ctrl-C after the database has inserted or deleted products and before the reply, inside the transaction. */
async function interruptedAtFirst(write: 'insert' | 'delete', args: string[]): Promise<Finished> {
  await using proxy = await openDatabaseProxy(process.env.TEST_MONGODB_URI ?? '', {
    onReply: async (reply, command) => {
      if (command?.[write] === 'products' && !child.killed) {
        child.kill('SIGINT');
        // a busy machine delivers the signal after milliseconds in which batches would complete
        await sleep(SIGNAL_DELIVERED);
      }
      return reply;
    },
  });
  const child = cli.start(args, { MONGODB_URI: proxy.uri });
  return await finished(child);
}
