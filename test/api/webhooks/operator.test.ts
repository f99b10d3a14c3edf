import { randomUUID } from 'node:crypto';
import type { mongo } from 'mongoose';
import { Webhook } from 'standardwebhooks';
import type { Organisation } from '../../../src/auth/principal';
import { databaseName } from '../../../src/mongo/databaseNames';
import { cursorOfLog } from '../../../src/events/deploymentFeed';
import { behindOf, operatorWebhookRows } from '../../../src/webhooks/operatorWebhook';
import { eventually } from '../http/eventually';
import { LOST_POSITION } from '../../support/fixtures/events';
import { makeOrganisation } from '../../support/factories';
import { driver, startGateway, type TestGateway } from '../../support/gateway';
import { type Receiver, startReceiver, stopReceivers } from '../../support/receiver';

/* The operator's webhook: the events of all organisations. */

jest.mock('../../../src/async/loop', () => jest.requireActual<object>('../../support/quickLoops'));
jest.mock('../../../src/webhooks/post', () => jest.requireActual<object>('../../support/longPosts'));
jest.mock('../../../src/units', () => jest.requireActual<object>('../../support/longPosts'));

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const OLD = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;
const bare = driver();
afterEach(stopReceivers);

interface World extends AsyncDisposable {
  readonly receiver: Receiver;
  readonly gateway: TestGateway;
  /** Starts another gateway with the same settings. */
  start(): Promise<TestGateway>;
  rows(): ReturnType<typeof operatorWebhookRows>;
}

async function openWorld(): Promise<World> {
  const receiver = await startReceiver();
  const environment = {
    CONTROL_DATABASE: `scopegate_ops_${randomUUID().slice(0, 8)}`,
    EVENTS: 'on',
    OPERATOR_WEBHOOK_URL: receiver.url,
    OPERATOR_WEBHOOK_SECRET: `${SECRET} ${OLD}`,
  };
  const start = () => startGateway(environment);
  const gateway = await start();
  const rows = () => operatorWebhookRows(gateway.databases);
  // it gets what happens once it has begun
  await eventually(async () => (await rows().endpoint.findOne({})) !== null);
  return {
    receiver,
    gateway,
    start,
    rows,
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      await bare.db(environment.CONTROL_DATABASE).dropDatabase();
    },
  };
}

interface Row {
  readonly _id: string;
  readonly [member: string]: unknown;
}

const quotesOf = ({ id }: Organisation): mongo.Collection<Row> => bare.db(databaseName(id)).collection<Row>('quotes');
const quote = (): Row => ({ _id: randomUUID(), number: randomUUID(), status: 'draft', updated_at: new Date() });
const about = ({ arrived }: Receiver, id: string) => arrived.filter(({ event }) => event.object?.id === id);
const arrives = (receiver: Receiver, count: number) =>
  eventually(() => receiver.arrived.length >= count || undefined).then(() => receiver.arrived);

test('it gets the events of all organisations once, signed, in the order of each object, from one of several gateways', async () => {
  await using world = await openWorld();
  await using _other = await world.start();
  const all = await Promise.all([1, 2].map(() => makeOrganisation(world.gateway)));
  const made = all.map((organisation) => ({ organisation, row: quote() }));
  for (const { organisation, row } of made) await quotesOf(organisation).insertOne(row);
  for (let n = 0; n < 10; n += 1)
    for (const { organisation, row } of made)
      await quotesOf(organisation).updateOne(
        { _id: row._id },
        { $set: { [`total_minor`]: n, status: n % 2 ? 'sent' : 'draft' } },
      );
  const arrived = await arrives(world.receiver, 22);
  for (const { organisation, row } of made) {
    const own = about(world.receiver, row._id);
    expect(own.map(({ event }) => [event.organisation_id, event.organisation_ref])).toEqual(
      own.map(() => [organisation.id, null]),
    );
    const times = own.map(({ event }) => Date.parse(event.occurred_at as string));
    expect([own.length, own[0]!.event.type, [...times].sort((a, b) => a - b)]).toEqual([11, 'quote.created', times]);
    expect(own[0]!.event.origin).toEqual({ kind: 'other', id: null, name: null });
  }
  expect(new Set(arrived.map(({ id }) => id)).size).toBe(arrived.length);
  const sandbox = await world.gateway.control.sandboxes.create(
    { of: all[0]!.id, willBeSeeded: false },
    { who: 'operator:test', from: 'here' },
  );
  const ofTest = quote();
  await quotesOf(sandbox!.organisation).insertOne(ofTest);
  await eventually(() => about(world.receiver, ofTest._id).length === 1 || undefined);
  expect(about(world.receiver, ofTest._id)[0]!.headers['scopegate-mode']).toBe('test');
  expect(arrived[0]!.headers['scopegate-mode']).toBeUndefined();
  const [{ body, headers }] = arrived as [(typeof arrived)[number]];
  for (const secret of [SECRET, OLD]) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
});

