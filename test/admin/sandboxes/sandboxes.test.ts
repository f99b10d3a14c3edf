import { checksum } from '../../../src/auth/keys';
import type { Organisation } from '../../../src/auth/principal';
import { storeSample } from '../../../src/resources/sample';
import { client, type Client, type Json } from '../../support/client';
import { callerOf, makeKey, makeOrganisation, northwind } from '../../support/factories';
import { late, served, withGateway } from '../../support/gateway';

/* A sandbox is an organisation of its own, which belongs to another (docs/decisions/sandboxes.md). */

const gateway = served();
const OPERATOR = { who: 'cli:test', from: 'here' };

async function sandboxOf(of: Organisation, seeded = false): Promise<Organisation> {
  const made = await gateway.control.sandboxes.create({ of: of.id, willBeSeeded: seeded }, OPERATOR);
  return made!.organisation;
}

interface Pair {
  readonly owner: Organisation;
  readonly sandbox: Organisation;
  readonly live: Client;
  readonly test: Client;
}

async function pair(input: Parameters<typeof makeOrganisation>[1] = {}): Promise<Pair> {
  const owner = await makeOrganisation(gateway, input);
  const sandbox = await sandboxOf(owner);
  return { owner, sandbox, live: await callerOf(gateway, owner), test: await callerOf(gateway, sandbox) };
}

describe('keys', () => {
  const both = late(() => pair());

  test('those of a sandbox begin with svc_test_, also after a rotation', async () => {
    const { id, key } = await makeKey(gateway, both.sandbox);
    const rotated = await gateway.control.apiKeys.rotate(id, { overlap: 0 });
    const ofOwner = await makeKey(gateway, both.owner);
    expect([key, rotated!.key, ofOwner.key].map((text) => text.slice(0, 9))).toEqual([
      ...['svc_test_', 'svc_test_'],
      'svc_live_',
    ]);
  });

  test('they begin with KEY_PREFIX_TEST', async () => {
    await withGateway({ KEY_PREFIX_TEST: 'acme_try_' }, async (other) => {
      const { key } = await makeKey(other, both.sandbox);
      expect(key).toMatch(/^acme_try_/);
      expect((await client(other, key).get('/me')).body).toMatchObject({ mode: 'test' });
    });
  });

  test.each([
    ['live', 'svc_test_'],
    ['test', 'svc_live_'],
  ])('a %s key rewritten with %s and a valid checksum is refused', async (mode, prefix) => {
    const { key } = await makeKey(gateway, mode === 'live' ? both.owner : both.sandbox);
    const body = prefix + key.slice(prefix.length, -6);
    const answer = await client(gateway, body + checksum(body)).get('/me');
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 401, code: 'unauthenticated' });
    expect((await client(gateway, key).get('/me')).status).toBe(200);
  });
});

describe('answers', () => {
  const both = late(() => pair());
  const calls: [string, (caller: Client) => Promise<{ headers: Headers; status: number }>, number][] = [
    ['REST', (caller) => caller.get('/products'), 200],
    ['a missing object', (caller) => caller.get(`/products/${both.owner.id}`), 404],
    ['a fault', (caller) => caller.get('/products', { limit: 0 }), 400],
    ['GraphQL', (caller) => caller.graphql('{ me { mode } }'), 200],
    ['MCP', (caller) => caller.mcp('tools/call', { name: 'me', arguments: {} }), 200],
  ];

  test.each(calls)('%s: Scopegate-Mode is test for a test key, and absent for a live one', async (_, call, status) => {
    const [ofTest, ofLive] = [await call(both.test), await call(both.live)];
    expect([ofTest.status, ofLive.status]).toEqual([status, status]);
    expect([ofTest, ofLive].map(({ headers }) => headers.get('scopegate-mode'))).toEqual(['test', null]);
  });
});

