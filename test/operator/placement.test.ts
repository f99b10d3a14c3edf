import { randomUUID } from 'node:crypto';
import { controlModels } from '../../src/organisations/models';
import { MIN_FILES, placement } from '../../src/organisations/placement';
import type { Json } from '../support/client';
import { eventually } from '../http/eventually';
import { metric, startGateway, type TestGateway } from '../support/gateway';
import { operator, TOKENS } from './operator';

/* Which cluster a new organisation is placed on, by the rows of the control database: the clusters are one server. */

const CAPACITY = 6000;
/** Small organisations that a cluster of that size holds. */
const HELD = 250;
const NAMES = ['default', 'c2', 'c3', 'c4', 'c5'];

const started: TestGateway[] = [];
afterAll(() => Promise.all(started.map((gateway) => gateway.stop())));

async function start(control: string, more: Record<string, string> = {}, names = NAMES): Promise<TestGateway> {
  const gateway = await startGateway({
    ...{ ...TOKENS, CONTROL_DATABASE: control, RATE_LIMIT_PER_MINUTE: '1000000' },
    MONGODB_CLUSTERS: names
      .slice(1)
      .map((name) => `${name}=${process.env.TEST_MONGODB_URI!}`)
      .join(' '),
    ...more,
  });
  started.push(gateway);
  return gateway;
}

/** Rows of small organisations, most of them without as many files as they count as. */
async function fill(gateway: TestGateway, rows: readonly { cluster: string; files?: number }[]): Promise<void> {
  const all = rows.map((row, at) => ({
    ...{ _id: randomUUID() as never, name: `Row ${String(at)}`, plan: 'integrations', currency: 'USD' },
    ...{ state: 'active', created_at: new Date(), ...row },
  }));
  await gateway.databases.control
    .getClient()
    .db(gateway.databases.control.name)
    .collection('organisations')
    .insertMany(all);
}

const many = (cluster: string, count: number): { cluster: string; files?: number }[] =>
  Array.from({ length: count }, (_, at) => ({
    cluster,
    ...(at % 3 > 0 && { files: at % 2 > 0 ? 9 : MIN_FILES }),
  }));

const clustersOf = async (gateway: TestGateway): Promise<Json[]> =>
  (await operator(gateway).get('/clusters')).body.data;
const create = (gateway: TestGateway) => operator(gateway).post('/organisations', { name: 'New' });

test('five clusters of 6,000 files hold 250 small organisations each, each new one goes where most room is, and then none is accepted', async () => {
  const gateway = await start('scopegate_test_placement', { CLUSTER_FILES: String(CAPACITY) });
  await fill(
    gateway,
    NAMES.flatMap((name, at) => many(name, HELD - 1 - at)),
  );
  const placed = [];
  for (let at = 0; at < 10; at += 1) placed.push((await create(gateway)).body.cluster);
  expect(placed).toEqual(['c5', 'c4', 'c5', 'c3', 'c4', 'c5', 'c2', 'c3', 'c4', 'c5']);
  for (let at = 0; at < 5; at += 1) placed.push((await create(gateway)).body.cluster);
  expect(placed.slice(-5).sort()).toEqual(NAMES.toSorted());
  expect(
    (await clustersOf(gateway)).map(({ organisations, files_reserved }) => [organisations, files_reserved]),
  ).toEqual(NAMES.map(() => [HELD, (CAPACITY / 12) * 11]));
  const full = await create(gateway);
  expect([full.status, full.body.errors[0].pointer]).toEqual([409, '/cluster']);
  expect(full.body.detail).toContain('cluster c5 is full: 5,500 of its 6,000 files are reserved for 250 organisations');
  const filesOf = (state: string) => metric(gateway, `scopegate_cluster_files{cluster="c5",state="${state}"}`);
  await eventually(async () => (await filesOf('reserved')) === 5500);
  expect(await filesOf('capacity')).toBe(CAPACITY);
});

test('an organisation counts as the files that it has, and so do its copies and its move', async () => {
  const gateway = await start('scopegate_test_placement_large', {}, ['default', 'c2']);
  await fill(gateway, [
    { cluster: 'default', files: 59 },
    { cluster: 'default', files: 4, ...{ copies: [{ cluster: 'c2', left_at: new Date(), complete: true }] } },
    {
      cluster: 'default',
      files: 40,
      ...{ move: { to: 'c2', mover: 'one', begun_at: new Date(), seen_at: new Date() } },
    },
  ]);
  expect(await clustersOf(gateway)).toMatchObject([
    { name: 'default', state: 'up', organisations: 3, copies: 0, files_used: 103, files_reserved: 121 },
    { name: 'c2', organisations: 0, copies: 2, files_used: 44, files_reserved: 62, files_capacity: 60_000 },
  ]);
  expect((await create(gateway)).body.cluster).toBe('c2');
});

test('an organisation is not placed on a cluster that is away, unless that is named or all are', async () => {
  const gateway = await start('scopegate_test_placement_away', { MONGODB_CLUSTERS: 'c2=mongodb://127.0.0.1:1' });
  await fill(gateway, many('default', 3));
  expect((await create(gateway)).body.cluster).toBe('default');
  expect(await gateway.control.placement.choose('c2')).toBe('c2');
  const all = { clusters: ['default', 'c2'], away: new Set(['default', 'c2']) };
  expect(await placement(controlModels(gateway.databases), all, () => CAPACITY).choose(undefined)).toBe('c2');
});

test('a cluster that CLUSTER_FILES keeps free is not called full', async () => {
  const gateway = await start('scopegate_test_placement_free', { CLUSTER_FILES: '60000 c2=0' }, ['default', 'c2']);
  await expect(gateway.control.placement.choose('c2')).rejects.toThrow(/^CLUSTER_FILES keeps cluster c2 free/);
});

test('gateways that place organisations concurrently fill no cluster past its capacity', async () => {
  const control = 'scopegate_test_placement_race';
  const files = { CLUSTER_FILES: '2400' };
  const gateways = [await start(control, files, ['default']), await start(control, files, ['default'])];
  await fill(gateways[0]!, many('default', 99));
  const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => create(gateways[at % 2]!)));
  const made = answers.filter(({ status }) => status === 201).length;
  expect(made).toBeGreaterThan(0);
  const [cluster] = await clustersOf(gateways[0]!);
  expect(cluster.files_reserved).toBe((99 + made) * MIN_FILES);
  expect(cluster.files_reserved).toBeLessThanOrEqual(cluster.files_capacity);
  expect((await create(gateways[1]!)).status).toBe(409);
});
