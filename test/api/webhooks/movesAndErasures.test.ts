import { databaseName } from '../../../src/mongo/databaseNames';
import { eventually } from '../http/eventually';
import { idsOf, untilDelivered, untilReleased, useWorld } from '../../support/fixtures/webhooks';

/* Deliveries of an organisation that is moved to another shard or erased meanwhile. */

jest.mock('../../../src/async/loop', () => jest.requireActual<object>('../../support/quickLoops'));
jest.mock('../../../src/webhooks/post', () => jest.requireActual<object>('../../support/longPosts'));
jest.mock('../../../src/units', () => jest.requireActual<object>('../../support/longPosts'));

const { world, scene, untilLooked } = useWorld();

/** A scene whose second event waits for the receiver's answer. */
async function sceneWithHeldDelivery() {
  const one = await scene();
  // the collection already exists, so creating it cannot be refused
  await one.write(1);
  await untilDelivered(one, 1);
  const held = one.receiver.hold();
  await one.write(1);
  await eventually(() => held.count() === 1);
  return { one, held };
}

test('while an organisation is being moved, nothing is posted whose outcome could not be stored', async () => {
  const one = await scene();
  await one.write(1);
  await untilDelivered(one, 1);
  await untilReleased(one);
  // its events are stored first, since only its endpoint is under test here
  await one.set({ until: new Date(Date.now() + 60_000) });
  await one.write(1);
  await eventually(async () => (await one.endpoint()).lag_seconds > 0);
  await one.moving(true);
  for (let turn = 0; turn < 3; turn += 1) {
    await one.hurry();
    await eventually(async () => (await one.row()).until.getTime() > Date.now() + 2000);
    await untilReleased(one);
  }
  expect(one.receiver.arrived).toHaveLength(1);
  await one.moving(false);
  await one.hurry();
  await untilDelivered(one, 2);
  expect(idsOf(one)).toHaveLength(2);
});

test('an event whose delivery fails during a move is sent again after the move', async () => {
  const { one, held } = await sceneWithHeldDelivery();
  const { position } = await one.row();
  await one.moving(true);
  held.release(500);
  await untilReleased(one);
  expect((await one.row()).position).toBe(position);
  one.receiver.answer = () => 204;
  await one.moving(false);
  await one.hurry();
  await untilDelivered(one, 2);
  expect(new Set(idsOf(one)).size).toBe(2);
});

test('an organisation erased during a delivery is not recreated', async () => {
  const { one, held } = await sceneWithHeldDelivery();
  const { id } = one.organisation;
  const { erasing } = world.gateway.control;
  const { organisation } = (await erasing.begin(id))!;
  await erasing.noteExported(id);
  await world.gateway.databases.organisationData(organisation).drop();
  await erasing.finish(organisation);
  expect(await world.endpoints.countDocuments({ organisation_id: id })).toBe(0);
  held.release();
  await untilLooked();
  const { databases } = await world.bare.db('admin').admin().listDatabases({ nameOnly: true });
  expect(databases.map(({ name }) => name)).not.toContain(databaseName(id));
});
