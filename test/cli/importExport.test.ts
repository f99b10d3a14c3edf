import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { databaseName } from '../../src/mongo/databaseNames';
import { recordKinds } from '../../src/resources';
import type { ImportRecord } from '../../src/stored/records';
import { MEBIBYTE } from '../../src/units';
import type { Json } from '../support/client';
import { northwind } from '../support/factories';
import { driver } from '../support/gateway';
import { threadRecord } from '../support/threads';
import {
  commandLine,
  type ImportAnswer,
  importText,
  makeOrganisation,
  newFolder,
  NORTHWIND,
  northwindLines,
} from './commandLine';

/* What is imported is exported as it was, and importing it again changes nothing. Lines that are refused are in importErrors.test.ts. */

/** The number of rows in each file; those of the contract's files are written out. */
const RECORDS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(recordKinds.map(({ file }) => [file, northwind(file).length])),
  products: 77,
  customers: 91,
  quotes: 913,
  orders: 830,
  requests: 42,
};

const TIME = '1998-01-01T00:00:00.000Z';

const cli = commandLine();
const unchecked = commandLine({ STORED_VALIDATION: 'off' });
const bare = driver();

describe('examples/northwind', () => {
  let org = '';
  let first: ImportAnswer;
  beforeAll(async () => {
    org = (await makeOrganisation(cli)).id;
    first = await cli.json<ImportAnswer>('import', '--org', org, NORTHWIND);
  });

  test('is imported completely, and importing it again changes nothing', async () => {
    const again = await cli.json<ImportAnswer>('import', '--org', org, NORTHWIND);
    for (const [file, count] of Object.entries(RECORDS)) {
      expect(first.files[file]).toEqual({ read: count, created: count, updated: 0, unchanged: 0, failed: 0 });
      expect(again.files[file]).toEqual({ read: count, created: 0, updated: 0, unchanged: count, failed: 0 });
    }
    expect([first.errors, again.errors]).toEqual([[], []]);
  });

  test('is exported byte for byte in the order of ids, which cannot change meanwhile, with no other files in the folder', async () => {
    const folder = join(await newFolder(), 'made', 'on the way');
    expect(await cli.json('export', '--org', org, folder)).toEqual({ dir: folder, files: RECORDS });
    const files = await readdir(NORTHWIND);
    expect((await readdir(folder)).sort()).toEqual(files.sort());
    for (const file of files.filter((name) => name !== 'organisation.json')) {
      const linesOf = async (from: string) => (await readFile(join(from, file), 'utf8')).split(/(?<=\n)/);
      const idOf = (line: string) => (JSON.parse(line) as { id: string }).id;
      const original = (await linesOf(NORTHWIND)).sort((one, other) => (idOf(one) < idOf(other) ? -1 : 1));
      expect([file, (await linesOf(folder)).join('') === original.join('')]).toEqual([file, true]);
    }
  });
});

test('-0.0 is 0: importing a record with it again changes nothing', async () => {
  const { id: org } = await makeOrganisation(cli, 'Zeros');
  const [line = ''] = await northwindLines('orders.ndjson', 1);
  const zeros = line.replaceAll(/"discount_pct": 0\.0|"discount_minor": 0/g, (zero) => zero.replace(': 0', ': -0'));
  expect(zeros).toMatch(/"discount_minor": -0,.*"discount_pct": -0\.0/);
  const outcomes = [];
  for (const text of [zeros, zeros, line])
    outcomes.push((await importText(cli, org, text, 'orders.ndjson')).answer.files.orders);
  expect(outcomes).toMatchObject([{ created: 1 }, { unchanged: 1 }, { unchanged: 1 }]);
});

test('export writes nothing and names every object that import would refuse, since another program stored it', async () => {
  const { id: org } = await makeOrganisation(unchecked, 'Invalid');
  const lines = await northwindLines('orders.ndjson', 4);
  await importText(unchecked, org, lines.join('\n'), 'orders.ndjson');
  const [first, second, third] = lines.map((line) => JSON.parse(line) as { id: string });
  const rows = bare.db(databaseName(org)).collection<{ _id: string }>('orders');
  await rows.updateOne({ _id: first!.id }, { $set: { 'lines.0.qty': NaN } });
  await rows.updateOne({ _id: second!.id }, { $set: { total_minor: 1e300 } });
  await rows.updateOne({ _id: third!.id }, { $set: { status: 'mine' }, $unset: { 'lines.0.id': 1 } });
  const folder = await newFolder();
  const stderr = await unchecked.failed(1, 'export', '--org', org, folder);
  expect(await readdir(folder)).toEqual([]);
  expect(stderr).toContain(
    'nothing was written: import would refuse these orders, as they are stored; correct them in the database',
  );
  expect(stderr).toContain(`${first!.id}: /lines/0/qty is stored as NaN, which is not a finite number`);
  expect(stderr).toContain(`${second!.id}: /total_minor is stored as 1e+300, which is not an integer`);
  expect(stderr).toContain(`${third!.id}: /status is stored as "mine", which is not one of `);
});

