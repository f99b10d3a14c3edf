import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importFile, MAX_RECORDS } from '../../src/cli/import/importFile';
import type { StoredRecord } from '../../src/stored/records';

test('an import whose file cannot be read on rejects once the batch before is stored', async () => {
  const path = join(tmpdir(), `import-${String(process.pid)}.ndjson`);
  await writeFile(path, '{}\n'.repeat(MAX_RECORDS + 1));
  let resolve: (none: StoredRecord[]) => void = () => undefined;
  const stored = new Promise<StoredRecord[]>((done) => (resolve = done));
  let [reads, isStored] = [0, false];
  const importing = importFile(
    path,
    {
      name: 'products',
      read: () => {
        reads += 1;
        if (reads <= MAX_RECORDS) return { record: { id: String(reads) } };
        // the batch is being stored by now
        setImmediate(() => {
          isStored = true;
          resolve([]);
        });
        throw new Error('unreadable');
      },
      store: () => stored,
    },
    { onFault: () => undefined, progress: { start: () => undefined, update: () => undefined, stop: () => undefined } },
  );
  await expect(importing).rejects.toThrow('unreadable');
  expect(isStored).toBe(true);
});

test('a file with more records than fit is refused at the first beyond them, once those before it are stored', async () => {
  const path = join(tmpdir(), `import-${String(process.pid)}.ndjson`);
  await writeFile(path, '{}\n'.repeat(MAX_RECORDS + 9));
  let [reads, stored] = [0, 0];
  const importing = importFile(
    path,
    {
      name: 'products',
      most: MAX_RECORDS + 7,
      read: () => ({ record: { id: String((reads += 1)) } }),
      store: (records) => {
        stored += records.length;
        return Promise.resolve(records.map(() => ({ outcome: 'created', errors: [] })));
      },
    },
    { onFault: () => undefined, progress: { start: () => undefined, update: () => undefined, stop: () => undefined } },
  );
  await expect(importing).rejects.toThrow('line 508 is beyond 507 records');
  expect([reads, stored]).toEqual([508, 507]);
});
