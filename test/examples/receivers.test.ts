import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import mongoose, { type mongo } from 'mongoose';
import type { Organisation } from '../../src/access/principal';
import { databaseName } from '../../src/database/organisationData';
import type { EventRow } from '../../src/events/collection';
import { secretText, secretFrom, signedHeaders } from '../../src/webhooks/signing';
import { commandLine } from '../cli/commandLine';
import { endAll, followed, type Followed } from '../cli/following';
import { closeSites, openSite, type Site } from '../cli/site';
import { eventually } from '../http/eventually';
import { type Client, client, type Json, readAll } from '../support/client';
import { makeKey, makeNorthwind } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';
import { type Copy, RECEIVERS, remove } from './receivers';

/* The example receivers: what they refuse, and that their copy is what the lists say whatever happens to them. */

const ENVIRONMENT = { CONTROL_DATABASE: `scopegate_receivers_${randomUUID().slice(0, 8)}`, EVENTS: 'on' };
const SECRET = secretText(randomBytes(24));
const PATIENCE = 60_000;

let gateway: TestGateway;
let bare: mongo.MongoClient;

beforeAll(async () => {
  gateway = await startGateway(ENVIRONMENT);
  // as the product that owns quotes and orders
  bare = await mongoose.mongo.MongoClient.connect(process.env.TEST_MONGODB_URI!, { writeConcern: { w: 'majority' } });
});
afterAll(async () => {
  await gateway.stop();
  await bare.db(ENVIRONMENT.CONTROL_DATABASE).dropDatabase();
  await bare.close();
});

interface Receiver {
  readonly url: string;
  readonly said: () => string;
  kill(): Promise<void>;
}

