import { isDeepStrictEqual } from 'node:util';
import mongoose from 'mongoose';
import { eventually } from '../../api/http/eventually';
import { TOKENS } from '../../admin/operator/operator';
import { driver, served } from '../../support/gateway';
import { syncScene } from './syncScene';

/* @scopegate/sync: what ends or would exceed the change stream of an app's database. */

const gateway = served(TOKENS);
const bare = driver();
let scene: Awaited<ReturnType<typeof syncScene>>;

beforeEach(async () => {
  scene = await syncScene(gateway, bare);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await scene.stop();
});

const position = () => scene.positions.findOne({ _id: 'position' });
const numbers = async (): Promise<unknown[]> => (await scene.rows('quotes')).map(({ number }) => number as unknown);
const offer = (_id: number, title: string) => ({ _id, account: scene.account.ref, title });

async function running() {
  const opened = scene.open();
  opened.run().catch(() => undefined);
  await eventually(position);
  return opened;
}

test('after its database was dropped, run follows what is inserted then, without deleting what it sent; so does the next process', async () => {
  const { offers, database } = scene;
  const first = await running();
  await offers.insertMany([offer(1, 'A'), offer(2, 'B')]);
  await eventually(async () => (await numbers()).join() === 'A,B');
  const watch = jest.spyOn(database, 'watch');
  await database.dropDatabase();
  await eventually(() => watch.mock.calls.length > 0);
  const [[, { startAfter } = {}]] = watch.mock.calls as [Parameters<typeof database.watch>];
  await eventually(async () => isDeepStrictEqual((await position())?.token, startAfter));
  await offers.insertOne(offer(1, 'C'));
  await eventually(async () => (await numbers()).join() === 'C,B');
  expect([scene.retries, watch.mock.calls.length]).toEqual([[], 1]);
  await first.stop();
  await database.dropDatabase();
  await running();
  await offers.insertOne(offer(2, 'D'));
  await eventually(async () => (await numbers()).join() === 'C,D');
  expect(scene.faults).toEqual([]);
});

test('a stream that ends without a reason is opened again after a wait', async () => {
  const { offers, database } = scene;
  await (await running()).stop();
  const watch = database.watch.bind(database);
  const opened = jest.spyOn(database, 'watch').mockImplementationOnce((...given) => {
    const stream = watch(...given);
    void stream.close();
    return stream;
  });
  await running();
  await offers.insertOne(offer(1, 'A'));
  await eventually(async () => (await numbers()).join() === 'A');
  expect([scene.retries.length, opened.mock.calls.length]).toEqual([1, 2]);
});

test('a large member that is changed is in its event once; an event that is too large has everything sent again', async () => {
  const { offers, database } = scene;
  const watch = database.watch.bind(database);
  const events: object[] = [];
  const tooLarge = new mongoose.mongo.MongoServerError({ code: 10334, message: 'BSONObj size is invalid' });
  let fails = false;
  const opened = jest.spyOn(database, 'watch').mockImplementation((...given) => {
    const stream = watch(...given);
    const tryNext = stream.tryNext.bind(stream);
    jest.spyOn(stream, 'tryNext').mockImplementation(async () => {
      const event = await tryNext();
      if (event) events.push(event);
      if (event && fails) throw tooLarge;
      return event;
    });
    return stream;
  });
  await offers.insertOne(offer(1, 'A'));
  await running();
  await offers.updateOne({ _id: 1 }, { $set: { title: 'B', notes: 'x'.repeat(9 * 10 ** 6) } });
  await eventually(async () => (await numbers()).join() === 'B');
  expect(events).toEqual([expect.objectContaining({ operationType: 'update', fullDocument: expect.anything() })]);
  expect(events[0]).not.toHaveProperty('updateDescription');
  fails = true;
  await offers.insertMany([offer(2, 'C'), offer(3, 'D')]);
  await eventually(() => scene.retries.length > 0);
  fails = false;
  await eventually(async () => (await numbers()).join() === 'B,C,D');
  expect(scene.retries).toEqual([tooLarge]);
  // before the first run sent everything, and again
  expect(opened.mock.calls.filter(([, { startAfter } = {}]) => startAfter === undefined)).toHaveLength(2);
});
