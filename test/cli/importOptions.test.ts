import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { databaseName } from '../../src/mongo/databaseNames';
import { eventually } from '../api/http/eventually';
import { client, type Json } from '../support/client';
import { driver, startGateway } from '../support/gateway';
import {
  commandLine,
  commandOf,
  finished,
  type ImportAnswer,
  makeKey,
  makeOrganisation,
  newFolder,
  NORTHWIND,
  northwindLines,
} from './commandLine';

/* Options of `import`: where records come from, what time of change they get, and what becomes of objects that are not among them. */

const cli = commandLine();
const bare = driver();

describe('import --stamp', () => {
  const line = async (): Promise<string> => (await northwindLines('products.ndjson', 1))[0] ?? '';

  async function importing(org: string, text: string, ...more: string[]): Promise<Json> {
    const path = join(await newFolder(), 'products.ndjson');
    await writeFile(path, text);
    const { files } = await cli.json<ImportAnswer>('import', '--org', org, path, ...more);
    const [row] = await bare.db(databaseName(org)).collection('products').find().toArray();
    return { ...files.products, at: row?.updated_at as Date };
  }

  test('now: updated_at is the time of the import for what is created or changed, and stays for what is not', async () => {
    const { id: org } = await makeOrganisation(cli, 'Stamped');
    const began = Date.now() - 1000;
    const first = await importing(org, await line(), '--stamp', 'now');
    expect(first).toMatchObject({ created: 1 });
    expect(Number(first.at)).toBeGreaterThan(began);
    const same = await importing(
      org,
      (await line()).replace(/"updated_at": "[^"]*"/, '"updated_at": "2020-01-31"'),
      '--stamp',
      'now',
    );
    expect(same).toMatchObject({ unchanged: 1, at: first.at });
    const changed = await importing(org, (await line()).replace('Chai', 'Tea'), '--stamp', 'now');
    expect(changed).toMatchObject({ updated: 1 });
    expect(Number(changed.at)).toBeGreaterThanOrEqual(Number(first.at));
    const back = await importing(org, await line(), '--stamp', 'file');
    expect(back).toMatchObject({ updated: 1, at: new Date('1996-06-01T00:00:00.000Z') });
  });

  test('is that of the file until a key reads changes with updated_since, and then now', async () => {
    const { id: org } = await makeOrganisation(cli, 'Followed');
    const old = { at: new Date('1996-06-01T00:00:00.000Z') };
    expect(await importing(org, await line())).toMatchObject(old);
    await using gateway = await startGateway({ CONTROL_DATABASE: cli.controlDatabase });
    const caller = client(gateway, (await makeKey(cli, org)).key);
    await caller.get('/products');
    expect(await importing(org, (await line()).replace('Chai', 'Tea'))).toMatchObject(old);
    expect((await caller.get('/products', { updated_since: '2020-01-31' })).body.data).toEqual([]);
    // noted after the answer
    await eventually(() => gateway.control.organisations.isFollowed(org));
    const renamed = await importing(org, (await line()).replace('Chai', 'Coffee'));
    expect(Number(renamed.at)).toBeGreaterThan(Number(old.at));
    expect((await caller.get('/products', { updated_since: '2020-01-31' })).body.data).toMatchObject([
      { name: 'Coffee' },
    ]);
  });

  test('now: a thread of which only a message changed is stamped, too', async () => {
    const { id: org } = await makeOrganisation(cli, 'Threads');
    const [thread = ''] = await northwindLines('requests.ndjson', 1);
    const path = join(await newFolder(), 'threads');
    const threads = bare.db(databaseName(org)).collection('requests');
    for (const [text, stamp] of [
      [thread, 'file'],
      [thread.replace(/"author_name": "[^"]*"/, '"author_name": "Ann"'), 'now'],
    ] as const) {
      await writeFile(path, text);
      await cli.json('import', '--org', org, path, '--type', 'requests', '--stamp', stamp);
    }
    expect(Number((await threads.findOne())?.updated_at)).toBeGreaterThan(Date.now() - 60_000);
  });
});

describe('import --delete-missing', () => {
  test('deletes what a file does not have, once it is confirmed, and nothing if a line is invalid or there is none', async () => {
    const { id: org } = await makeOrganisation(cli, 'Deleting');
    const lines = await northwindLines('requests.ndjson', 4);
    const database = bare.db(databaseName(org));
    const count = (name: string): Promise<number> => database.collection(name).countDocuments();
    const path = join(await newFolder(), 'requests.ndjson');
    await writeFile(path, lines.join('\n'));
    await cli.json('import', '--org', org, path);
    const all = await count('messages');
    await writeFile(path, lines.slice(0, 2).join('\n'));
    const asked = await cli.run('import', '--org', org, path, '--delete-missing');
    expect(asked).toMatchObject({ code: 1 });
    expect(asked.stderr).toContain('nothing was deleted: add --yes to delete 2 requests that the files do not have');
    await writeFile(path, [...lines.slice(0, 2), 'no json'].join('\n'));
    await cli.run('import', '--org', org, path, '--delete-missing', '--yes');
    await writeFile(path, '\n');
    await cli.run('import', '--org', org, path, '--delete-missing', '--yes');
    expect([await count('requests'), await count('messages')]).toEqual([4, all]);
    await writeFile(path, lines.slice(0, 2).join('\n'));
    const { files } = await cli.json<ImportAnswer>('import', '--org', org, path, '--delete-missing', '--yes');
    expect(files.requests).toEqual({ read: 2, created: 0, updated: 0, unchanged: 2, failed: 0, deleted: 2 });
    expect(await count('requests')).toBe(2);
    const ids = (await database.collection('requests').find().toArray()).map(({ _id }) => String(_id));
    expect(await database.collection('messages').countDocuments({ request_id: { $nin: ids } })).toBe(0);
  });

  test('leaves what was created since the import began, whatever its created_at says, and what is erased', async () => {
    const { id: org } = await makeOrganisation(cli, 'Meanwhile');
    const [line = '', stored = ''] = await northwindLines('products.ndjson', 2);
    const first = join(await newFolder(), 'products.ndjson');
    await writeFile(first, stored);
    await cli.json('import', '--org', org, first);
    const rows = bare.db(databaseName(org)).collection('products');
    const row = await rows.findOne();
    const add = (sku: string, members: object = {}) =>
      rows.insertOne({ ...row, _id: randomUUID() as never, sku, ...members });
    // as an erased customer is, whose row refuses that it is written again
    await add('ERASED', { erased_at: new Date() });
    await add('FUTURE', { created_at: new Date('2100-01-01') });
    const [node = '', ...args] = commandOf(['import', '--org', org, '-', '--type', 'products', '--delete-missing']);
    const child = spawn(node, [...args, '--yes', '--json'], { env: { ...process.env, ...cli.environment } });
    const ended = finished(child);
    // a batch, which is stored before the file ends
    const batch = Array.from({ length: 500 }, (_, index) =>
      line.replace(/"id": "[^"]*"/, `"id": "${randomUUID()}"`).replace('NW-001', `NW-${String(index)}`),
    );
    child.stdin.write(`${batch.join('\n')}\n`);
    await eventually(async () => (await rows.countDocuments()) > batch.length, 120_000);
    await add('NEW');
    child.stdin.end(line.replace('NW-001', 'LAST'));
    const { files } = JSON.parse((await ended).stdout) as ImportAnswer;
    expect(files.products).toMatchObject({ created: 501, deleted: 2 });
    const others = await rows.find({ sku: { $not: /^NW-/ } }).toArray();
    expect(others.map(({ sku }) => sku as string).sort()).toEqual(['ERASED', 'LAST', 'NEW']);
  });
});

test('import - reads standard input, and needs to know what is in it', async () => {
  const { id: org } = await makeOrganisation(cli, 'Piped');
  const [node = '', ...args] = commandOf(['import', '--org', org, '-', '--type', 'products', '--json']);
  const child = spawn(node, args, { env: { ...process.env, ...cli.environment } });
  const ended = finished(child);
  const lines = await northwindLines('products.ndjson', 3);
  child.stdin.end(['no json', ...lines].join('\n'));
  const { code, stdout, stderr } = await ended;
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    files: { products: { read: 4, created: 3, failed: 1 } },
    errors: [{ file: '-', line: 1 }],
  });
  expect(stderr).toContain('-:1: ');
  for (const [wrong, says] of [
    [['-'], 'standard input needs --type'],
    [['-', '--type', 'messages'], '--type must be one of products, '],
    [[NORTHWIND, '--type', 'quotes'], '--type is for a single file'],
  ] as const)
    expect(await cli.failed(2, 'import', '--org', org, ...wrong)).toContain(says);
});

test('import - ends at once when it is interrupted while nothing more comes', async () => {
  const { id: org } = await makeOrganisation(cli, 'Waiting');
  const [node = '', ...args] = commandOf(['import', '--org', org, '-', '--type', 'products']);
  const child = spawn(node, args, { env: { ...process.env, ...cli.environment } });
  const ended = finished(child);
  // it says which database it uses once it watches for signals
  await new Promise((resolve) => child.stderr.once('data', resolve));
  child.kill('SIGINT');
  expect(await ended).toMatchObject({ code: 130, stderr: expect.stringContaining('interrupted') });
});
