import { databaseName } from '../../src/database/organisationData';
import { eventually } from '../http/eventually';
import type { Served } from '../cli/commandLine';
import { killingScene } from './killing';
import { newRef, operator } from './operator';

/* Jobs whose gateway is killed at each of their first changes, and organisations made while gateways are killed again and again. */

const scene = killingScene();

const CHANGES = [
  'insert',
  'update',
  'delete',
  'findAndModify',
  'createIndexes',
  'commitTransaction',
  'dropDatabase',
  'collMod',
];
/** Of those that both jobs make, each at another step. */
const POINTS = Array.from({ length: 10 }, (_, at) => [at + 1] as const);

/** Starts a gateway that is killed at its nth change outside an open transaction once a job is asked for, and asks for it. */
async function killedWithin(nth: number, path: string, body: object): Promise<{ id: string; at: string }> {
  let [seen, at] = [0, ''];
  let isAsked = false;
  const { one, killed, close } = await scene().startKilled((command) => {
    const [name = '', target] = Object.entries(command)[0] ?? [];
    const isOpen = command.autocommit === false && name !== 'commitTransaction';
    // what any gateway does from time to time
    const isOther = /^(gateways|heartbeats|key_usage|request_log|webhook_endpoints|deployment)$/.test(String(target));
    if (!isAsked || isOpen || isOther || !CHANGES.includes(name)) return false;
    seen += 1;
    at = `${name} ${String(target)}`;
    return seen === nth;
  });
  isAsked = true;
  const asked = operator(one).post(path, body);
  await eventually(() => killed.isDone, 60_000);
  await asked.catch(() => undefined);
  await one.end;
  await close();
  const [row] = await scene()
    .rows('jobs')
    .find({ organisation_id: path.split('/')[2]! })
    .toArray();
  return { id: (row?._id as string | undefined) ?? '', at };
}

/** What another gateway makes of it once the leases of the killed one are over. */
async function finished(id: string, path: string, body: object): Promise<Served> {
  await scene()
    .rows('jobs')
    .updateOne({ _id: id }, { $set: { until: new Date(0) } });
  await scene()
    .rows('organisations')
    .updateMany({ move: { $exists: true } }, { $set: { 'move.seen_at': new Date(0) } });
  const other = await scene().start();
  // killed before the job was stored: the caller asks again
  const job = id === '' ? ((await operator(other).post(path, body)).body.id as string) : id;
  expect(await scene().ended(other, job)).toMatchObject({ state: 'done' });
  return other;
}

test.each(POINTS)(
  'an erasure whose gateway is killed at its change %i is finished by another',
  async (nth) => {
    const id = await scene().makeLoaded('Erased');
    const [path, body] = [`/organisations/${id}/erasure`, { confirm: 'Erased' }] as const;
    const killed = await killedWithin(nth, path, body);
    const other = await finished(killed.id, path, body);
    expect({ ...killed, status: (await operator(other).get(`/organisations/${id}`)).status }).toMatchObject({
      status: 404,
    });
    const { databases } = await scene().here.db('admin').admin().listDatabases({ nameOnly: true });
    expect({ ...killed, left: databases.some(({ name }) => name === databaseName(id)) }).toMatchObject({ left: false });
    const audit = await scene().rows('audit_events').find({ organisation_id: id }).toArray();
    expect({ ...killed, audit: audit.map(({ action }) => action as string) }).toMatchObject({
      audit: ['organisation.erased'],
    });
  },
  120_000,
);

test.each(POINTS)(
  'a move whose gateway is killed at its change %i is finished by another, with every document',
  async (nth) => {
    const id = await scene().makeLoaded('Moved');
    const products = scene().here.db(databaseName(id)).collection('products');
    const before = await products.find().sort({ _id: 1 }).toArray();
    const [path, body] = [`/organisations/${id}/moves`, { to: 'eu' }] as const;
    const killed = await killedWithin(nth, path, body);
    await finished(killed.id, path, body);
    const row = await scene().rows('organisations').findOne({ _id: id });
    expect({ ...killed, row }).toMatchObject({
      row: { cluster: 'eu', copies: [{ cluster: 'default', complete: true }] },
    });
    expect(row).not.toHaveProperty('move');
    const moved = scene().there.db(databaseName(id)).collection('products');
    expect({ ...killed, is: await moved.find().sort({ _id: 1 }).toArray() }).toEqual({ ...killed, is: before });
    const audit = await scene().rows('audit_events').find({ organisation_id: id, action: /move/ }).toArray();
    expect({ ...killed, audit: audit.filter(({ action }) => action === 'organisation.moved') }).toMatchObject({
      audit: [{}],
    });
  },
  120_000,
);

test('of 200 organisations made by two callers while gateways are killed one after the other, none is there twice and none half', async () => {
  const refs = Array.from({ length: 200 }, () => newRef());
  await scene().signUp(refs, 70);
  await scene().expectSignedUp(refs);
}, 240_000);