describe('plan and state', () => {
  test('a sandbox works on a plan without API access, where its organisation does not', async () => {
    const { live, test } = await pair({ plan: 'starter' });
    expect((await live.get('/products')).body).toMatchObject({ status: 403, code: 'plan_required' });
    const { status, body } = await test.get('/me');
    expect({ status, plan: body.organisation.plan }).toEqual({ status: 200, plan: 'starter' });
  });

  test('they follow those of the organisation at once, and cannot be changed separately', async () => {
    const { owner, sandbox, test } = await pair();
    const { organisations } = gateway.control;
    await organisations.setPlan(owner.id, 'enterprise');
    expect((await test.get('/me')).body.organisation.plan).toBe('enterprise');
    await organisations.suspend(owner.id);
    expect((await test.get('/me')).body).toMatchObject({ status: 403, code: 'organisation_suspended' });
    expect((await organisations.find(sandbox.id))!.state).toBe('suspended');
    await expect(organisations.resume(sandbox.id)).rejects.toThrow(`change those of ${owner.id}`);
    await organisations.resume(owner.id);
    expect((await test.get('/me')).status).toBe(200);
    await expect(organisations.setPlan(sandbox.id, 'starter')).rejects.toThrow(`is the sandbox of ${owner.id}`);
    await expect(organisations.suspend(sandbox.id)).rejects.toThrow('has its plan and state');
    // its name is its own
    await organisations.rename(owner.id, 'Renamed');
    expect((await test.get('/me')).body.organisation.name).toBe('Test sandbox');
  });

  test('an organisation has at most one, even if several are created concurrently, and a sandbox has none', async () => {
    const owner = await makeOrganisation(gateway);
    const made = await Promise.allSettled([sandboxOf(owner), sandboxOf(owner), sandboxOf(owner)]);
    const refused = made.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
    const { organisation } = (await gateway.control.sandboxes.of(owner.id))!;
    expect(refused).toEqual(Array(2).fill(expect.stringContaining(`has a sandbox already: ${organisation.id}`)));
    await expect(sandboxOf(organisation)).rejects.toThrow('is a sandbox itself');
    expect(
      await gateway.control.sandboxes.create({ of: crypto.randomUUID(), willBeSeeded: false }, OPERATOR),
    ).toBeUndefined();
  });
});

describe('nothing of it is in the live data', () => {
  const both = late(async () => {
    const made = await pair();
    const stored = await made.test.post('/products/bulk', { products: [{ sku: 'ONLY-TEST', name: 'Trial' }] });
    return { ...made, id: stored.body.results[0].id as string };
  });

  test('a live key does not find its objects by id, by filter or in lists', async () => {
    expect((await both.test.get(`/products/${both.id}`)).status).toBe(200);
    expect((await both.live.get(`/products/${both.id}`)).body.code).toBe('not_found');
    expect((await both.live.get('/products', { sku: 'ONLY-TEST' })).body.data).toEqual([]);
    expect((await both.live.get('/products')).body.data).toEqual([]);
    expect((await both.live.send('PATCH', `/products/${both.id}`, asJson({ name: 'x' }))).status).toBe(404);
  });

  test('a cursor and an Idempotency-Key of one mean nothing to the other', async () => {
    const { body } = await both.test.get('/events', { after: 'now' });
    expect((await both.live.get('/events', { after: body.next_cursor as string })).body).toMatchObject({ status: 400 });
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const send = (caller: Client): Promise<Json> => caller.post('/requests', { text: 'Hello' }, headers);
    const [first, second] = [await send(both.test), await send(both.live)];
    expect([first.status, second.status, second.headers.get('idempotent-replayed')]).toEqual([201, 201, null]);
    expect(second.body.id).not.toBe(first.body.id);
  });

  test('its points are its own, the key’s and the organisation’s', async () => {
    await withGateway({ RATE_LIMIT_PER_MINUTE: '5', RATE_LIMIT_ORGANISATION: '5' }, async (limited) => {
      const [owner, sandbox] = [await makeKey(gateway, both.owner), await makeKey(gateway, both.sandbox)];
      const [live, test] = [client(limited, owner.key), client(limited, sandbox.key)];
      for (let call = 0; call < 5; call += 1) expect((await test.get('/me')).status).toBe(200);
      const refused = await test.get('/me');
      expect([refused.status, refused.headers.get('scopegate-mode')]).toEqual([429, 'test']);
      expect((await live.get('/me')).body.organisation_rate_limit.remaining).toBe(4);
    });
  });
});

