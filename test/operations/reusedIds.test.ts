import { createWithId } from '../../src/cli/org/createWithId';
import type { Store } from '../../src/cli/store';
import { readConfig } from '../../src/config';
import { eraseOrganisation } from '../../src/jobs/eraseOrganisation';
import { databaseName } from '../../src/mongo/databaseNames';
import { SETTLED_AFTER } from '../../src/organisations/reusedIds';
import { openOwn } from './erasures';
import { makeNorthwind } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';

/* Ids of organisations that were erased: what has them later. */

const CONTROL_DATABASE = 'scopegate_reused_ids';
let gateway: TestGateway;
/** What commands have open. */
let own: Store;

beforeAll(async () => {
  gateway = await startGateway({ CONTROL_DATABASE });
  own = await openOwn(CONTROL_DATABASE);
});
afterAll(async () => {
  await own.close();
  await gateway.stop();
});

/** Makes an organisation and erases it, so many milliseconds ago. Resolves with its id. */
async function erasedBefore(age: number): Promise<string> {
  const { id } = await makeNorthwind(gateway, 1);
  await eraseOrganisation(own, id);
  await own.databases.control
    .collection('audit_events')
    .updateMany({ organisation_id: id }, { $set: { at: new Date(own.databases.now() - age) } });
  return id;
}

test.each([
  [60_000, false],
  [121_000, true],
])('erasing again %i ms after the end keeps a database by that name: %j', async (age, isKept) => {
  expect(SETTLED_AFTER).toBe(120_000);
  const id = await erasedBefore(age);
  const data = own.databases.organisationData({ id });
  await data.database.collection('products').insertOne({});
  expect([await eraseOrganisation(own, id), await data.exists()]).toEqual([true, isKept]);
  await data.drop();
});

test('an organisation that is created with such an id, but not all of its indexes, is said to be erased and created again, which helps', async () => {
  const id = await erasedBefore(121_000);
  const input = { id, name: 'Back', plan: 'integrations' };
  const data = own.databases.organisationData({ id });
  const failing = jest.spyOn(data, 'whileWritable').mockRejectedValueOnce(new Error('no primary'));
  await expect(createWithId(own, readConfig({}), input)).rejects.toThrow(
    `organisation ${id} was created without all of its indexes (no primary), which gateways that knew the former one would not add: run scopegate org erase ${id} --confirm "Back" --no-export, and two minutes later`,
  );
  expect(failing).toHaveBeenCalled();
  await eraseOrganisation(own, id);
  await own.databases.control
    .collection('audit_events')
    .updateMany({ organisation_id: id }, { $set: { at: new Date(0) } });
  await createWithId(own, readConfig({}), input);
  const names = await own.databases.control
    .getClient()
    .db(databaseName(id))
    .listCollections({}, { nameOnly: true })
    .toArray();
  expect(names.map(({ name }) => name)).toEqual(expect.arrayContaining(data.collections.map(({ name }) => name)));
});
