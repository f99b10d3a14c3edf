import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { databaseName } from '../../src/mongo/databaseNames';
import { northwind } from '../support/factories';
import { driver } from '../support/gateway';
import {
  commandLine,
  type ImportAnswer,
  importText,
  makeOrganisation,
  newFolder,
  NORTHWIND,
  northwindLines,
} from './commandLine';

/* Attachments in export and import (docs/decisions/attachments.md). */

const cli = commandLine();
const bare = driver();

test('attachments are exported with their files and imported again, and a record fails whose file is not what it says', async () => {
  const { id: org } = await makeOrganisation(cli, 'Attachments');
  const [from, to] = [await newFolder(), await newFolder()];
  const bytes = Buffer.alloc(600_000, 'x');
  const attachment = (name: string, content = bytes) => ({
    id: randomUUID(),
    file_name: `${name}.txt`,
    content_type: 'text/plain',
    size: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
    created_at: '1996-06-29T00:00:00.000Z',
  });
  const [one, two, gone, wrong] = ['one', 'two', 'gone', 'wrong'].map((name) => attachment(name)) as unknown as [
    Attached,
    Attached,
    Attached,
    Attached,
  ];
  const records = northwind('products').slice(0, 4) as unknown as readonly object[];
  const lines = (lists: readonly (readonly object[])[]): string =>
    records.map((record, at) => JSON.stringify({ ...record, attachments: lists[at] })).join('\n');
  two.created_at = '1996-06-28T00:00:00.000Z';
  await mkdir(join(from, 'attachments'));
  for (const { id } of [one, two]) await writeFile(join(from, 'attachments', id), bytes);
  await writeFile(join(from, 'attachments', wrong.id), Buffer.alloc(600_000, 'y'));
  await writeFile(join(from, 'products.ndjson'), lines([[one, two], [gone], [wrong], [two]]));
  const run = async (folder: string): Promise<ImportAnswer> =>
    JSON.parse((await cli.run('import', '--org', org, folder, '--json')).stdout) as ImportAnswer;
  const first = await run(from);
  expect(first.files.products).toMatchObject({ created: 1, failed: 3 });
  const faults = [
    [2, '/attachments/0', 'not_found'],
    [3, '/attachments/0', 'invalid'],
    [4, '/attachments/0/id', 'conflict'],
  ];
  const faultsOf = ({ errors }: ImportAnswer) => errors.map(({ line, pointer, code }) => [line, pointer, code]);
  expect(faultsOf(first)).toEqual(faults);
  const second = await run(from);
  expect(second.files.products).toMatchObject({ unchanged: 1, failed: 3 });
  expect(faultsOf(second)).toEqual(faults);
  expect(await cli.json('export', '--org', org, to)).toMatchObject({ files: { products: 1, attachments: 2 } });
  expect((await readdir(join(to, 'attachments'))).sort()).toEqual([one.id, two.id].sort());
  expect((await readFile(join(to, 'attachments', two.id))).equals(bytes)).toBe(true);
  // oldest first, in whatever order they were restored
  expect(JSON.parse(await readFile(join(to, 'products.ndjson'), 'utf8'))).toMatchObject({ attachments: [two, one] });
  // elsewhere, with the same ids
  const { id: other } = await makeOrganisation(cli, 'Copy');
  expect((await cli.json<ImportAnswer>('import', '--org', other, to)).files.products).toMatchObject({ created: 1 });
  const database = bare.db(databaseName(other));
  expect(await database.collection('products').findOne({})).toMatchObject({
    updated_at: new Date((records[0] as Attached).updated_at),
  });
  expect(await database.collection('attachments.chunks').countDocuments()).toBe(6);
  // another program deletes the object and leaves its files
  await database.collection('products').deleteMany({});
  expect((await cli.json<ImportAnswer>('import', '--org', other, to)).files.products).toMatchObject({ created: 1 });
  expect(await database.collection('attachments.chunks').countDocuments()).toBe(6);
  // a record that does not say which it has keeps them, and one that lacks one loses its file; deleting the object deletes the rest
  const again = await cli.json<ImportAnswer>('import', '--org', other, NORTHWIND);
  expect(again.files.products).toMatchObject({ created: 76, unchanged: 1 });
  await writeFile(join(to, 'products.ndjson'), lines([[two]]).split('\n')[0] ?? '');
  expect((await run(to)).files.products).toMatchObject({ updated: 1 });
  const left = bare.db(databaseName(org));
  expect(await left.collection('attachments.files').distinct('_id')).toEqual([two.id]);
  await writeFile(join(to, 'products.ndjson'), JSON.stringify(records[1]));
  expect(
    (await cli.json<ImportAnswer>('import', '--org', org, to, '--delete-missing', '--yes')).files.products,
  ).toMatchObject({ deleted: 1 });
  expect(await left.collection('attachments.chunks').countDocuments()).toBe(0);
  // an export over another takes its files away
  expect(await cli.json('export', '--org', org, to, '--force')).not.toHaveProperty('files.attachments');
  expect(await readdir(to)).not.toContain('attachments');
});

test.each([
  ['a path that leaves the folder', { id: '../../../victim' }, '/attachments/0/id'],
  ['a path in a folder of its own', { id: 'photos/1.jpg' }, '/attachments/0/id'],
  ['an id in upper case', { id: randomUUID().toUpperCase() }, '/attachments/0/id'],
  ['no id', {}, '/attachments/0/id'],
  ['null in place of an attachment', null, '/attachments/0'],
  ['an object in place of the list', undefined, '/attachments'],
])('%s, stored by another program, is a fault of its row: export opens no file', async (_what, named, pointer) => {
  const unchecked = commandLine({ STORED_VALIDATION: 'off' });
  const { id: org } = await makeOrganisation(unchecked, 'Paths');
  const base = await newFolder();
  const victim = join(base, 'victim');
  await writeFile(victim, 'precious');
  const [line = ''] = await northwindLines('products.ndjson', 1);
  expect((await importText(unchecked, org, line)).code).toBe(0);
  const attachment = named && {
    file_name: 'x.txt',
    content_type: 'text/plain',
    size: 1,
    sha256: '0'.repeat(64),
    created_at: new Date(),
    ...named,
  };
  const products = bare.db(databaseName(org)).collection<{ _id: string }>('products');
  await products.updateOne({}, { $set: { attachments: named === undefined ? {} : [attachment] } });
  const error = await unchecked.failed(1, 'export', '--org', org, join(base, 'to'));
  const [row] = await products.distinct('_id');
  expect(error).toContain('import would refuse these products');
  expect(error).toContain(`${String(row)}: ${pointer} `);
  expect(await readFile(victim, 'utf8')).toBe('precious');
  expect((await readdir(base)).sort()).toEqual(['to', 'victim']);
  expect(await readdir(join(base, 'to'))).toEqual([]);
});

interface Attached {
  readonly id: string;
  readonly updated_at: string;
  created_at: string;
}
