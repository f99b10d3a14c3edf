import { databaseName } from '../../../src/mongo/databaseNames';
import { type EventRow, events } from '../../../src/events/collection';
import { ATTEMPT_WAITS } from '../../../src/units';
import type * as Units from '../../../src/units';
import { positionOfDelivery } from '../../../src/webhooks/deliveries';
import { eventually } from '../http/eventually';
import { client, type Json } from '../../support/client';
import { makeKey } from '../../support/factories';
import {
  untilDelivered,
  untilReleased,
  idsOf,
  objectsOf,
  type Scene,
  storeEvents,
  untilArrived,
  useWorld,
} from '../../support/fixtures/webhooks';

/* Deliveries to receivers on this machine. */

jest.mock('../../../src/async/loop', () => jest.requireActual<object>('../../support/quickLoops'));
jest.mock('../../../src/webhooks/post', () => jest.requireActual<object>('../../support/longPosts'));
jest.mock('../../../src/units', () => jest.requireActual<object>('../../support/longPosts'));
/** When the second attempt would come: only when a test hurries it. */
const SECOND_AFTER = ATTEMPT_WAITS[1]!;

const { world, scene } = useWorld();

async function feedOf({ organisation }: Scene): Promise<Json[]> {
  const { key } = await makeKey(world.gateway, organisation);
  return (await client(world.gateway, key).get('/events', { limit: 100 })).body.data;
}

test('an endpoint receives only the types it subscribed to, and others do not count as lag', async () => {
  const one = await scene({ types: ['quote.updated'] });
  const [quote = ''] = await one.write(3);
  await one.change(quote, 1);
  await untilArrived(one, 1);
  await one.write(2);
  await eventually(async () => (await one.endpoint()).lag_seconds === 0 && (await feedOf(one)).length === 6);
  expect(one.receiver.arrived.map(({ event }) => event.type)).toEqual(['quote.updated']);
});

test('a failed event is parked with later ones of its object, in order; other objects continue', async () => {
  const one = await scene();
  const [bad = ''] = await one.write(1);
  await untilArrived(one, 1);
  one.receiver.answer = ({ event }) => (event.object.id === bad ? 500 : 204);
  await one.change(bad, 3);
  await one.write(4);
  await untilArrived(one, 6);
  await eventually(async () => (await one.rows('held')).length === 2);
  const [head] = await one.rows('waiting');
  expect(head).toMatchObject({
    attempts: 1,
    object_id: bad,
    log: [{ ok: false, status: 500, error: 'HTTP 500' }],
  });
  const wait = head!.next_at!.getTime() - head!.log[0]!.at.getTime();
  expect(wait).toBeGreaterThanOrEqual(SECOND_AFTER);
  // counted once the pass over the endpoint ends
  await eventually(async () => (await one.endpoint()).waiting === 3);
  expect((await one.endpoint()).state).toBe('enabled');
  expect(objectsOf(one).filter((id) => id === bad)).toHaveLength(2);
  one.receiver.answer = () => 204;
  await one.hurry();
  await untilArrived(one, 9);
  const ofBad = one.receiver.arrived.filter(({ event }) => event.object.id === bad).map(({ id }) => id);
  const order = (await feedOf(one)).filter(({ object }) => object.id === bad).map(({ id }) => id);
  // the failed one arrives again, followed by those behind it
  expect(ofBad).toEqual([order[0], order[1], ...order.slice(1)]);
  await untilDelivered(one, 8);
  expect(await one.rows('waiting')).toEqual([]);
  await eventually(async () => (await one.endpoint()).waiting === 0);
});

test('failures of ten objects make an endpoint failing: its position stays, the oldest event is the probe, and one success resumes all', async () => {
  const one = await scene();
  one.receiver.answer = () => 500;
  await one.write(40);
  await eventually(async () => (await one.endpoint()).state === 'failing', 30_000);
  const failed = one.receiver.arrived.length;
  expect(failed).toBeGreaterThanOrEqual(10);
  expect(failed).toBeLessThan(20);
  await one.write(20);
  const before = await one.row();
  for (let probe = 1; probe <= 3; probe += 1) {
    await one.hurry();
    await untilArrived(one, failed + probe);
    await eventually(async () => (await one.row()).probes === probe);
  }
  const [oldest] = await one.rows('waiting');
  expect(new Set(idsOf(one).slice(failed))).toEqual(new Set([oldest!.event_id]));
  expect((await one.row()).position).toBe(before.position);
  await untilReleased(one);
  expect((await one.row()).until.getTime()).toBeGreaterThan(Date.now() + 60_000);
  one.receiver.answer = () => 204;
  await one.hurry();
  await untilDelivered(one, 60);
  expect(await one.endpoint()).toMatchObject({ state: 'enabled', failing_since: null, next_attempt_at: null });
  expect(new Set(idsOf(one)).size).toBe(60);
});

test('an endpoint that is failing skips events that are no longer kept without a rest after each, until one is a probe', async () => {
  const one = await scene();
  one.receiver.answer = () => 500;
  await one.write(20);
  await eventually(async () => (await one.endpoint()).state === 'failing', 30_000);
  await untilReleased(one);
  const parked = await one.rows('waiting');
  const gone = parked.slice(0, -1).map(({ _id }) => positionOfDelivery(_id));
  expect(gone.length).toBeGreaterThanOrEqual(9);
  const stored = world.bare.db(databaseName(one.organisation.id)).collection<EventRow>(events.name);
  await stored.deleteMany({ _id: { $in: gone } });
  const tried = one.receiver.arrived.length;
  await one.hurry();
  await untilArrived(one, tried + 1);
  expect(idsOf(one).at(-1)).toBe(parked.at(-1)!.event_id);
});

