import { createUsageCounter } from '../../../src/organisations/usageCounter';
import { organisationUsageId } from '../../../src/organisations/usageUnits';
import { DAY, HOUR } from '../../../src/units';
import { client, type Json } from '../../support/client';
import { startWatchedGateway } from '../../support/commands';
import { makeKey, makeOrganisation } from '../../support/factories';
import { servedBy, startGateway, type TestGateway } from '../../support/gateway';
import { eventually } from '../../api/http/eventually';
import { signIn } from './people';

jest.mock('../../../src/async/timeout', () => jest.requireActual<object>('../../support/longTimeouts'));

const gateway = servedBy(startWatchedGateway);

test('requests of a key are counted over all APIs and instances, with errors, 429s and those over MCP separately, and stored on drain', async () => {
  const organisation = await makeOrganisation(gateway);
  const key = await makeKey(gateway, organisation, { scopes: ['quotes:read'] });
  const other = await makeKey(gateway, organisation);
  const revoked = await makeKey(gateway, organisation);
  await gateway.control.apiKeys.revoke(revoked.id);
  for (const limit of ['100', '2']) {
    const instance = await startGateway({ RATE_LIMIT_PER_MINUTE: limit });
    await makeCalls(instance, key.key, revoked.key);
    await instance.stop();
  }
  const ann = await signIn(gateway, organisation);
  for (const [period, buckets, length] of [
    ['last_1h', 12, 300_000],
    ['last_24h', 24, 3_600_000],
    ['last_7d', 7, 86_400_000],
    ['last_30d', 30, 86_400_000],
  ] as const) {
    const usage = await ann.call('usage', { key_id: key.id, period });
    // 7 calls twice: 4 fail by scope, argument, operation and route; with a limit of 2, 4 get 429
    expect(usage).toMatchObject({ requests: 14, errors: 6, rate_limited: 4, mcp: 2 });
    expect(usage.buckets).toHaveLength(buckets);
    const starts = usage.buckets.map(({ start }: { start: string }) => Date.parse(start));
    expect(new Set(starts.slice(1).map((start: number, at: number) => start - starts[at]))).toEqual(new Set([length]));
    expect(starts.map((start: number) => start % length)).toEqual(starts.map(() => 0));
    for (const { id } of [other, revoked])
      expect(await ann.call('usage', { key_id: id, period })).toMatchObject({ requests: 0 });
    expect(usage.operations.map(({ operation, requests }: Json) => [operation, requests])).toEqual([
      ['quotes', 6],
      ['none', 5],
      ['orders', 2],
      ['keys', 1],
    ]);
    expect(usage.codes).toContainEqual({ code: 'insufficient_scope', requests: 2 });
    const all = await ann.call('usage', { period });
    expect(all).toMatchObject({ requests: 14, errors: 6, rate_limited: 4, mcp: 2, operations: usage.operations });
    expect((await ann.call('usage_by_key', { period })).data).toEqual([
      { key_id: key.id, requests: 14, errors: 6, rate_limited: 4 },
    ]);
  }
  // a stream is counted when it ends, however long after the key was used
  const keys = gateway.databases.control.collection<{ _id: string }>('api_keys');
  await keys.updateOne({ _id: key.id }, { $set: { last_used_at: new Date(0) } });
  expect((await ann.call('usage_by_key', { period: 'last_1h' })).data).toHaveLength(1);
  const [to] = new Date().toISOString().split('T');
  expect(await ann.call('usage', { key_id: key.id, to })).toMatchObject({ requests: 14 });
  expect(await ann.call('usage', { period: 'last_24h', to })).toMatchObject({
    code: 'invalid_request',
    errors: [{ parameter: 'period', code: 'not_allowed' }],
  });
});

