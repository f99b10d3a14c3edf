import { randomUUID } from 'node:crypto';
import mongoose, { type mongo } from 'mongoose';
import { databaseName } from '../../src/database/organisationData';
import { awaitTail } from '../../src/events/moving';
import { timeDigits } from '../../src/events/position';
import { tailRows } from '../../src/events/tail/lease';
import { type CommandLine, commandLine } from '../cli/commandLine';
import { client } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { driver, late, startGateway, type TestGateway } from '../support/gateway';
import { startDatabase } from './database';
import { feedReader } from './feed';

/* Events of an organisation that moves to another cluster. */

const CONTROL_DATABASE = `scopegate_events_move_${randomUUID().slice(0, 8)}`;
const eu = late(startDatabase);
const environment = () => ({ CONTROL_DATABASE, MONGODB_CLUSTERS: `eu=${eu.uri}`, EVENTS: 'on' });
const here = driver();
const there = late(() => mongoose.mongo.MongoClient.connect(eu.uri, { writeConcern: { w: 'majority' } }));
let gateway: TestGateway;
let cli: CommandLine;
beforeAll(async () => {
  gateway = await startGateway(environment());
  cli = commandLine(environment());
});
afterAll(async () => {
  await gateway.stop();
  await there.close();
  await eu.stop();
});

interface Row {
  readonly _id: string;
  readonly status: string;
}

async function newScene() {
  const organisation = await makeOrganisation(gateway, { cluster: 'default' });
  const { key } = await makeKey(gateway, organisation);
  const quotes = (of: mongo.MongoClient) => of.db(databaseName(organisation.id)).collection<Row>('quotes');
  const read = feedReader(client(gateway, key));

  /** Everything the feed has reported since the last call, up to the quote with this id. */
  async function upTo(id: string): Promise<unknown[]> {
    const seen = await read(({ object }) => object?.id === id);
    return seen.map(({ type, object }) => [type, ...(object ? [object.id] : [])]);
  }
  return { organisation, quotes, upTo };
}

test('events move along and continue after the earlier ones; the copy is discarded, and nothing is reported twice', async () => {
  const { organisation, quotes, upTo } = await newScene();
  const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
  await quotes(here).insertOne({ _id: first, status: 'draft' });
  expect(await upTo(first)).toEqual([['quote.created', first]]);
  // the last change before the move is among the copied events
  await quotes(here).insertOne({ _id: second, status: 'draft' });
  expect(await cli.spawned('org', 'move', organisation.id, '--to', 'eu')).toMatchObject({ code: 0 });
  await quotes(there).updateOne({ _id: first }, { $set: { status: 'sent' } });
  await quotes(there).insertOne({ _id: third, status: 'draft' });
  expect(await upTo(third)).toEqual([
    ['quote.created', second],
    ['quote.status_changed', first],
    ['quote.created', third],
  ]);
  // whatever the other cluster's clock says
  const stored = there.db(databaseName(organisation.id)).collection<{ _id: string }>('events');
  const epochs = (await stored.find({}, { sort: { _id: 1 } }).toArray()).map(({ _id }) => _id.slice(0, 4));
  expect(epochs).toEqual(['0000', '0000', '0001', '0001']);
}, 240_000);

test("if no gateway reads the rest of the old cluster's log, the organisation gets a gap", async () => {
  const environment = { CONTROL_DATABASE: `${CONTROL_DATABASE}_off`, MONGODB_CLUSTERS: `eu=${eu.uri}`, EVENTS: 'off' };
  const own = await startGateway(environment);
  // as if the only gateway that recorded had died some time ago
  const at = new mongoose.mongo.Timestamp({ t: 1_600_000_000, i: 1 });
  const dead = { holder: 'dead', until: new Date(Date.now() - 60_000), at };
  await tailRows(here, environment.CONTROL_DATABASE).updateOne({ _id: 'tail' }, { $set: dead });
  const organisation = await makeOrganisation(own, { cluster: 'default' });
  const quotes = here.db(databaseName(organisation.id)).collection<Row>('quotes');
  await quotes.insertOne({ _id: randomUUID(), status: 'draft' });
  const moved = await commandLine(environment).spawned('org', 'move', organisation.id, '--to', 'eu');
  expect(moved).toMatchObject({ code: 0, stderr: expect.stringContaining('gets a gap event') as unknown });
  const { key } = await makeKey(own, organisation);
  const { body } = await client(own, key).get('/events');
  // from where the log was last read, not from when that was noticed
  expect(body.data).toMatchObject([{ type: 'feed.gap', object: null, gap: { from: '2020-09-13T12:26:40.000Z' } }]);
  await own.stop();
}, 240_000);

test('a move waits for a recording gateway that is behind, but only until it has read everything', async () => {
  const control = `${CONTROL_DATABASE}_behind`;
  const own = await startGateway({ CONTROL_DATABASE: control, MONGODB_CLUSTERS: `eu=${eu.uri}` });
  const data = await own.databases.open(await makeOrganisation(own, { cluster: 'default' }));
  // as saved by another gateway, whose lease lasts for an hour
  const note = (t: number): Promise<unknown> =>
    tailRows(here, control).updateOne({ _id: 'tail' }, { $set: { at: new mongoose.mongo.Timestamp({ t, i: 1 }) } });
  const [before, time] = [1_600_000_000, 1_600_000_001];
  const waitFor = (signal?: AbortSignal): Promise<Date | undefined> =>
    awaitTail(own, data, { time: timeDigits({ t: time, i: 1 }), ...(signal && { signal }) });
  await note(before);
  const ended = new AbortController();
  const waiting = waitFor(ended.signal);
  ended.abort();
  await expect(waiting).rejects.toThrow('aborted');
  const [again] = await Promise.all([waitFor(), note(time)]);
  // nothing is missing
  expect(again).toBeUndefined();
  await own.stop();
}, 60_000);

test('a copy that is read from the log only after the move is discarded too', async () => {
  const { organisation, quotes, upTo } = await newScene();
  const [first, second] = [randomUUID(), randomUUID()];
  await quotes(here).insertOne({ _id: first, status: 'draft' });
  expect(await upTo(first)).toEqual([['quote.created', first]]);
  // no gateway reads either log while the copy is made
  await gateway.stop();
  expect(await cli.spawned('org', 'move', organisation.id, '--to', 'eu')).toMatchObject({ code: 0 });
  gateway = await startGateway(environment());
  await quotes(there).insertOne({ _id: second, status: 'draft' });
  const { key } = await makeKey(gateway, organisation);
  const told = await feedReader(client(gateway, key))(({ object }) => object?.id === second);
  expect(told.map(({ type, object }) => [type, object?.id])).toEqual([
    ['quote.created', first],
    ['feed.gap', undefined],
    ['quote.created', second],
  ]);
}, 240_000);

test('of several pending gaps the earliest time counts, until that gap is recorded', async () => {
  const { organisation } = await newScene();
  const { feeds } = gateway.control;
  const owed = async (): Promise<Date | undefined> => (await feeds.of([organisation.id])).get(organisation.id)!.owed;
  const [early, late] = [new Date(1000), new Date(2000)];
  await feeds.oweGap(organisation.id, late);
  await feeds.oweGap(organisation.id, early);
  await feeds.oweGap(organisation.id, late);
  expect(await owed()).toEqual(early);
  // recording one leaves an earlier one that came in the meantime
  await feeds.settleGap(organisation.id, late);
  expect(await owed()).toEqual(early);
  await feeds.settleGap(organisation.id, early);
  expect(await owed()).toBeUndefined();
});
