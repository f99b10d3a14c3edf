import { Webhook } from 'standardwebhooks';
import { eventually } from '../http/eventually';
import { client } from '../../support/client';
import { makeKey } from '../../support/factories';
import { late } from '../../support/gateway';
import { newScene, openWorld, untilArrived } from '../../support/fixtures/webhooks';

/* One delivery from end to end. Failing receivers are in delivery.system.test.ts. */

const world = late(openWorld);
const one = late(() => newScene(world, { types: ['quote.created', 'quote.updated'] }));
afterAll(async () => {
  await one.receiver.stop();
  await world.stop();
});

test('changes in the database arrive at an endpoint, once and in order, signed with its secret, as in the feed', async () => {
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
