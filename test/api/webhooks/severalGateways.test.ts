import type { EventRow } from '../../../src/events/collection';
import { tailRows } from '../../../src/events/tail/lease';
import { databaseName } from '../../../src/mongo/databaseNames';
import { DAY } from '../../../src/units';
import { createMasterSecret } from '../../../src/webhooks/masterSecret';
import { eventually } from '../http/eventually';
import { northwind, store } from '../../support/factories';
import { type TestGateway, withGateway } from '../../support/gateway';
import {
  newScene,
  openWorld,
  type Scene,
  storeEvents,
  untilArrived,
  verifiedBy,
} from '../../support/fixtures/webhooks';
import { officeOf, SECRET } from './office';

/* Gateways with different settings or versions on one control database. */

test('WEBHOOK_SECRET is replaced one endpoint at a time: the former one signs until the secret of an endpoint is rotated', async () => {
  await using own = await openWorld({ EVENTS: 'off' });
  const [one, other] = [await newScene(own), await newScene(own)];
  // as gateways of earlier versions stored it
  await own.endpoints.updateOne({ _id: one.id }, { $unset: { master: '' } });
  const [environment, next] = [own.environment, 'the master secret of webhooks that comes next'];
  const testedBy = async (of: Scene, gateway: TestGateway) => {
    const { admin } = await officeOf(gateway, of.organisation);
    return { admin, answer: await admin('send_test_event', { webhook_id: of.id }) };
  };
  const both = { ...environment, WEBHOOK_SECRET: next, WEBHOOK_SECRET_PREVIOUS: SECRET };
  let second = '';
  await withGateway(both, async (gateway) => {
    const { admin } = await testedBy(one, gateway);
    expect(verifiedBy(one, one.secret)).toEqual([true]);
    second = (await admin('rotate_webhook', { webhook_id: one.id })).secret as string;
    await testedBy(one, gateway);
    expect(verifiedBy(one, one.secret, second)).toEqual([true, true]);
    // the other still has one, and both signatures are needed for a day
    const secret = createMasterSecret(gateway, { current: next, previous: SECRET });
    expect([await secret.outdated(), await secret.overlapping()]).toMatchObject([
      { count: 1, rows: [{ _id: other.id }] },
      { count: 1, rows: [{ _id: one.id }] },
    ]);
    expect(await secret.cutShort()).toMatchObject({ count: 0 });
    const added = await newScene({ ...own, gateway }, { receiver: one.receiver });
    await testedBy(added, gateway);
    expect(verifiedBy(added, added.secret)).toEqual([true]);
  });
  // a gateway that has both the other way round, as before the swap
  await withGateway({ ...environment, WEBHOOK_SECRET_PREVIOUS: next }, async (gateway) => {
    await testedBy(one, gateway);
    expect(verifiedBy(one, second)).toEqual([true]);
  });
  // without the former one, while an endpoint needs it
  const alone = { ...environment, WEBHOOK_SECRET: next };
  await withGateway(alone, async (gateway) => {
    const { admin, answer } = await testedBy(other, gateway);
    expect(answer).toMatchObject({ code: 'unavailable', message: expect.stringContaining('WEBHOOK_SECRET_PREVIOUS') });
    await admin('delete_webhook', { webhook_id: other.id });
    await testedBy(one, gateway);
    expect(verifiedBy(one, one.secret, second)).toEqual([false, true]);
  });
  // a gateway that sends says so
  await own.bare.db(environment.CONTROL_DATABASE).collection('event_tails').deleteMany({});
  await withGateway({ ...alone, EVENTS: 'on' }, async ({ logs }) => {
    const said = await eventually(() => logs.find(({ msg }) => String(msg).includes('as promised until')));
    expect(said.msg).toMatch(/^1 endpoint was rotated, .* until \d{4}-\S+Z; set WEBHOOK_SECRET_PREVIOUS to the former/);
  });
});

/* Beside a real gateway of the version before: .ci/previous/run. */
test('an endpoint for some customers that a version before could not wake is woken by the gateway that records events next', async () => {
  await using own = await openWorld({ EVENTS: 'off' });
  const [customer] = northwind('customers');
  const one = await newScene(own);
  await store(own.gateway, one.organisation, { customers: [customer!] });
  const { url } = one.receiver;
  const { endpoint } = await one.admin('create_webhook', { url, customer_ids: [customer!.id] });
  // as versions before look for it
  expect(await own.endpoints.find({ organisation_id: one.organisation.id }).toArray()).toMatchObject([{ _id: one.id }]);
  // of one that has long waited for the next event
  await own.endpoints.updateMany({}, { $set: { created_at: new Date(Date.now() - DAY) }, $unset: { due: '' } });
  await storeEvents(own, one.organisation, 2);
  const events = own.bare.db(databaseName(one.organisation.id)).collection<EventRow>('events');
  const told = await events.findOneAndUpdate({}, { $set: { customers: [customer!.id] } });
  // that of the other gateways, which tests only pretend
  await tailRows(own.bare, own.environment.CONTROL_DATABASE!).deleteMany({});
  await withGateway({ ...own.environment, EVENTS: 'on' }, async () => {
    await untilArrived(one, 1);
    await eventually(async () => (await own.endpoints.findOne({ _id: endpoint.id }))?.holder === null);
  });
  expect(one.receiver.arrived.map(({ event }) => event.object.id as string)).toEqual([told?.object?.id]);
});
