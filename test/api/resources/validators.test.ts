import { join } from 'node:path';
import { databaseName } from '../../../src/mongo/databaseNames';
import { dropIndexes, existingIndexes } from '../../../src/mongo/indexes';
import { createChecked, validationOptions } from '../../../src/mongo/validators';
import { resourceOf } from '../../../src/resources';
import {
  checkOf,
  commandLine,
  type Diagnosis,
  makeOrganisation as makeByCommand,
  NORTHWIND,
} from '../../cli/commandLine';
import { makeOrganisation } from '../../support/factories';
import { driver, late, served, startGateway, type TestGateway } from '../../support/gateway';
import { goodQuote, MISTAKES } from '../../support/mistakes';

const quotes = resourceOf('quotes');

/* MongoDB checks what other programs write (docs/decisions/stored-validation.md). */

/** The error of a row that a validator refuses. */
const REFUSED = { code: 121 };
/** Mistakes in the form of a text, which validators do not check. */
const FORMS = ['a text for a day', 'a currency in small letters'];

const gateway = served();
const bare = driver();

async function quotesOf(of: TestGateway) {
  const data = of.databases.organisationData(await makeOrganisation(of));
  await data.prepare([quotes]);
  return { database: data.database, rows: data.collection(quotes) };
}

describe('a collection that the gateway creates', () => {
  const scene = late(() => quotesOf(gateway));

  test.each(MISTAKES.map((mistake, at) => [...mistake, at] as const))(
    'refuses %s if such a row cannot be served, and only then',
    async (title, spoil, pointer, at) => {
      const row = goodQuote(`Q${String(at)}`);
      spoil(row);
      const stored = scene.rows.insertOne(row as never);
      if (pointer === undefined || FORMS.includes(title)) await stored;
      else await expect(stored).rejects.toMatchObject(REFUSED);
    },
  );

  test('refuses changes that would keep a row from being served', async () => {
    const row = goodQuote('changed');
    await scene.rows.insertOne(row as never);
    const changed = scene.rows.updateOne({ _id: row._id as string }, { $set: { status: 'mine' } as never });
    await expect(changed).rejects.toMatchObject(REFUSED);
  });
});

test.each(['warn', 'off'])('with STORED_VALIDATION=%s such rows are stored', async (STORED_VALIDATION) => {
  await using other = await startGateway({ STORED_VALIDATION });
  const { rows, database } = await quotesOf(other);
  await rows.insertOne({ ...goodQuote('own'), status: 'mine' } as never);
  const { validationAction } = (await validationOptions(database)).get('quotes') ?? {};
  expect(validationAction).toBe(STORED_VALIDATION === 'warn' ? 'warn' : undefined);
});

test('a collection that another program creates at the same time is used as it is', async () => {
  const { database } = gateway.databases.organisationData(await makeOrganisation(gateway));
  await database.collection('quotes').insertOne({ ...goodQuote('own'), status: 'mine' } as never);
  await createChecked(database, quotes, 'error');
  expect((await validationOptions(database)).get('quotes')).not.toHaveProperty('validator');
  await database.dropDatabase();
});

test('doctor --fix adds validators, and replaces and removes those of ours, by STORED_VALIDATION', async () => {
  const strict = commandLine();
  const { CONTROL_DATABASE } = strict.environment;
  const [warning, off] = ['warn', 'off'].map((STORED_VALIDATION) =>
    commandLine({ CONTROL_DATABASE: CONTROL_DATABASE!, STORED_VALIDATION }),
  );
  const { id } = await makeByCommand(strict);
  await off!.json('import', '--org', id, join(NORTHWIND, 'products.ndjson'));
  const database = bare.db(databaseName(id));
  const rows = database.collection<{ _id: string }>('products');
  const [first] = await rows.find().toArray();
  await rows.updateOne({ _id: first!._id }, { $set: { active: 'yes' } });
  const actionNow = async (): Promise<unknown> => (await validationOptions(database)).get('products')?.validationAction;

  expect(await checkOf(strict, 'indexes')).toMatchObject({
    ok: true,
    detail: expect.stringContaining('1 has collections without a validator, which scopegate doctor --fix adds'),
  });
  expect(await actionNow()).toBeUndefined();
  expect((await strict.run('doctor', '--fix')).stdout).toContain('set the validator of products');
  expect(await checkOf(strict, 'indexes')).toMatchObject({ detail: '1 organisation has every index' });
  expect(await actionNow()).toBe('error');
  // rows from before can be changed, new ones are checked
  await rows.updateOne({ _id: first!._id }, { $set: { uom: 'box' } });
  await expect(rows.insertOne({ _id: 'mine' })).rejects.toMatchObject(REFUSED);

  await warning!.run('doctor', '--fix');
  expect(await actionNow()).toBe('warn');
  expect(await checkOf(off!, 'indexes')).toMatchObject({
    detail: expect.stringContaining('which scopegate doctor --fix removes'),
  });
  await off!.run('doctor', '--fix');
  await rows.insertOne({ _id: 'mine' });
  expect(await checkOf(off!, 'indexes')).toMatchObject({ detail: '1 organisation has every index' });

  await database.command({ collMod: 'products', validator: { sku: { $exists: true } }, validationAction: 'error' });
  const named = { ok: true, detail: "another program's validator: products", fix: expect.any(String) };
  expect(await checkOf(strict, `indexes of Northwind Traders (${id})`)).toMatchObject(named);
  await rows.dropIndex('sku_1');
  const { checks } = JSON.parse((await strict.run('doctor', '--fix', '--json')).stdout) as Diagnosis;
  const fixed = { ...named, detail: `created products: sku_1; ${named.detail}` };
  expect(checks).toContainEqual({ name: `indexes of Northwind Traders (${id})`, ...fixed });
  expect((await validationOptions(database)).get('products')?.validator).toEqual({ sku: { $exists: true } });
});

test('of retired indexes, one that another doctor has dropped meanwhile keeps no other', async () => {
  const { database } = await quotesOf(gateway);
  await dropIndexes(database, quotes, ['dropped', 'number_1']);
  expect((await existingIndexes(database, 'quotes'))?.map(({ name }) => name)).not.toContain('number_1');
});
