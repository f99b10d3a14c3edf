import type { EventRow } from '../../../src/events/collection';
import { tailRows } from '../../../src/events/tail/lease';
import { databaseName } from '../../../src/mongo/databaseNames';
import { DAY } from '../../../src/units';
import { northwind, store } from '../../support/factories';
import { newScene, openWorld, storeEvents, untilArrived } from '../../support/fixtures/webhooks';
import { withGateway } from '../../support/gateway';
import { eventually } from '../http/eventually';

/* Endpoints that a gateway of the version before does not know (beside a real one: .ci/previous/run). */

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
