import { Webhook } from 'standardwebhooks';
import type { EndpointRow } from '../../../src/organisations/webhookRows';
import { DAY, HOUR, MINUTE } from '../../../src/units';
import { eventually } from '../http/eventually';
import { raw } from '../http/raw';
import { client, type Json } from '../../support/client';
import { makeKey } from '../../support/factories';
import { metric } from '../../support/gateway';
import {
  untilDelivered,
  settle,
  untilReleased,
  idsOf,
  untilArrived,
  useWorld,
  verifiedBy,
} from '../../support/fixtures/webhooks';

/* A delivery from end to end, and changes by users meanwhile. Failing receivers are in delivery.system.test.ts,
 * and moves and erasures of the organisation in movesAndErasures.test.ts. */

jest.mock('../../../src/async/loop', () => jest.requireActual<object>('../../support/quickLoops'));
jest.mock('../../../src/webhooks/post', () => jest.requireActual<object>('../../support/longPosts'));
jest.mock('../../../src/units', () => jest.requireActual<object>('../../support/longPosts'));

const { world, scene, untilLooked } = useWorld();

test('changes in the database arrive at an endpoint, once and in order, signed with its secret, as in the feed', async () => {
  const one = await scene({ types: ['quote.created', 'quote.updated'] });
  const [quote = ''] = await one.write(1);
  await one.change(quote);
  await untilArrived(one, 2);
  const webhook = new Webhook(one.secret);
  const arrived = one.receiver.arrived.map(({ id, body, headers }) => {
    expect(webhook.verify(body, headers)).toMatchObject({ id });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^Scopegate-Webhooks\//),
    });
    expect(() => webhook.verify(`${body} `, headers)).toThrow();
    return JSON.parse(body) as unknown;
  });
  expect(arrived).toMatchObject([
    { type: 'quote.created', object: { id: quote } },
    { type: 'quote.updated', object: { id: quote }, changes: expect.arrayContaining(['total_minor']) as unknown },
  ]);
  const { key } = await makeKey(world.gateway, one.organisation);
  expect((await client(world.gateway, key).get('/events')).body.data).toEqual(arrived);
  await eventually(async () => (await one.rows('delivered')).length === 2);
  // the lag ends when the position is stored, after what it covers
  await eventually(async () => (await one.endpoint()).lag_seconds === 0);
  expect(await one.endpoint()).toMatchObject({ state: 'enabled', waiting: 0, failing_since: null });
  expect(one.receiver.arrived).toHaveLength(2);
  const kept = { key: { at: 1 }, expireAfterSeconds: 30 * 24 * 3600 };
  expect(await one.deliveries.indexes()).toContainEqual(expect.objectContaining(kept));
});

test('after a rotation both secrets sign for 24 hours, then the new one alone; an older one ends at once', async () => {
  const one = await scene();
  const { id } = one;
  const second = (await one.admin('rotate_webhook', { webhook_id: id })).secret as string;
  // a lease from before it has the old secret alone
  await untilReleased(one);
  await one.write(1);
  await untilArrived(one, 1);
  expect(verifiedBy(one, one.secret, second)).toEqual([true, true]);
  const third = (await one.admin('rotate_webhook', { webhook_id: id })).secret as string;
  await one.admin('send_test_event', { webhook_id: id });
  expect(verifiedBy(one, one.secret, second, third)).toEqual([false, true, true]);
  await world.endpoints.updateOne({ _id: id }, { $set: { rotated_at: new Date(Date.now() - DAY - HOUR) } });
  await one.admin('send_test_event', { webhook_id: id });
  expect(verifiedBy(one, one.secret, second, third)).toEqual([false, false, true]);
  expect((await one.endpoint()).old_secret_until).toBeNull();
});

/** An endpoint's row without what each lease changes: a new endpoint gets one every 2 s. */
function stateIn({ holder: _holder, until: _until, due: _due, wakes: _wakes, ...row }: EndpointRow): object {
  return row;
}

test('a test event and an event resent by hand return their outcome, and affect nothing else', async () => {
  const one = await scene();
  const { id } = one;
  await one.write(1);
  await untilDelivered(one, 1);
  await untilReleased(one);
  const before = stateIn(await one.row());
  one.receiver.answer = (_arrival, response) => void response.writeHead(418).end('short and stout');
  const answer = 'short and stout';
  expect(await one.admin('send_test_event', { webhook_id: id })).toMatchObject({ ok: false, status: 418, answer });
  expect(one.receiver.arrived.at(-1)!.event).toMatchObject({ type: 'webhook.test', object: null, changes: [] });
  const { data } = await one.admin('webhook_deliveries', { webhook_id: id });
  const resent = await one.admin('resend_event', { webhook_id: id, delivery: data[0].id });
  expect(resent).toMatchObject({ ok: false, status: 418, answer });
  expect(one.receiver.arrived.at(-1)!.id).toBe(data[0].event_id);
  const [after] = (await one.admin('webhook_deliveries', { webhook_id: id })).data;
  expect(after).toMatchObject({ state: 'delivered', attempts: 1 });
  expect(after.log.map(({ status, answer }: Json) => [status, answer])).toEqual([
    [204, null],
    [418, answer],
  ]);
  expect(stateIn(await one.row())).toEqual(before);
  // to a disabled endpoint as well
  await one.admin('disable_webhook', { webhook_id: id });
  one.receiver.answer = () => 204;
  expect(await one.admin('send_test_event', { webhook_id: id })).toMatchObject({ ok: true, status: 204, error: null });
});