describe.each(RECEIVERS)('the receiver in $name', (example) => {
  let installed: Awaited<ReturnType<typeof example.install>>;
  let receivers: Receiver[] = [];
  let copyFile: string;

  beforeAll(async () => {
    installed = await example.install();
  }, 240_000);
  afterAll(() => remove(installed.folder));
  beforeEach(() => {
    copyFile = join(installed.folder, `${randomUUID()}-${example.copyFile}`);
  });
  afterEach(async () => {
    await endAll();
    for (const one of receivers) await one.kill();
    receivers = [];
    await closeSites();
  });

  async function start(url: string, key: string, port = 0): Promise<Receiver> {
    const { PATH = '', HOME = '' } = process.env;
    const scopegate = { SCOPEGATE_URL: url, SCOPEGATE_KEY: key, SCOPEGATE_WEBHOOK_SECRET: SECRET };
    const own = { PORT: String(port), COPY_FILE: copyFile, CATCH_UP_SECONDS: '3600', PYTHONDONTWRITEBYTECODE: '1' };
    const child: ChildProcess = spawn(installed.command, installed.args, {
      cwd: installed.folder,
      env: { PATH, HOME, ...scopegate, ...own },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    const closed = new Promise((resolve) => child.once('close', resolve));
    const found = await eventually(() => {
      if (child.exitCode !== null) throw new Error(`it ended: ${text}`);
      return /listening on \D*127\.0\.0\.1\D+(\d{4,5})|"port":(\d+)/.exec(text);
    }, PATIENCE);
    const receiver: Receiver = {
      url: `http://127.0.0.1:${found[1] ?? found[2] ?? ''}/webhooks`,
      said: () => text,
      async kill() {
        child.kill('SIGKILL');
        await closed;
      },
    };
    receivers.push(receiver);
    return receiver;
  }

  const port = ({ url }: Receiver): number => Number(new URL(url).port);

  describe('of a gateway', () => {
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

    /** What the lists say now. */
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

    /** Waits until the copy is what the lists say. */
    async function inStep(): Promise<void> {
      const wanted = await lists();
      let copy: Copy | undefined;
      try {
        await eventually(async () => {
          copy = await example.read(copyFile);
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
    /** Something of everything: made, changed and deleted, by the API and by the product. */
    async function change(): Promise<void> {
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
      const [order, quote] = await Promise.all(['orders', 'quotes'].map((name) => db.collection(name).findOne({})));
      await db.collection('orders').updateOne({ _id: order!._id }, { $set: { customer_reference: text, updated_at } });
      await db.collection('quotes').deleteOne({ _id: quote!._id });
    }

    test('has the same as the lists: after its first copy, after webhooks, and after it was killed and missed some', async () => {
      const first = await start(gateway.url, key);
      await eventually(() => /copied everything/.exec(first.said()), PATIENCE);
      await inStep();
      const sender = await listen(first);
      await change();
      await inStep();
      // it hears nothing of these, and reads the feed when it is back
      await sender.end('SIGINT');
      await first.kill();
      await change();
      const second = await start(gateway.url, key, port(first));
      await inStep();
      // killed with work that it has accepted and not done
      const again = await listen(second);
      const before = second.said().length;
      const changes = (async () => {
        for (let n = 0; n < 4; n += 1) await change();
      })();
      await eventually(() => second.said().length > before, PATIENCE);
      await second.kill();
      await changes;
      await again.end('SIGINT');
      const third = await start(gateway.url, key, port(first));
      await inStep();
      expect(second.said() + third.said()).not.toContain('copied everything');
    }, 240_000);

    test('copies anew after feed.gap, so that a deletion that no event told is not missed', async () => {
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
      await events.insertOne({ ...gap, _id: told._id });
      await sender.until(1);
      await eventually(() => receiver.said().match(/copied everything/g)?.length === 2, PATIENCE);
      await inStep();
    }, 120_000);
  });

  describe('of a server that stands for one', () => {
    let api: Site;
    /** How often a path that begins like this was asked for. */
    const asked = (path: string): number => api.received.filter(({ url }) => url.startsWith(`/api/v1${path}`)).length;
    /** How many objects were; a slow machine may ask again. */
    const read = (): number =>
      new Set(api.received.map(({ url }) => url).filter((url) => /products\/./.test(url))).size;
    /** Answers of single objects that are held. */
    let held: (() => void)[];
    let isHolding: boolean;

    beforeEach(async () => {
      [held, isHolding] = [[], false];
      api = await openSite();
      api.answer = ({ url }, response) => {
        const send = (body: unknown, status = 200) =>
          response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
        const [, name, id] = /^\/api\/v1\/(\w+)\/?([^?]*)/.exec(url) ?? [];
        if (name === 'events') send({ data: [], has_more: false, next_cursor: 'cursor' });
        else if (id === '') send({ data: [], has_more: false, next_cursor: null });
        else if (isHolding) held.push(() => send({ id }));
        else if (id === 'gone') send({ code: 'not_found' }, 404);
        else send({ id });
      };
    });

    async function ready(): Promise<Receiver> {
      const receiver = await start(new URL(api.url).origin, 'key');
      // the feed is read once more after the copy
      await eventually(() => asked('/events') === 2, PATIENCE);
      // before the lists, or what changes while they are read would be missed
      expect(api.received[0]?.url).toContain('after=now');
      return receiver;
    }

    const eventOf = (id: string, object = 'one', type = 'product.updated'): string =>
      JSON.stringify({
        id,
        type,
        occurred_at: new Date(),
        object: { type: type.split('.')[0], id: object },
        changes: [],
      });
    const now = (): number => Math.floor(Date.now() / 1000);

    async function post(to: Receiver, body: string, { signed = body, at = now(), secret = SECRET, headers = {} } = {}) {
      const { id } = JSON.parse(signed) as { id: string };
      const signature = signedHeaders({ id, timestamp: at, body: signed }, [secretFrom(secret)!]);
      const sent = { 'content-type': 'application/json', ...signature, ...headers };
      return (await fetch(to.url, { method: 'POST', body, headers: sent })).status;
    }

    test('accepts what is signed, and refuses what is not, is another body, or is too old or too new', async () => {
      const receiver = await ready();
      const lines = (): Set<string> => new Set(receiver.said().split('\n'));
      const body = eventOf('a');
      expect(await post(receiver, body)).toBe(204);
      const both = signedHeaders({ id: 'a', timestamp: now(), body }, [randomBytes(24), secretFrom(SECRET)!]);
      // while the secret is replaced
      expect(await post(receiver, body, { headers: both })).toBe(204);
      // the work comes after the answer, and an event that comes again before that is done is done twice
      const said = await eventually(() => (receiver.said().includes('product.updated one') ? lines() : undefined));
      for (const refused of [
        { secret: secretText(randomBytes(24)) },
        { signed: eventOf('a', 'other') },
        { at: now() - 3600 },
        { at: now() + 3600 },
        { headers: { 'webhook-id': 'b' } },
        { headers: { 'webhook-timestamp': 'today' } },
        { headers: { 'webhook-signature': 'v1' } },
        { headers: { 'webhook-signature': 'v1,x' } },
        { headers: { 'webhook-signature': '' } },
      ])
        expect({ refused, status: await post(receiver, body, refused) }).toEqual({ refused, status: 401 });
      expect((await fetch(receiver.url, { method: 'POST', body })).status).toBe(401);
      expect(await post(receiver, JSON.stringify({ id: 'a', padding: 'x'.repeat(20_001) }))).toBe(413);
      expect((await fetch(`${receiver.url}/other`, { method: 'POST', body })).status).toBe(404);
      expect((await fetch(receiver.url)).ok).toBe(false);
      expect(lines()).toEqual(said);
      expect(await post(receiver, eventOf('b', 'two'))).toBe(204);
    }, 120_000);

    test('answers before it reads the object; the same event again is not read again; 404 deletes', async () => {
      const receiver = await ready();
      isHolding = true;
      expect(await post(receiver, eventOf('a'))).toBe(204);
      expect(await post(receiver, eventOf('b', 'two'))).toBe(204);
      await eventually(() => held.length > 0);
      isHolding = false;
      for (const answer of held) answer();
      await eventually(async () => (await example.read(copyFile))?.product?.two as unknown, PATIENCE);
      expect(asked('/products/one')).toBe(1);
      expect(await post(receiver, eventOf('a'))).toBe(204);
      expect(await post(receiver, eventOf('c', 'gone'))).toBe(204);
      await eventually(() => asked('/products/gone') === 1);
      expect(await post(receiver, eventOf('d', 'three'))).toBe(204);
      await eventually(async () => (await example.read(copyFile))?.product?.three as unknown, PATIENCE);
      expect(asked('/products/one')).toBe(1);
      expect(Object.keys((await example.read(copyFile))?.product ?? {}).sort()).toEqual(['one', 'three', 'two']);
    }, 120_000);

    test('keeps no more than 100 events that wait, and reads the feed for the others', async () => {
      const receiver = await ready();
      isHolding = true;
      expect(await post(receiver, eventOf('first', 'first'))).toBe(204);
      await eventually(() => held.length === 1);
      for (let n = 0; n < 150; n += 50) {
        const some = Array.from({ length: 50 }, (_none, i) => post(receiver, eventOf(String(n + i), String(n + i))));
        expect(new Set(await Promise.all(some))).toEqual(new Set([204]));
      }
      isHolding = false;
      for (const answer of held) answer();
      await eventually(() => read() === 101 && asked('/events') === 3, PATIENCE);
      expect(await post(receiver, eventOf('last', 'last'))).toBe(204);
      await eventually(() => asked('/products/last') === 1, PATIENCE);
      expect(read()).toBe(102);
    }, 180_000);
  });
});
