import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import mongoose, { type ClientSession, type mongo } from 'mongoose';
import { deadGateways, type GatewayRow } from '../../src/database/deadGateways';
import { transactOn } from '../../src/database/transact';
import { eventually } from '../http/eventually';
import { client as caller } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { driver, startGateway } from '../support/gateway';

/* Gateways of one control database, some of which stop renewing their rows; the database is real. */

const BEAT = 40;
const MOST_SESSIONS = 20;

const client = driver();
let database: mongo.Db;
let rows: mongo.Collection<GatewayRow>;
let documents: mongo.Collection<{ _id: string; by: string }>;
let away: Set<string>;
let ended: string[];
type DeadGateways = ReturnType<typeof deadGateways>;
let started: { readonly one: DeadGateways; readonly life: { isDead: boolean } }[];

beforeEach(async () => {
  database = client.db(`dead_gateways_${randomUUID().slice(0, 8)}`);
  rows = database.collection('gateways');
  documents = database.collection('documents');
  await documents.insertOne({ _id: 'one', by: 'nobody' });
  [away, ended, started] = [new Set(), [], []];
});
afterEach(async () => {
  for (const { one, life } of started) {
    life.isDead = false;
    await one.stop();
  }
  await database.dropDatabase();
});

type Call = (...args: unknown[]) => unknown;

/** The rows, of which each use goes through `around`. */
function rowsThrough(around: (name: string | symbol, call: Call) => Call): mongo.Collection<GatewayRow> {
  return new Proxy(rows, {
    get(target, name) {
      const member = Reflect.get(target, name, target) as unknown;
      return typeof member === 'function' ? around(name, (member as Call).bind(target)) : member;
    },
  });
}

/** A gateway whose beats fail while `isDead`. */
async function gateway(place: string, beatEvery = BEAT) {
  const life = { isDead: false };
  const one = deadGateways({
    rows: rowsThrough((_name, call) => {
      if (life.isDead) throw new Error('dead');
      return call;
    }),
    beatEvery,
    mostSessions: MOST_SESSIONS,
    async endSessions(cluster, ids) {
      if (away.has(cluster)) throw new Error('away');
      await client.db('admin').command({ killSessions: ids.map((id) => ({ id })) });
    },
  });
  started.push({ one, life });
  await one.start({ onEnded: ({ place: where }) => ended.push(where), onError: () => undefined });
  await one.listensAt(place);
  return { ...one, life, transact: transactOn(client, (session) => one.note('default', session)) };
}

/** Leaves a transaction open that has written to the document, as a killed process does. */
async function lockDocument(by: DeadGateways): Promise<ClientSession> {
  const session = client.startSession();
  await by.note('default', session);
  session.startTransaction();
  await documents.updateOne({ _id: 'one' }, { $set: { by: 'the dead' } }, { session });
  return session;
}

/** Whether another writer gets through; while the document is locked the server rejects the write at once. */
async function canWrite(): Promise<boolean> {
  return client.withSession(async (session) => {
    session.startTransaction();
    try {
      await documents.updateOne({ _id: 'one' }, { $set: { by: 'another' } }, { session });
      await session.commitTransaction();
      return true;
    } catch {
      await session.abortTransaction();
      return false;
    }
  });
}

const places = async (): Promise<string[]> => (await rows.find().toArray()).map(({ place }) => place).sort();
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test('the transaction of a dead gateway is ended, and its row deleted', async () => {
  const dying = await gateway('dying');
  await gateway('other');
  await lockDocument(dying);
  expect(await canWrite()).toBe(false);
  dying.life.isDead = true;
  await eventually(canWrite);
  await eventually(() => ended.length > 0);
  expect({ ended, places: await places() }).toEqual({ ended: ['dying'], places: ['other'] });
});

test('the transaction of a live gateway is left alone, however long it takes', async () => {
  const living = await gateway('living');
  await gateway('other');
  const session = await lockDocument(living);
  await pause(BEAT * 30);
  await session.commitTransaction();
  expect(await documents.findOne()).toMatchObject({ by: 'the dead' });
  expect(ended).toEqual([]);
});