test('410 disables an endpoint at once; once enabled again, it resumes where it stopped', async () => {
  const one = await scene();
  one.receiver.answer = () => 410;
  await one.write(1);
  await eventually(async () => (await one.endpoint()).state === 'disabled');
  expect(await one.endpoint()).toMatchObject({ disabled_reason: 'gone' });
  const { data } = await one.admin('audit_events', { action: 'webhook.disabled' });
  expect(data).toMatchObject([{ actor: 'system:webhooks' }]);
  one.receiver.answer = () => 204;
  await one.write(2);
  await eventually(async () => (await feedOf(one)).length === 3);
  expect(one.receiver.arrived).toHaveLength(1);
  // as if the 21 s were over in which another gateway could still be posting (changes.test.ts)
  await world.endpoints.updateOne({ _id: one.id }, { $set: { until: new Date(0) } });
  await one.admin('enable_webhook', { webhook_id: one.id });
  await untilDelivered(one, 3);
  expect(new Set(idsOf(one)).size).toBe(3);
});

test('120 hours of nothing but failures disable an endpoint', async () => {
  const one = await scene();
  one.receiver.answer = () => 500;
  await one.write(1);
  await eventually(async () => (await one.rows('waiting')).length === 1);
  await untilReleased(one);
  const hours = 3_600_000;
  await one.set({ failing_since: new Date(Date.now() - 119 * hours) });
  await one.hurry();
  await untilArrived(one, 2);
  await eventually(async () => (await one.rows('waiting'))[0]?.attempts === 2);
  await untilReleased(one);
  expect((await one.row()).state).toBe('enabled');
  await one.set({ failing_since: new Date(Date.now() - 121 * hours) });
  await one.hurry();
  await eventually(async () => (await one.endpoint()).disabled_reason === 'failures');
});

test('after ten attempts an event is given up, and the events behind it continue', async () => {
  const one = await scene();
  const [quote = ''] = await one.write(1);
  await untilArrived(one, 1);
  const waits: number[] = [];
  one.receiver.answer = () => 500;
  await one.change(quote, 1);
  await eventually(async () => (await one.rows('waiting')).length === 1);
  await one.change(quote, 1);
  await eventually(async () => (await one.rows('held')).length === 1);
  for (let attempt = 2; attempt <= 10; attempt += 1) {
    const [row] = await one.rows('waiting');
    const { at, ms } = row!.log.at(-1)!;
    waits.push(row!.next_at!.getTime() - at.getTime() - ms);
    await one.hurry();
    await eventually(async () => {
      const [now] = await one.deliveries.find({ _id: row!._id }).toArray();
      return now?.attempts === attempt;
    });
    await untilReleased(one);
  }
  const [failed] = await one.rows('failed');
  expect(failed).toMatchObject({ attempts: 10, next_at: null });
  expect(failed!.log).toHaveLength(10);
  const [MINUTE, HOUR] = [60_000, 3_600_000];
  expect(jest.requireActual<typeof Units>('../../../src/units').ATTEMPT_WAITS[1]).toBe(5000);
  const steps = [SECOND_AFTER, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];
  waits.forEach((wait, at) => {
    // the two times are read one after another, and rounded
    expect(wait).toBeGreaterThanOrEqual(steps[at]! - 1000);
    expect(wait).toBeLessThanOrEqual(steps[at]! * 1.1 + 5000);
  });
  // the event behind it got its first attempt at once
  expect(await one.rows('waiting')).toMatchObject([{ attempts: 1 }]);
  expect(JSON.stringify(failed).length).toBeLessThan(4096);
});

test('429 with Retry-After pauses the whole endpoint for that time, at most an hour', async () => {
  const one = await scene();
  one.receiver.answer = (_arrival, response) => {
    response.writeHead(429, { 'retry-after': '86400' }).end('slowly');
    return undefined;
  };
  await one.write(1);
  await untilArrived(one, 1);
  await eventually(async () => (await one.row()).holder === null && (await one.rows('waiting')).length === 1);
  const { until } = await one.row();
  expect(until.getTime() - Date.now()).toBeGreaterThan(3_500_000);
  expect(until.getTime() - Date.now()).toBeLessThanOrEqual(3_660_000);
  // also where the next probe would come sooner
  await one.set({ state: 'failing', probes: 0 });
  await one.hurry();
  await untilArrived(one, 2);
  await eventually(async () => (await one.row()).probes === 1);
  await untilReleased(one);
  expect((await one.row()).until.getTime() - Date.now()).toBeGreaterThan(3_500_000);
  await one.set({ state: 'enabled', probes: 0 });
  one.receiver.answer = () => 204;
  await one.write(3);
  await eventually(async () => (await feedOf(one)).length === 4);
  await new Promise((resolve) => setTimeout(resolve, 2500));
  expect(one.receiver.arrived).toHaveLength(2);
  await one.hurry();
  await untilArrived(one, 6);
});

test('an endpoint that is failing stays so while pages have no event of its types to probe with', async () => {
  const one = await scene({ types: ['quote.created'] });
  one.receiver.answer = () => 500;
  const { position } = await one.row();
  await one.write(1);
  await untilArrived(one, 1);
  await untilReleased(one);
  // more than one read looks at
  await storeEvents(world, one.organisation, 5001);
  // as if its parked event had been dropped
  await one.deliveries.deleteMany({});
  const beginning = position.replace(/./g, '0');
  const past = new Date(0);
  // due in the same write: in between it could make a probe already
  await one.set({ state: 'failing', position: beginning, parked: 0, probes: 0, failed: [], due: past, until: past });
  await untilArrived(one, 2);
  await eventually(async () => (await one.row()).probes === 1);
  expect((await one.row()).state).toBe('failing');
});