test('a period is compared with the one before, up to the same moment, once there were requests on an earlier day', async () => {
  const organisation = await makeOrganisation(gateway);
  const { id: key } = await makeKey(gateway, organisation);
  const ann = await signIn(gateway, organisation);
  const add = (keyId: string, ago: number, requests: number, details: Record<string, number> = {}): Promise<unknown> =>
    gateway.control.usage.add([
      {
        keyId,
        at: new Date(Date.now() - ago),
        requests,
        errors: 2,
        rate_limited: 1,
        details: new Map(Object.entries(details)),
      },
    ]);
  const all = organisationUsageId(organisation.id);
  await add(all, 0, 40, { 'operations.quotes.t1': 9, 'operations.quote.t3': 1, 'codes.not_found': 2 });
  await add(all, 30 * HOUR, 10, { 'operations.quotes.t0': 1 });
  const day = () => ann.call('usage', { period: 'last_24h' });
  const timed = { p50_ms: 7.8, p95_ms: 37.5 };
  expect(await day()).toMatchObject({ requests: 40, errors: 2, rate_limited: 1, ...timed, previous: null });
  expect((await day()).buckets.at(-1)).toMatchObject({ requests: 40, ...timed });
  expect((await day()).buckets[0]).toMatchObject({ requests: 0, p50_ms: null, p95_ms: null });
  await add(all, 4 * DAY, 7);
  expect((await day()).previous).toEqual({
    requests: 10,
    errors: 2,
    rate_limited: 1,
    mcp: 0,
    p50_ms: 2.5,
    p95_ms: 4.8,
  });
  // in the hour that is compared with the current one, of which only a share has passed
  await add(all, DAY, 36_000);
  const share = (): number => 36_000 * ((Date.now() % HOUR) / HOUR);
  const [least, { previous }, most] = [share(), await day(), share()];
  expect(previous.requests).toBeGreaterThanOrEqual(Math.floor(10 + least));
  expect(previous.requests).toBeLessThanOrEqual(Math.ceil(10 + (most < least ? 36_000 : most)));
  // days of an organisation are kept for three months, those of a key for one
  for (const id of [all, key]) for (const ago of [40, 70]) await add(id, ago * DAY, 5);
  const rows = gateway.databases.control.collection('key_usage');
  const ends = async (id: string): Promise<number[]> =>
    (await rows.find({ key_id: id, unit: 'day' }).toArray()).map((row) => (row.ends_at - row.start) / DAY);
  expect(new Set(await ends(all))).toEqual(new Set([92]));
  expect(new Set(await ends(key))).toEqual(new Set([32]));
  expect((await ann.call('usage', { period: 'last_30d' })).previous).toMatchObject({ requests: 5 });
});

async function makeCalls(gateway: TestGateway, key: string, revoked: string): Promise<void> {
  const caller = client(gateway, key);
  await caller.get('/orders');
  await caller.get('/quotes');
  await caller.get('/quotes', { limit: 0 });
  await caller.graphql('{ keys { has_more } }');
  await caller.graphql('{ quotes { has_more } }');
  await caller.mcp('tools/call', { name: 'quotes' });
  await caller.get('/nothing');
  await client(gateway, revoked).get('/quotes');
  await eventually(() => gateway.logs.filter(({ key_id }) => key_id !== undefined).length === 8);
}

const OK = { outcome: 'ok', operation: 'quotes', ms: 3 } as const;

test('of a write that was done in part each count is added once, to its five minutes, hour and day', async () => {
  const organisation = await makeOrganisation(gateway);
  const { id } = await makeKey(gateway, organisation);
  const rows = gateway.databases.control.collection<{ _id: string; requests: unknown }>('key_usage');
  // a count that is no number cannot be added to
  const hour = new Date(Math.floor(Date.now() / HOUR) * HOUR);
  const damaged = `${id}:hour:${hour.toISOString()}`;
  await rows.insertOne({ _id: damaged, requests: 'many' });
  const faults: unknown[] = [];
  const { usage } = gateway.control;
  const onError = (error: unknown) => faults.push(error);
  const counter = createUsageCounter({ usage, now: Date.now, onError, onUncounted: () => undefined });
  counter.count([id], OK);
  await counter.stop();
  expect(faults).toHaveLength(1);
  await rows.deleteOne({ _id: damaged });
  await counter.stop();
  const counted = await rows.find({ key_id: id }).toArray();
  expect(counted.map(({ requests }) => requests)).toEqual([1, 1, 1]);
});

test('the counts of a minute are written with one command, for any number of keys', async () => {
  const sent: string[] = [];
  const client = gateway.databases.control.getClient();
  client.on('commandStarted', ({ commandName, command }: { commandName: string; command: Json }) => {
    if (command.update === 'key_usage') sent.push(commandName);
  });
  const at = new Date();
  const entries = Array.from({ length: 600 }, (_, number) => ({
    keyId: `key${String(number)}`,
    at,
    requests: 2,
    errors: 1,
    rate_limited: 0,
    mcp: 0,
    details: new Map([['operations.quotes.requests', 2]]),
  }));
  const { id } = await makeOrganisation(gateway);
  const keys = gateway.databases.control.collection<{ _id: string }>('api_keys');
  await keys.insertMany(entries.map(({ keyId }) => ({ _id: keyId, hash: keyId, organisation: { id } })));
  await gateway.control.usage.add(entries);
  expect(sent).toEqual(['update']);
  const rows = gateway.databases.control.collection('key_usage');
  expect(await rows.countDocuments({ key_id: { $regex: '^key' }, requests: 2, errors: 1 })).toBe(1800);
  await rows.deleteMany({ key_id: { $regex: '^key' } });
  await keys.deleteMany({ 'organisation.id': id });
});
