import { databaseName } from '../../src/database/organisationData';
import { killedAt } from '../support/kills';
import { commandLine, followed } from './commandLine';
import { contents, databaseOf, move, moveScene, type Organisation } from './moveScene';

/* What `org move` rejects, and the copies it leaves behind. */

const scene = moveScene();

describe('a move is rejected in one sentence, and changes nothing, for', () => {
  test.each<[string, string[], string, number]>([
    ['an unknown cluster', ['--to', 'us'], 'unknown cluster us; clusters are default, eu', 2],
    ['the cluster it is on already', ['--to', 'default'], 'is on cluster default already', 1],
    ['--undo without a move', ['--undo'], 'is not being moved', 1],
  ])('%s', async (_what, args, message, code) => {
    const one = await scene.organisation();
    expect(await scene.cli.failed(code, 'org', 'move', one.id, ...args)).toContain(message);
    expect(await scene.show(one)).toMatchObject({ cluster: 'default', state: 'active' });
    expect(await scene.write(one)).toMatchObject({ code: 0 });
  });

  test('a database on the target cluster that no move left there', async () => {
    const one = await scene.organisation();
    await databaseOf(scene.there, one).collection('mine').insertOne({});
    expect(await scene.cli.failed(1, ...move(one))).toContain('which no move has left');
    expect(Object.keys(await contents(scene.there, one))).toEqual(['mine']);
  });

  test('a full cluster', async () => {
    const own = commandLine({ MONGODB_CLUSTERS: `eu=${scene.eu.uri}`, CLUSTER_FILES: '60000 eu=10' });
    const { id } = await own.json<Organisation>('org', 'create', '--name', 'One', '--cluster', 'default');
    const refused = await own.failed(1, 'org', 'create', '--name', 'Two', '--cluster', 'eu');
    expect(refused).toContain('add a cluster to MONGODB_CLUSTERS, or raise CLUSTER_FILES');
    expect(await own.failed(1, 'org', 'move', id, '--to', 'eu')).toContain('cluster eu is full');
  });

  test('an organisation that another process is moving, which cannot be erased during the move', async () => {
    const one = await scene.organisation();
    expect(await killedAt(scene.cli, move(one), 1)).toBeDefined();
    const alive = /another process is moving .* try again in \d+ s/;
    expect(await scene.cli.failed(1, ...move(one))).toMatch(alive);
    expect(await scene.cli.failed(1, 'org', 'move', one.id, '--undo')).toMatch(alive);
    const erase = ['org', 'erase', one.id, '--confirm', one.name, '--no-export'];
    expect(await scene.cli.failed(1, ...erase)).toContain('is being moved to cluster eu');
    await scene.age(one);
    const doctor = await scene.cli.run('doctor');
    expect(doctor.stdout).toMatch(/moves: the process that moved Moved .* to cluster eu has ended/);
    expect(doctor.stdout).toContain(`which goes on with it, or run scopegate org move ${one.id} --to eu`);
    expect(await scene.cli.run('org', 'move', one.id, '--undo')).toMatchObject({ code: 0 });
    expect(await scene.cli.run(...erase)).toMatchObject({ code: 0 });
  });

  test('an organisation that is being erased, or has been', async () => {
    const one = await scene.organisation();
    const erase = ['org', 'erase', one.id, '--confirm', one.name, '--no-export'];
    // what the process did last began the erasure
    expect(await killedAt(scene.cli, erase, 1)).toMatchObject({ at: expect.stringMatching(/^commitTransaction/) });
    const before = await contents(scene.here, one);
    expect(Object.keys(before)).toContain('products');
    expect(await scene.cli.failed(1, ...move(one))).toContain(`organisation ${one.id} is being erased`);
    expect(await scene.show(one)).toMatchObject({ state: 'erasing', cluster: 'default' });
    expect(await scene.show(one)).not.toHaveProperty('move');
    expect(await contents(scene.here, one)).toEqual(before);
    expect(await contents(scene.there, one)).toEqual({});
    expect(await scene.cli.run(...erase)).toMatchObject({ code: 0 });
    expect(await scene.cli.failed(1, ...move(one))).toContain('not found');
  });
});

test('old copies are listed, reject writes of other programs, block moving back, and can be dropped', async () => {
  const one = await scene.organisation();
  await scene.cli.json(...move(one));
  const old = databaseOf(scene.here, one);
  await expect(old.collection('products').insertOne({ _id: 'x' as never })).rejects.toMatchObject({ code: 121 });
  await databaseOf(scene.there, one)
    .collection('products')
    .insertOne({ _id: 'x' as never });
  const doctor = await scene.cli.run('doctor');
  expect(doctor.stdout).toMatch(
    new RegExp(
      `moves: old copies, which scopegate org drop-copy deletes: .*${databaseName(one.id)} on cluster default`,
    ),
  );
  expect(doctor.stdout).not.toContain(`${databaseName(one.id)} on cluster default of an organisation`);
  const back = ['org', 'move', one.id, '--to', 'default'];
  expect(await scene.cli.failed(1, ...back)).toContain('cluster default still has the copy');
  await scene.cli.failed(2, 'org', 'drop-copy', one.id, '--confirm', 'Other');
  const drop = ['org', 'drop-copy', one.id, '--confirm', one.name];
  // requests that began before the move may read it
  const waiting = followed(scene.cli, drop);
  await waiting.says(/requests that began before the move/);
  expect(await waiting.end('SIGINT')).toBe(130);
  expect(Object.keys(await contents(scene.here, one))).toContain('products');
  await scene.age(one);
  expect(await scene.cli.json(...drop)).toEqual({ id: one.id, dropped: ['default'] });
  expect(await scene.cli.json(...drop)).toEqual({ id: one.id, dropped: [] });
  expect(await contents(scene.here, one)).toEqual({});
  expect(await scene.show(one)).not.toHaveProperty('copies');
  await scene.cli.json(...back);
  expect((await contents(scene.here, one)).products).toEqual((await contents(scene.there, one)).products);
  const events = await scene.cli.json<{ action: string }[]>('audit', '--org', one.id);
  expect(events.map(({ action }) => action).reverse()).toEqual([
    ...['organisation.created', 'organisation.moving', 'organisation.moved', 'organisation.copy_dropped'],
    ...['organisation.moving', 'organisation.moved'],
  ]);
  // erased on both
  await scene.cli.json('org', 'erase', one.id, '--confirm', one.name, '--no-export');
  for (const cluster of [scene.here, scene.there]) expect(await contents(cluster, one)).toEqual({});
}, 60_000);
