import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openStore } from '../../src/cli/store';
import { sendStderrTo } from '../../src/cli/terminal';
import { prepareDemo } from '../../src/cli/demo';
import { readConfig } from '../../src/config';
import { databaseName } from '../../src/mongo/databaseNames';
import { oldServers } from '../support/oldServers';
import { northwind } from '../support/factories';
import { driver } from '../support/gateway';
import { commandLine, newFolder } from './commandLine';

/* The key and the sample of `demo` from one start to the next. */

const bare = driver();

/** A demo with a folder of its own; the function starts it, and returns its key, all its keys, and what it says. */
async function demoOf() {
  const DATA_DIR = await newFolder();
  const config = readConfig({ ...oldServers(), ...commandLine().environment, DATA_DIR });
  const file = join(DATA_DIR, 'demo-key');
  const start = async (stopped?: AbortSignal) => {
    const said: string[] = [];
    sendStderrTo((_level, line) => said.push(line));
    const store = await openStore(config, () => undefined);
    try {
      const { organisation, demoKey } = await prepareDemo(store, config, stopped ?? new AbortController().signal);
      const keys = await store.control.apiKeys.list(organisation.id);
      const states = keys.map((key) => [key.last_four, store.control.apiKeys.stateOf(key)]);
      return { organisation, key: demoKey, states, said: said.join('\n'), id: keys[0]!._id, scopes: keys[0]!.scopes };
    } finally {
      await store.close();
      sendStderrTo(undefined);
    }
  };
  return { start, file, cli: commandLine({ CONTROL_DATABASE: config.CONTROL_DATABASE }) };
}

test('each start has the same key and loads nothing again; a key that cannot be used is replaced, and none is revoked', async () => {
  const { start, file, cli } = await demoOf();
  const [first, second] = [await start(), await start()];
  expect(first.scopes).not.toContain('quotes:write');
  expect(first.said).toMatch(/loaded \d+ records from examples\/northwind/);
  expect(second).toMatchObject({ organisation: first.organisation, key: first.key, said: '' });
  // only its owner can read it
  expect([await readFile(file, 'utf8'), (await stat(file)).mode & 0o777]).toEqual([`${first.key}\n`, 0o600]);

  await cli.json('key', 'revoke', first.id);
  const third = await start();
  await writeFile(file, 'half of a ke', { mode: 0o644 });
  const fourth = await start();
  const unusable = `created a new demo key: that in ${file} cannot be used`;
  const left = '; earlier ones stay active until you revoke them with `scopegate key revoke`';
  expect([third.said, fourth.said]).toEqual([unusable, unusable + left]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);

  await rm(file);
  const fifth = await start();
  expect(fifth.said).toBe(`created a new demo key: ${file} is not there${left}`);
  const made = [first, third, fourth, fifth].map(({ key }) => key.slice(-4));
  expect(fifth.states).toEqual(made.map((lastFour, at) => [lastFour, at === 0 ? 'revoked' : 'active']));
});

test('what somebody deletes or changes stays so; types without objects and an interrupted load are completed', async () => {
  const { start } = await demoOf();
  await expect(start(AbortSignal.abort())).rejects.toThrow('aborted');
  const { organisation } = await start();
  const database = bare.db(databaseName(organisation.id));
  const [products, orders] = [database.collection('products'), database.collection('orders')];
  expect([await products.countDocuments(), await orders.countDocuments()]).toEqual([
    northwind('products').length,
    northwind('orders').length,
  ]);
  await products.deleteOne({ sku: 'NW-001' });
  await products.updateOne({ sku: 'NW-002' }, { $set: { name: 'Mine' } });
  await orders.deleteMany({});
  await start();
  expect(await products.countDocuments()).toBe(northwind('products').length - 1);
  expect(await products.findOne({ sku: 'NW-002' })).toMatchObject({ name: 'Mine' });
  expect(await orders.countDocuments()).toBe(northwind('orders').length);
});
