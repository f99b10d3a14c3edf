import type { mongo } from 'mongoose';
import { setValidator, validationOptions, validatorState, widenValidator } from '../../../src/mongo/validators';
import type { OrganisationData } from '../../../src/tenant/organisationData';
import { resourceOf } from '../../../src/resources';
import { storeRecords } from '../../../src/stored/records';
import { checkOf, commandLine } from '../../cli/commandLine';
import { callerOf, makeOrganisation, northwind } from '../../support/factories';
import { served } from '../../support/gateway';
import { TOKENS } from '../../admin/operator/operator';
import { LEAST, put, writing } from '../../admin/operator/writing';

/* What a validator of another version refuses is written after all, once the validator allows it (docs/decisions/stored-validation.md). */

const gateway = served(TOKENS);
const products = resourceOf('products');

/** Of a version that has one more member in each row. */
const older = (member: string) => {
  const { required, ...schema } = products.schema as { required: string[] };
  return { ...products, schema: { ...schema, required: [...required, member] } };
};

/** An organisation whose products have the validator of another version. */
async function outdated(organisation = makeOrganisation(gateway)) {
  const data = gateway.databases.organisationData(await organisation);
  await data.prepare([products]);
  await setValidator(data.database, older('weight'), 'error');
  const validator = async () => (await validationOptions(data.database)).get('products')!;
  const caller = await callerOf(gateway, organisation);
  const create = (sku: string) => caller.post('/products/bulk', { products: [{ sku, name: sku }] });
  return { data, validator, create };
}

const PATHS: Readonly<Record<string, () => Promise<{ stored: unknown; data: OrganisationData }>>> = {
  'a bulk call': async () => {
    const { data, create } = await outdated();
    const { body } = await create('TEA-1');
    return { stored: body.results[0].outcome as unknown, data };
  },
  'an import': async () => {
    const { data } = await outdated();
    const [record] = northwind('products');
    const [done] = await storeRecords(products.records!, data, [record!], { by: 'operator' });
    return { stored: done!.outcome, data };
  },
  'a write of the operator': async () => {
    const { organisation, outcomes } = await writing(gateway);
    const { data } = await outdated(Promise.resolve(organisation));
    return { stored: (await outcomes(put('product', { ...LEAST.product, sku: 'TEA-1' })))[0], data };
  },
};

test.each(Object.entries(PATHS))('%s stores what a validator of another version refuses', async (_, write) => {
  const { stored, data } = await write();
  expect(stored).toBe('created');
  expect(await data.collection(products).countDocuments()).toBe(1);
  expect(gateway.logs).toContainEqual(
    expect.objectContaining({ organisation_id: data.organisationId, collection: 'products' }),
  );
});

test('a validator that was widened allows what either version writes, nothing else, and is told by doctor', async () => {
  const { data, validator, create } = await outdated();
  expect((await create('TEA-1')).status).toBe(200);
  const widened = await validator();
  expect(validatorState(products, widened, 'error')).toBe('outdated');
  // so that the two never take turns at it
  expect(await widenValidator(data.database, older('weight'), widened, 'error')).toBe(false);
  await expect(data.collection(products).insertOne({ _id: 'mine' })).rejects.toMatchObject({ code: 121 });
  expect((await create('TEA-2')).body).toMatchObject({ created: 1 });
  expect(await validator()).toEqual(widened);
  const cli = commandLine({ CONTROL_DATABASE: gateway.databases.control.name });
  expect(await checkOf(cli, 'validators')).toMatchObject({ ok: true, detail: expect.stringContaining('products (') });
  await cli.run('doctor', '--fix');
  expect(validatorState(products, await validator(), 'error')).toBe('current');
  expect(await checkOf(cli, 'validators')).toBeUndefined();
});

test.each(['error', 'warn', 'off'] as const)(
  'with STORED_VALIDATION=%s a write waits at most 5 s to change a validator of another version',
  async (validation) => {
    const { data, validator } = await outdated();
    const command = jest.spyOn(data.database, 'command');
    expect(await widenValidator(data.database, products, await validator(), validation)).toBe(true);
    expect(command).toHaveBeenCalledWith(expect.objectContaining({ collMod: 'products', maxTimeMS: 5000 }));
  },
);

test('many writes at once change the validator once', async () => {
  const { data, create } = await outdated();
  const command = jest.spyOn(data.database, 'command');
  const all = await Promise.all(['A', 'B', 'C', 'D'].map(create));
  expect(all.map(({ body }) => body.created as unknown)).toEqual([1, 1, 1, 1]);
  expect(command.mock.calls.filter(([one]) => 'collMod' in one)).toHaveLength(1);
});

test('a write whose validator another gateway has widened since it was refused is stored', async () => {
  const { data, create } = await outdated();
  const { database } = data;
  const list = database.listCollections.bind(database);
  jest.spyOn(database, 'listCollections').mockImplementationOnce((() => {
    const listed = list({});
    const toArray = async () => {
      const all = (await listed.toArray()) as mongo.CollectionInfo[];
      const { options = {} } = all.find(({ name }) => name === 'products')!;
      await widenValidator(database, products, options, 'error');
      return list({}).toArray();
    };
    return { toArray };
  }) as never);
  expect((await create('TEA-1')).body).toMatchObject({ created: 1 });
});

test.each([
  ['may not change validators', 'could not be changed (not authorized)'],
  ['finds one of another program', "is another program's"],
  ['finds its own', 'allows what this version writes'],
])('a gateway that %s answers 500, and its log says what to do', async (why, sentence) => {
  const { data, create } = await outdated();
  const { database } = data;
  const command = database.command.bind(database);
  if (why.startsWith('may not'))
    jest.spyOn(database, 'command').mockImplementation((one, ...options) => {
      if ('collMod' in one) throw Object.assign(new Error('not authorized'), { code: 13 });
      return command(one, ...options);
    });
  else {
    await command({ collMod: 'products', validator: { weight: { $exists: true } } });
    if (why.includes('own')) jest.spyOn(database, 'listCollections').mockReturnValueOnce(OWN as never);
  }
  expect((await create('TEA-1')).status).toBe(500);
  const message = `MongoDB's validator refused a row: run scopegate doctor --fix; that of products: ${sentence}`;
  const error = expect.objectContaining({ message: expect.stringContaining(message) });
  expect(gateway.logs).toContainEqual(expect.objectContaining({ msg: 'request failed', error }));
});

/** What lists a collection whose validator is of this version. */
const OWN = {
  toArray: () => {
    const options = { validationLevel: 'moderate', validationAction: 'error' };
    return Promise.resolve([
      { name: 'products', options: { ...options, validator: { $jsonSchema: products.schema } } },
    ]);
  },
};