test('exports what another program stored and the API shows as a text or boolean as such, so that it can be imported', async () => {
  const { id: org } = await makeOrganisation(unchecked, 'Loose');
  const [line = ''] = await northwindLines('products.ndjson', 1);
  await importText(unchecked, org, line, 'products.ndjson');
  const rows = bare.db(databaseName(org)).collection('products');
  await rows.updateOne({}, { $set: { name: 7, description: true, active: 0 } });
  const folder = await newFolder();
  await unchecked.json('export', '--org', org, folder);
  const exported = JSON.parse(await readFile(join(folder, 'products.ndjson'), 'utf8')) as unknown;
  expect(exported).toMatchObject({ name: '7', description: 'true', active: false });
  const { files } = await unchecked.json<ImportAnswer>('import', '--org', org, folder);
  expect(files.products).toMatchObject({ updated: 1, failed: 0 });
});

test('normalises skus to NFC', async () => {
  const { id: org } = await makeOrganisation(cli, 'Composed');
  const [product = '', order = ''] = [
    ...(await northwindLines('products.ndjson', 1)),
    ...(await northwindLines('orders.ndjson', 1)),
  ];
  const respelt = (line: string, form: string): string =>
    line.replace(/"sku": "([^"]*)"/g, (_, sku: string) => `"sku": "${`caf\u00e9 ${sku}`.normalize(form)}"`);
  await importText(cli, org, respelt(product, 'NFD'));
  await importText(cli, org, respelt(order, 'NFD'), 'orders.ndjson');
  const products = await importText(cli, org, respelt(product, 'NFC'));
  const orders = await importText(cli, org, respelt(order, 'NFC'), 'orders.ndjson');
  expect([products.answer.files.products, orders.answer.files.orders]).toMatchObject([
    { unchanged: 1 },
    { unchanged: 1 },
  ]);
  const folder = await newFolder();
  await cli.run('export', '--org', org, folder);
  for (const file of ['products', 'orders']) {
    expect(await readFile(join(folder, `${file}.ndjson`), 'utf8')).toContain('"caf\u00e9 ');
  }
});

test('importing a thread again removes messages that are not in its record', async () => {
  const { id: org } = await makeOrganisation(cli, 'Threads');
  const [line = ''] = await northwindLines('requests.ndjson', 1);
  const thread = JSON.parse(line) as { messages: object[] };
  await importText(cli, org, line, 'requests.ndjson');
  const shorter = { ...thread, messages: thread.messages.slice(0, 1) };
  const { answer } = await importText(cli, org, JSON.stringify(shorter), 'requests.ndjson');
  expect(answer.files.requests).toMatchObject({ updated: 1 });
  const folder = await newFolder();
  await cli.run('export', '--org', org, folder);
  expect(JSON.parse(await readFile(join(folder, 'requests.ndjson'), 'utf8'))).toEqual(shorter);
});