test('its keys end as soon as the erasure of its organisation begins', async () => {
  const { owner, test } = await pair();
  await gateway.control.erasing.begin(owner.id);
  expect((await test.get('/me')).status).toBe(401);
  expect(await gateway.control.sandboxes.create({ of: owner.id, willBeSeeded: false }, OPERATOR)).toBeUndefined();
});

test('an organisation whose sandbox is being moved is not erased, and loses no key', async () => {
  const { owner, sandbox, live } = await pair();
  const rows = gateway.databases.control.collection<{ _id: string }>('organisations');
  await rows.updateOne({ _id: sandbox.id }, { $set: { move: { to: 'eu' } } });
  await expect(gateway.control.erasing.begin(owner.id)).rejects.toThrow(`${sandbox.id} is being moved to shard eu`);
  expect((await live.get('/me')).status).toBe(200);
});

test('records of the sample that conflict with existing ones are counted, and the others are stored', async () => {
  const { test, sandbox } = await pair();
  const data = gateway.databases.organisationData(sandbox);
  const [first, ...others] = northwind('customers');
  await test.post('/customers/bulk', { customers: [{ external_ref: first!.external_ref, name: 'Mine' }] });
  expect(await storeSample(data, 'operator')).toMatchObject({ refused: 1 });
  expect((await test.get(`/customers/${others[0]!.id}`)).status).toBe(200);
  expect((await test.get('/customers', { external_ref: first!.external_ref })).body.data[0].name).toBe('Mine');
});

test('only the load that followed the last reset marks the sample as complete, and none while one is emptying it', async () => {
  const owner = await makeOrganisation(gateway);
  const { sandboxes } = gateway.control;
  const unseeded = async () => (await sandboxes.of(owner.id))!.unseeded;
  const made = (await sandboxes.create({ of: owner.id, willBeSeeded: true }, OPERATOR))!;
  const { id } = made.organisation;
  const first = (await sandboxes.noteEmptying(id))!;
  await sandboxes.noteSeeded(made);
  // a switch of its mode fills it now, and what it stores may be deleted again before the reset is killed
  await sandboxes.noteSeeded(first);
  expect(await unseeded()).toBe(first.unseeded);
  const second = (await sandboxes.noteEmptying(id))!;
  await sandboxes.noteSeeded(await sandboxes.noteEmptied(first));
  expect(await unseeded()).toBe(second.unseeded);
  await sandboxes.noteSeeded(await sandboxes.noteEmptied(second));
  expect(await unseeded()).toBeUndefined();
});

const asJson = (body: object) => ({ body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });

test('the sample is stored as an import would store it, once, and completed if it was interrupted', async () => {
  const { test, sandbox } = await pair();
  const data = gateway.databases.organisationData(sandbox);
  const interrupted = new AbortController();
  const begun = storeSample(data, 'operator', {
    signal: interrupted.signal,
    onProgress: (done) => {
      if (done >= 300) interrupted.abort();
    },
  });
  await expect(begun).rejects.toThrow('aborted');
  await storeSample(data, 'operator');
  expect(await storeSample(data, 'operator')).toMatchObject({ refused: 0 });
  const [first] = northwind('quotes').slice(-1);
  const { body } = await test.get(`/quotes/${first!.id}`);
  expect(body).toEqual(expect.objectContaining({ number: first!.number, total_minor: first!.total_minor }));
  const { data: groups } = (await test.graphql('{ order_totals(group_by: []) { data { count } } }')).body.data
    .order_totals;
  expect(groups).toEqual([{ count: northwind('orders').length }]);
});
