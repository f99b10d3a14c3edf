import { randomUUID } from 'node:crypto';
import type { mongo } from 'mongoose';
import type { Organisation } from '../../../src/auth/principal';
import { databaseName } from '../../../src/mongo/databaseNames';
import type { EventRow } from '../../../src/events/collection';
import { positionOf, timeDigits } from '../../../src/events/position';
import { commandLine, type Followed, followed } from '../../cli/commandLine';
import { eventually } from '../../api/http/eventually';
import { type Client, client, type Json, readAll } from '../../support/client';
import { makeKey, makeNorthwind } from '../../support/factories';
import { driver, served } from '../../support/gateway';
import { type Copy, PATIENCE, portOf, type Receiver, RECEIVERS, receiving, SECRET } from './receivers';

/* The example receivers with a gateway: their copies match the lists, whatever happens to them. */

const ENVIRONMENT = { CONTROL_DATABASE: `scopegate_receivers_${randomUUID().slice(0, 8)}`, EVENTS: 'on' };

const gateway = served(ENVIRONMENT);
afterAll(() => bare.db(ENVIRONMENT.CONTROL_DATABASE).dropDatabase());
// as the application that owns quotes and orders
const bare = driver();

describe.each(RECEIVERS)('the receiver in $name', (example) => {
  const { start, copyFile } = receiving(example);
  let organisation: Organisation;
  let caller: Client;
  let key: string;
  let db: mongo.Db;

  beforeEach(async () => {
    organisation = await makeNorthwind(gateway, 12);
    ({ key } = await makeKey(gateway, organisation));
    caller = client(gateway, key);
    db = bare.db(databaseName(organisation.id));
  });

  const cli = commandLine({ MONGODB_URI: 'mongodb://127.0.0.1:1' });
  async function listen(receiver: Receiver): Promise<Followed> {
    const args = ['events', 'listen', '--forward', receiver.url, '--secret', SECRET];
    const command = followed(cli, args, { SCOPEGATE_KEY: key, SCOPEGATE_URL: gateway.url });
    await command.says(/Forwarding the events/);
    return command;
  }

  /** The current content of the lists. */
  async function lists(): Promise<Copy> {
    const copy: Record<string, Record<string, Json>> = {};
    for (const [type, query] of Object.entries({
      product: {},
      customer: {},
      quote: { include: 'lines' },
      order: { include: 'lines' },
      request: {},
    })) {
      const rows = await readAll(caller, `/${type}s`, { limit: 50, ...query });
      copy[type] = Object.fromEntries(rows.map((row) => [row.id, row]));
    }
    return copy;
  }

  /** Waits until the copy matches the lists. */
  async function inStep(): Promise<void> {
    const wanted = await lists();
    let copy: Copy | undefined;
    try {
      await eventually(async () => {
        copy = await example.read(copyFile());
        return JSON.stringify(sorted(copy)) === JSON.stringify(sorted(wanted));
      }, PATIENCE);
    } catch {
      expect(copy).toEqual(wanted);
      throw new Error('the same with members in another order');
    }
  }

  const sorted = (copy: Copy | undefined): unknown =>
    Object.entries(copy ?? {})
      .map(([type, rows]) => [type, Object.values(rows).sort((a, b) => (a.id < b.id ? -1 : 1))] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1));

  let turn = 0;
  /** Creates, changes and deletes objects of every type, through the API and directly. Returns the quote it deletes last. */
  async function change(): Promise<string> {
    turn += 1;
    const text = `turn ${String(turn)}`;
    await caller.post('/products/bulk', {
      products: [
        { sku: 'NW-001', name: text },
        { sku: text, name: text },
      ],
    });
    await caller.post('/products/bulk', { products: [{ sku: text, name: `${text} again` }] });
    await caller.post('/requests', { text });
    const updated_at = new Date();
    const rows = (name: string) => db.collection<{ _id: string; customer_reference?: string; updated_at: Date }>(name);
    const [order, quote] = await Promise.all(['orders', 'quotes'].map((name) => rows(name).findOne({})));
    await rows('orders').updateOne({ _id: order!._id }, { $set: { customer_reference: text, updated_at } });
    await rows('quotes').deleteOne({ _id: quote!._id });
    return quote!._id;
  }

  /** Waits until the feed has a deletion, and so everything before it: a receiver that starts reads the feed once. */
  async function untilTold(deleted: string): Promise<void> {
    await eventually(async () => {
      const { body } = await caller.get('/events', { object_id: deleted, types: 'quote.deleted' });
      return body.data.length === 1;
    }, PATIENCE);
  }

  test('matches the lists after its first copy, after webhooks, and after being killed and missing some', async () => {
    const first = await start(gateway.url, key);
    await eventually(() => /copied everything/.exec(first.said()), PATIENCE);
    await inStep();
    const sender = await listen(first);
    await change();
    await inStep();
    // it receives none of these, and reads the feed when it is back
    await sender.end('SIGINT');
    await first.kill();
    await untilTold(await change());
    const second = await start(gateway.url, key, portOf(first));
    await inStep();
    // killed with work that it has accepted but not done
    const again = await listen(second);
    const before = second.said().length;
    const changes = (async () => {
      for (let n = 0; n < 3; n += 1) await change();
      return change();
    })();
    await eventually(() => second.said().length > before, PATIENCE);
    await second.kill();
    await untilTold(await changes);
    await again.end('SIGINT');
    const third = await start(gateway.url, key, portOf(first));
    await inStep();
    expect(second.said() + third.said()).not.toContain('copied everything');
  });

  test('copies everything again after feed.gap, so a deletion without an event is not missed', async () => {
    const receiver = await start(gateway.url, key);
    await eventually(() => /copied everything/.exec(receiver.said()), PATIENCE);
    await caller.post('/products/bulk', { products: [{ sku: 'GAP', name: 'Last' }] });
    const events = db.collection<EventRow>('events');
    const newest = { sort: { _id: -1 } } as const;
    const last = await eventually(() => events.findOne({ type: 'product.created', changes: [] }, newest), PATIENCE);
    const { _id: lost } = (await db.collection<{ _id: string }>('products').findOne({}))!;
    await db.collection<{ _id: string }>('products').deleteOne({ _id: lost });
    const told = await eventually(() => events.findOne({ 'object.id': lost, type: 'product.deleted' }), PATIENCE);
    await events.deleteOne({ _id: told._id });
    const sender = await listen(receiver);
    const [from, to] = [last.at, new Date()];
    const gap = { type: 'feed.gap', at: to, object: null, changes: [], status: null, gap: { from, to } };
    // after any position that can be stored by now
    const behind = timeDigits({ t: Math.floor(to.getTime() / 1000) + 3600, i: 1 });
    await events.insertOne({ ...gap, _id: positionOf(0, behind, 0) });
    await sender.until(1);
    await eventually(() => receiver.said().match(/copied everything/g)?.length === 2, PATIENCE);
    await inStep();
  });
});
