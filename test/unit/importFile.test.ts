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
