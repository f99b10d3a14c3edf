import type { Source } from '../../../clients/sync/src';
import { eventually } from '../../api/http/eventually';
import { TOKENS } from '../../admin/operator/operator';
import { driver, served } from '../../support/gateway';
import { SOURCES, syncScene } from './syncScene';

/* @scopegate/sync: imports of an app, which drop documents and insert others in their place. */

const gateway = served(TOKENS);
const bare = driver();
let scene: Awaited<ReturnType<typeof syncScene>>;

beforeEach(async () => {
  scene = await syncScene(gateway, bare);
});
afterEach(async () => {
  await scene.stop();
});

const codes = async (): Promise<unknown[]> =>
  (await scene.rows('customers')).map(({ external_ref }) => external_ref as unknown);
const person = (code: string, name = 'Ann') => ({ account: scene.account.ref, name, code });

async function running(sources: readonly Source[] = SOURCES): Promise<void> {
  scene
    .open({ sources })
    .run()
    .catch(() => undefined);
  await eventually(() => scene.positions.findOne({ _id: 'position' }));
}

test('an import that inserts the same objects with other ids deletes none of them, but those that it lacks', async () => {
  const { people } = scene;
  await people.insertMany(['a', 'b', 'c'].map((code) => person(code)));
  const opened = scene.open();
  await opened.backfill();
  const [{ _id: id }] = await scene.rows('customers');
  await people.drop();
  await people.insertMany(['a', 'b'].map((code) => person(code, 'Bea')));
  expect(await opened.reconcile({ deleteMissing: true })).toMatchObject({ updated: 2, missing: 3, deleted: 1 });
  expect(await scene.rows('customers')).toMatchObject([
    { _id: id, external_ref: 'a', name: 'Bea' },
    { external_ref: 'b', name: 'Bea' },
  ]);
  expect(await opened.reconcile()).toMatchObject({ unchanged: 2, missing: 0 });
});

test('an object stays while any document is sent as it, and goes with the last', async () => {
  const { people } = scene;
  await running();
  const { insertedId: old } = await people.insertOne(person('a', 'Ann'));
  await eventually(async () => (await codes()).join() === 'a');
  const { insertedId: added } = await people.insertOne(person('a', 'Bea'));
  await people.deleteOne({ _id: old });
  await people.insertOne(person('b'));
  await eventually(async () => (await codes()).includes('b'));
  expect(await scene.rows('customers')).toMatchObject([{ external_ref: 'a', name: 'Bea' }, { external_ref: 'b' }]);
  const { insertedId: third } = await people.insertOne(person('a', 'Cleo'));
  await eventually(async () => (await scene.rows('customers'))[0]!.name === 'Cleo');
  await people.deleteMany({ _id: { $in: [added, third] } });
  await eventually(async () => (await codes()).join() === 'b');
  expect(scene.faults).toEqual([]);
});

test('two documents that swap their external_ref keep both objects, also when they change later', async () => {
  const { people } = scene;
  const [one, two] = Object.values((await people.insertMany(['a', 'b'].map((code) => person(code)))).insertedIds);
  await running();
  for (const name of ['Bea', 'Cleo']) {
    await people.updateOne({ _id: one }, { $set: { code: 'b', name } });
    await people.updateOne({ _id: two }, { $set: { code: 'a' } });
    await eventually(async () => (await scene.rows('customers'))[1]!.name === name);
  }
  expect(await codes()).toEqual(['a', 'b']);
});

test('a document that moves to another collection of the same type keeps its object', async () => {
  const { people, database } = scene;
  const archive = database.collection('archive');
  await running([...SOURCES, { ...SOURCES.find(({ collection }) => collection === 'people')!, collection: 'archive' }]);
  const { insertedId: _id } = await people.insertOne(person('a'));
  await eventually(async () => (await codes()).join() === 'a');
  await archive.insertOne({ _id, ...person('a', 'Bea') });
  await eventually(async () => (await scene.rows('customers'))[0]!.name === 'Bea');
  await people.deleteOne({ _id });
  await people.insertOne(person('b'));
  await eventually(async () => (await codes()).includes('b'));
  expect(await codes()).toEqual(['a', 'b']);
});
