import { openDatabaseProxy, replyWith } from '../../faults/databaseProxy';
import { eraseOrganisation } from '../../src/jobs/eraseOrganisation';
import { createShardHealth } from '../../src/mongo/shardHealth';
import { callerOf, makeOrganisation } from '../support/factories';
import { late, servedBy, startGateway } from '../support/gateway';

/* What MongoDB answers while another command drops the same database; the servers of the tests never do. */

const PENDING = { ok: 0, code: 215, codeName: 'DatabaseDropPending', errmsg: 'the database is being dropped' };

/** How many replies to each command on an organisation's database, and to drops of a heartbeat's, are to be those of a pending drop. */
const left: Record<string, number> = {};
const proxy = late(() =>
  openDatabaseProxy(process.env.TEST_MONGODB_URI!, {
    onReply: (reply, command = {}) => {
      const [name = ''] = Object.keys(command);
      const names = name === 'dropDatabase' ? /^org_|_beat_/ : /^org_/;
      if (!names.test(String(command.$db)) || !left[name]) return reply;
      left[name] -= 1;
      return replyWith(reply, PENDING);
    },
  }),
);
const gateway = servedBy(() => startGateway({ MONGODB_URI: proxy.uri, CONTROL_DATABASE: 'scopegate_drop_pending' }));
afterAll(() => proxy.close());

test('an erasure waits until another drop of the database has ended', async () => {
  const organisation = await makeOrganisation(gateway);
  const caller = await callerOf(gateway, organisation);
  expect((await caller.post('/requests', { text: 'first' })).status).toBe(201);
  left.dropDatabase = 3;
  expect(await eraseOrganisation(gateway, organisation.id)).toBe(true);
  expect(left.dropDatabase).toBe(0);
  expect(await gateway.databases.organisationData(organisation).exists()).toBe(false);
});

test('two drops of one database at once both succeed', async () => {
  const organisation = await makeOrganisation(gateway);
  const data = gateway.databases.organisationData(organisation);
  left.dropDatabase = 1;
  await Promise.all([data.drop(), data.drop()]);
  expect(left.dropDatabase).toBe(0);
});

test.each(['createIndexes', 'update'])('a write whose %s meets a drop gets 503', async (name) => {
  const caller = await callerOf(gateway);
  left[name] = 1;
  const { status, body } = await caller.post('/requests', { text: 'hello' });
  expect([status, body.code, left[name]]).toEqual([503, 'unavailable', 0]);
  expect((await caller.post('/requests', { text: 'hello again' })).status).toBe(201);
});

test('a heartbeat that another gateway is dropping is no fault', async () => {
  const onError = jest.fn();
  let shards = ['shard01', 'shard02'];
  const health = createShardHealth({
    control: 'scopegate_drop_pending',
    client: gateway.databases.control.getClient(),
    shards: {
      list: () => Promise.resolve(shards.map((name) => ({ name, draining: false }))),
      shardOf: () => Promise.resolve('shard01'),
      createOn: () => Promise.resolve(),
      organisationsOn: () => Promise.resolve([]),
    },
    answers: () => Promise.resolve(true),
    onChange: () => undefined,
    onWrites: () => undefined,
    onError,
  });
  await health.start();
  shards = ['shard01'];
  left.dropDatabase = 1;
  await health.start();
  health.stop();
  expect([left.dropDatabase, onError.mock.calls, health.states().map(({ shard }) => shard)]).toEqual([
    0,
    [],
    ['shard01'],
  ]);
});