test('the log has each attempt, though two by hand and a retry end together', async () => {
  const one = await scene();
  one.receiver.answer = () => 500;
  await one.write(1);
  await eventually(async () => (await one.rows('waiting')).length === 1);
  const [{ _id: delivery } = { _id: '' }] = await one.rows('waiting');
  await untilReleased(one);
  const held = one.receiver.hold();
  await one.hurry();
  const again = { webhook_id: one.id, delivery };
  const two = [one.admin('resend_event', again), one.admin('resend_event', again)];
  await eventually(() => held.count() === 3);
  held.release(418);
  await Promise.all(two);
  await eventually(async () => (await one.rows('waiting')).some(({ attempts }) => attempts === 2));
  const log = (await one.rows('waiting'))[0]!.log.map(({ status, answer }) => [status, answer]);
  expect(log).toEqual([
    [500, null],
    [418, null],
    [418, null],
    [418, null],
  ]);
});

test('an organisation can send at most two events by hand at a time', async () => {
  const one = await scene();
  const { id } = one;
  const held = one.receiver.hold();
  const two = [one.admin('send_test_event', { webhook_id: id }), one.admin('send_test_event', { webhook_id: id })];
  await eventually(() => held.count() === 2);
  expect(await one.admin('send_test_event', { webhook_id: id })).toMatchObject({ code: 'rate_limited' });
  held.release();
  for (const answer of await Promise.all(two)) expect(answer).toMatchObject({ ok: true });
  one.receiver.answer = () => 204;
  expect(await one.admin('send_test_event', { webhook_id: id })).toMatchObject({ ok: true });
});

test('a disabled endpoint receives nothing; when enabled it resumes where it stopped, from a time, or from now', async () => {
  const one = await scene();
  const { id } = one;
  await one.write(2);
  await untilDelivered(one, 2);
  await settle(one);
  await one.admin('disable_webhook', { webhook_id: id });
  await one.write(2);
  await eventually(async () => (await one.endpoint()).lag_seconds > 0);
  expect(one.receiver.arrived).toHaveLength(2);
  await one.admin('enable_webhook', { webhook_id: id });
  await untilDelivered(one, 4);
  expect(new Set(idsOf(one)).size).toBe(4);
  expect(idsOf(one)).toHaveLength(4);
  await untilReleased(one);
  // everything is sent again, with the same ids
  await one.admin('enable_webhook', { webhook_id: id, from: new Date(Date.now() - HOUR).toISOString() });
  await untilArrived(one, 8);
  expect(idsOf(one).slice(4).sort()).toEqual(idsOf(one).slice(0, 4).sort());
  await settle(one);
  await one.admin('disable_webhook', { webhook_id: id });
  await one.write(3);
  await eventually(async () => (await one.endpoint()).lag_seconds > 0);
  // earlier events are not sent
  await eventually(async () => {
    await one.admin('enable_webhook', { webhook_id: id, from: new Date(Date.now() + MINUTE).toISOString() });
    return (await one.endpoint()).lag_seconds === 0;
  });
  const [last = ''] = await one.write(1);
  await eventually(() => one.receiver.arrived.some(({ event }) => event.object.id === last));
  expect(one.receiver.arrived.length).toBeLessThan(12);
});

test('an endpoint disabled during a post gets no other post until that has ended, whose outcome is not stored', async () => {
  const one = await scene();
  const { id } = one;
  const held = one.receiver.hold();
  await one.write(1);
  await untilArrived(one, 1);
  const begun = Date.now();
  for (const change of ['disable', 'enable'] as const) {
    await one.admin(`${change}_webhook`, {
      webhook_id: id,
      ...(change === 'enable' && { from: new Date().toISOString() }),
    });
    const { holder, until } = await one.row();
    expect(holder).toBeNull();
    // longer than a post can take
    expect(until.getTime() - begun).toBeGreaterThan(20_000);
    expect(until.getTime() - Date.now()).toBeLessThan(27_000);
  }
  // so that a slow machine does not come to its end
  await world.endpoints.updateOne({ _id: id }, { $set: { until: new Date(Date.now() + 10 * MINUTE) } });
  await one.write(1);
  await untilLooked();
  expect(one.receiver.arrived).toHaveLength(1);
  one.receiver.answer = () => 204;
  held.release(500);
  // the failure belongs to a lease that was lost
  await untilLooked();
  expect(await one.rows()).toEqual([]);
  expect(await one.row()).toMatchObject({ failed: [], failing_since: null });
  await world.endpoints.updateOne({ _id: id }, { $set: { until: new Date(0) } });
  await untilDelivered(one, 1);
  expect(one.receiver.arrived).toHaveLength(2);
});