test('a thread may have more messages than fit into a document, and one that is too long to be imported is not exported', async () => {
  const [first, second] = await Promise.all([makeOrganisation(cli, 'Long'), makeOrganisation(cli, 'Restored')]);
  const more = (count: number): Json[] =>
    (threadRecord(Array<string>(count).fill('x'.repeat(20_000))).messages as Json[]).toReversed();
  const thread = threadRecord([], { created_at: TIME, updated_at: TIME, messages: more(900) });
  const exported = async (org: string): Promise<string> => {
    const folder = await newFolder();
    await cli.json('export', '--org', org, folder);
    return readFile(join(folder, 'requests.ndjson'), 'utf8');
  };
  await importText(cli, first.id, JSON.stringify(thread), 'requests.ndjson');
  const line = await exported(first.id);
  expect(line.length).toBeGreaterThan(16 * MEBIBYTE);
  expect((await importText(cli, second.id, line, 'requests.ndjson')).answer.files.requests).toMatchObject({
    created: 1,
  });
  expect(await exported(second.id)).toBe(line);

  const rows = bare.db(databaseName(first.id)).collection<{ _id: string }>('messages');
  const folder = await newFolder();
  const refusal = (): Promise<string> => cli.failed(1, 'export', '--org', first.id, folder);
  // in JSON twice as long
  await rows.updateMany({}, { $set: { body: `x${'\n'.repeat(19_999)}` } });
  expect(await refusal()).toContain(`  ${thread.id}: is longer than 32 MiB`);
  await rows.insertMany(
    more(800).map(({ id, ...message }) => ({
      ...message,
      _id: String(id),
      request_id: thread.id,
      created_at: new Date(),
    })),
  );
  expect(await refusal()).toContain(`  ${thread.id}: /messages are longer than 32 MiB together`);
  expect(await readdir(folder)).toEqual([]);
});

test('a retitled thread is unchanged by its own export, and loses the words of messages that are gone', async () => {
  const { id: org } = await makeOrganisation(cli, 'Retitled');
  const thread = threadRecord(['giraffe', 'lion'], { subject: 'zebra' });
  await importText(cli, org, JSON.stringify(thread), 'requests.ndjson');
  const rows = bare.db(databaseName(org)).collection('requests');
  const retitled: ImportRecord = { ...thread, subject: 'tiger' };
  const imported = async (record: object, outcome: string, words: string[]): Promise<void> => {
    const { answer } = await importText(cli, org, JSON.stringify(record), 'requests.ndjson');
    expect(answer.files.requests).toMatchObject({ [outcome]: 1 });
    expect([...((await rows.findOne())!.search as string[])].sort()).toEqual(words);
  };
  await imported(retitled, 'updated', ['GIRAFFE', 'LION', 'TIGER', 'ZEBRA']);
  await imported(retitled, 'unchanged', ['GIRAFFE', 'LION', 'TIGER', 'ZEBRA']);
  const [last] = retitled.messages as object[];
  await imported({ ...retitled, messages: [last] }, 'updated', ['LION', 'TIGER', 'ZEBRA']);
  await imported({ ...retitled, subject: 'erased', messages: [last] }, 'updated', ['ERASED', 'LION']);
});

test("a message's external_ref is free once a message before has given it up, or its own thread is refused", async () => {
  const { id: org } = await makeOrganisation(cli, 'References');
  const withRefs = (thread: ImportRecord, ...refs: (string | null)[]): object => ({
    ...thread,
    messages: (thread.messages as object[]).map((message, at) => ({ ...message, external_ref: refs[at] })),
  });
  const [one, two, three] = [['a', 'b'], ['c', 'd'], ['e']].map((bodies) => threadRecord(bodies));
  const text = (...records: object[]): string => records.map((record) => JSON.stringify(record)).join('\n');
  await importText(cli, org, text(withRefs(one!, '1', null), withRefs(three!, '3')), 'requests.ndjson');
  // the second is refused for the reference of another, and so takes no 4
  const lines = text(withRefs(one!, null, '1'), withRefs(two!, '4', '3'), withRefs(three!, '4'));
  const { answer } = await importText(cli, org, lines, 'requests.ndjson');
  expect(answer.files.requests).toMatchObject({ updated: 2, failed: 1 });
  expect(answer.errors).toMatchObject([{ line: 2, pointer: '/messages/1/external_ref', code: 'conflict' }]);
});

test('ids in capitals are the same ids, at any depth', async () => {
  const { id: org } = await makeOrganisation(cli, 'Capitals');
  const lines = await northwindLines('orders.ndjson', 2);
  const capitals = lines.map((line) =>
    line.replaceAll(/"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"/g, (id) => id.toUpperCase()),
  );
  expect(capitals[0]).not.toBe(lines[0]);
  // as another system writes a file
  expect(await importText(cli, org, `\ufeff${capitals.join('\r\n\r\n')}\r\n`, 'orders.ndjson')).toMatchObject({
    code: 0,
  });
  const { answer } = await importText(cli, org, lines.join('\n'), 'orders.ndjson');
  expect(answer.files.orders).toEqual({ read: 2, created: 0, updated: 0, unchanged: 2, failed: 0 });
});