test('an event that is refused holds those of its object alone, and is sent again after a restart, with the same id', async () => {
  await using world = await openWorld();
  const { receiver } = world;
  const organisation = await makeOrganisation(world.gateway);
  const [refused, fine] = [quote(), quote()];
  receiver.answer = ({ event }) => (event.object?.id === refused._id ? 410 : 204);
  await quotesOf(organisation).insertMany([refused, fine]);
  await quotesOf(organisation).updateOne({ _id: refused._id }, { $set: { status: 'sent' } });
  await quotesOf(organisation).updateOne({ _id: fine._id }, { $set: { status: 'sent' } });
  await eventually(() => about(receiver, fine._id).length === 2 || undefined);
  await eventually(async () => ((await world.rows().parked.countDocuments()) === 2 ? true : undefined));
  // 410 does not end it, as nobody could enable it again
  expect((await world.rows().endpoint.findOne({}))!.state).toBe('enabled');
  const [first] = about(receiver, refused._id);
  await world.gateway.drain();
  receiver.answer = () => 204;
  const due = { $set: { next_at: new Date(0) } };
  await bare.db(world.gateway.databases.control.name).collection('operator_webhook_parked').updateMany({}, due);
  await bare
    .db(world.gateway.databases.control.name)
    .collection('operator_webhook')
    .updateOne({}, { $set: { due: new Date(0), until: new Date(0) } });
  const during = quote();
  await quotesOf(organisation).insertOne(during);
  await using _later = await world.start();
  await eventually(() => about(receiver, during._id).length === 1 || undefined);
  await eventually(() => about(receiver, refused._id).length >= 3 || undefined);
  const again = about(receiver, refused._id).slice(1);
  expect(again.map(({ id, event }) => [id === first!.id, event.type])).toEqual([
    [true, 'quote.created'],
    [false, 'quote.status_changed'],
  ]);
  await eventually(async () => ((await world.rows().parked.countDocuments()) === 0 ? true : undefined));
  await eventually(async () => (await behindOf(world.gateway.databases))!.parked === 0);
});

test('it hears that history was lost, and goes on; after a failure it rests', async () => {
  await using world = await openWorld();
  const organisation = await makeOrganisation(world.gateway);
  await world.gateway.drain();
  const rows = bare.db(world.gateway.databases.control.name).collection('operator_webhook');
  const old = cursorOfLog(LOST_POSITION);
  await rows.updateOne({}, { $set: { position: old, due: new Date(0) } });
  await using later = await world.start();
  const [gap] = await arrives(world.receiver, 1);
  expect(gap!.event).toMatchObject({ type: 'feed.gap', organisation_id: null, origin: null });
  expect(gap!.event.gap.from).toBe(new Date(1_600_000_000_000).toISOString());
  await quotesOf(organisation).insertOne(quote());
  const [, next] = await arrives(world.receiver, 2);
  expect(next!.event).toMatchObject({ type: 'quote.created', organisation_id: organisation.id });

  // after a failure nobody tries again at once, although new events wake it
  jest.spyOn(later.control.organisations, 'byIds').mockRejectedValue(new Error('away'));
  await quotesOf(organisation).insertOne(quote());
  const waits = { holder: null, until: { $gt: new Date(later.databases.now() + 1000) } };
  await eventually(() => rows.findOne(waits).then((row) => row ?? undefined));
});