test('a gateway that was only paused repeats its transaction, and records its sessions again', async () => {
  const stopped = await gateway('stopped');
  await gateway('other');
  let attempts = 0;
  await stopped.transact(async (session) => {
    attempts += 1;
    await documents.updateOne({ _id: 'one' }, { $set: { by: `attempt ${String(attempts)}` } }, { session });
    if (attempts > 1) return;
    stopped.life.isDead = true;
    await eventually(() => ended.includes('stopped'));
    stopped.life.isDead = false;
    await eventually(async () => (await places()).includes('stopped'));
  });
  expect(attempts).toBe(2);
  expect(await documents.findOne()).toMatchObject({ by: 'attempt 2' });
  const session = await lockDocument(stopped);
  const row = await rows.findOne({ place: 'stopped' });
  expect(row?.sessions.map(({ id }) => id.toString('hex'))).toContain(session.id?.id.toString('hex'));
  await session.endSession();
});

test('ending a transaction is retried while a cluster does not respond', async () => {
  const dying = await gateway('dying');
  await gateway('other');
  await lockDocument(dying);
  away.add('default');
  dying.life.isDead = true;
  await pause(BEAT * 20);
  expect({ ended, places: await places() }).toEqual({ ended: [], places: ['dying', 'other'] });
  away.clear();
  await eventually(() => ended.includes('dying'));
  expect(await canWrite()).toBe(true);
});

test('a gateway that listens on the address of a dead one ends its transactions without waiting', async () => {
  const former = await gateway('host http://127.0.0.1:4000', 3_600_000);
  await lockDocument(former);
  former.life.isDead = true;
  await gateway('host http://127.0.0.1:4000', 3_600_000);
  await eventually(canWrite);
  await eventually(() => ended.length > 0);
  expect(ended).toEqual(['host http://127.0.0.1:4000']);
});

test('each gateway knows how many run, without those that died', async () => {
  const one = await gateway('one');
  expect(one.count()).toBe(1);
  const two = await gateway('two');
  await eventually(() => one.count() === 2 && two.count() === 2);
  two.life.isDead = true;
  await eventually(() => one.count() === 1);
});

test('a row keeps a limited number of sessions, and drops those that the driver no longer uses', async () => {
  const busy = await gateway('busy');
  const sessions = Array.from({ length: MOST_SESSIONS + 5 }, () => ({
    id: { id: new mongoose.mongo.Binary(Buffer.from(randomUUID().replaceAll('-', ''), 'hex'), 4) },
  }));
  for (const session of sessions) await busy.note('default', session as ClientSession);
  const count = async (): Promise<number | undefined> => (await rows.findOne({ place: 'busy' }))?.sessions.length;
  expect(await count()).toBe(MOST_SESSIONS);
  const now = performance.now.bind(performance);
  const later = jest.spyOn(performance, 'now').mockImplementation(() => now() + 32 * 60_000);
  await eventually(async () => (await count()) === 0);
  later.mockRestore();
});

test('a session is recorded once, before its first transaction, and a gateway that stops deletes its row', async () => {
  const one = await startGateway({ CONTROL_DATABASE: database.databaseName });
  await one.databases.gateways.start({ onEnded: () => undefined, onError: () => undefined });
  const { key } = await makeKey(one, await makeOrganisation(one));
  const recorded = async (): Promise<string[]> =>
    (await rows.find().toArray()).flatMap(({ sessions }) => sessions.map(({ id }) => id.toString('hex')));
  for (const sku of ['a', 'b', 'c']) {
    const { status } = await caller(one, key).post('/products/bulk', { products: [{ sku, name: sku }] });
    expect(status).toBe(200);
  }
  const sessions = await recorded();
  expect(sessions.length).toBeGreaterThan(0);
  expect(new Set(sessions).size).toBe(sessions.length);
  expect(sessions.length).toBeLessThanOrEqual(3);
  await one.stop();
  expect(await rows.countDocuments()).toBe(0);
});

test('the row of a gateway that stops in the middle of a beat is gone for good', async () => {
  let beat: () => void = () => undefined;
  let isSlow = false;
  const begun = new EventEmitter();
  const own = rowsThrough((name, call) => {
    if (name !== 'findOneAndUpdate' || !isSlow) return call;
    return async (...args) => {
      await new Promise<void>((resolve) => {
        beat = resolve;
        begun.emit('beat');
      });
      return call(...args);
    };
  });
  const one = deadGateways({ rows: own, endSessions: () => Promise.resolve(), beatEvery: BEAT });
  await one.start({ onEnded: () => undefined, onError: () => undefined });
  isSlow = true;
  await once(begun, 'beat');
  const stopped = one.stop();
  // until it has done all that it can without the beat
  await rows.findOne();
  beat();
  await stopped;
  await rows.findOne();
  expect(await rows.countDocuments()).toBe(0);
});