test('enabling from a time drops parked events and sends them again in order', async () => {
  const one = await scene();
  const [quote = ''] = await one.write(1);
  await untilDelivered(one, 1);
  one.receiver.answer = () => 500;
  await one.change(quote, 3);
  await eventually(async () => (await one.rows('held')).length === 2);
  await untilReleased(one);
  one.receiver.answer = () => 204;
  await one.admin('enable_webhook', { webhook_id: one.id, from: new Date(Date.now() - HOUR).toISOString() });
  await untilDelivered(one, 4);
  expect(await one.rows('skipped')).toEqual([]);
  const ids = (await one.rows('delivered')).map((row) => row.event_id);
  expect(idsOf(one).slice(-4)).toEqual(ids);
});

test('enabling from more than 30 days ago is rejected', async () => {
  const one = await scene();
  const { id } = one;
  const from = new Date(Date.now() - 31 * DAY).toISOString();
  expect(await one.admin('enable_webhook', { webhook_id: id, from })).toMatchObject({ code: 'validation_failed' });
  await one.set({ state: 'disabled', disabled: { reason: 'failures', at: new Date(Date.now() - 31 * DAY) } });
  expect(await one.admin('enable_webhook', { webhook_id: id })).toMatchObject({ code: 'validation_failed' });
  // failures before a quiet month, all of them given up, are not where it stopped
  const disabled = { reason: 'by_hand', at: new Date() } as const;
  await one.set({ state: 'disabled', disabled, failing_since: new Date(Date.now() - 31 * DAY) });
  expect(await one.admin('enable_webhook', { webhook_id: id })).toMatchObject({ state: 'enabled' });
});

test('failures that were given up do not disable an endpoint at the first failure after a quiet time', async () => {
  const one = await scene();
  await untilReleased(one);
  await one.set({ failed: ['given up'], failing_since: new Date(Date.now() - 6 * DAY) });
  one.receiver.answer = () => 503;
  await one.write(1);
  await eventually(async () => (await one.row()).parked === 1);
  const { state, failing_since } = await one.row();
  expect(state).toBe('enabled');
  expect(failing_since!.getTime()).toBeGreaterThan(Date.now() - HOUR);
});

test('deliveries are listed in pages, newest event first, and by state', async () => {
  const one = await scene();
  await one.write(25);
  await untilDelivered(one, 25);
  const endpoint = one.id;
  const seen: Json[] = [];
  let cursor: string | null = null;
  do {
    const next = cursor !== null && { cursor };
    const page: Json = await one.member('webhook_deliveries', { webhook_id: endpoint, limit: 10, ...next });
    seen.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== null);
  const rows = await one.rows();
  expect(seen.map(({ id }) => id)).toEqual(rows.map(({ _id }) => _id).reverse());
  expect(seen[0]).toMatchObject({ type: 'quote.created', state: 'delivered', attempts: 1, next_attempt_at: null });
  expect((await one.member('webhook_deliveries', { webhook_id: endpoint, state: 'waiting' })).data).toEqual([]);
  expect(
    (await one.member('webhook_deliveries', { webhook_id: endpoint, state: 'delivered', limit: 100 })).data,
  ).toHaveLength(25);
  const refused = await one.member('webhook_deliveries', { webhook_id: endpoint, cursor: 'nonsense' });
  expect(refused).toMatchObject({ code: 'invalid_request' });
});

test('the metrics count attempts by outcome and endpoints by state', async () => {
  await scene();
  const read = async (): Promise<string> => (await raw(world.gateway.url, '/metrics', {})).text;
  // counted when the metrics are first read
  await eventually(async () => (await read()).includes('scopegate_webhook_endpoints{'));
  const text = await read();
  expect(text).toMatch(/^scopegate_webhook_deliveries_total\{outcome="delivered"\} [1-9]/m);
  expect(text).toMatch(/^scopegate_webhook_deliveries_total\{outcome="failed"\} [1-9]/m);
  expect(text).toMatch(/^scopegate_webhook_endpoints\{state="enabled"\} [1-9]/m);
  expect(text).toMatch(/^scopegate_webhook_waiting_seconds \d/m);
  expect(text).toMatch(/^scopegate_webhook_posts(?:_waiting)? 0$/m);
  for (const reason of ['events_off', 'no_secret', 'wrong_secret'])
    expect(text).toContain(`scopegate_webhooks_resting{reason="${reason}"} 0\n`);
  expect(await metric(world.gateway, 'scopegate_events_recorded_age_seconds')).toBeLessThan(60);
});
