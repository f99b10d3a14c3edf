import { createRequestLog } from '../../../src/organisations/requestLog';
import { shownRequest } from '../../../src/organisations/requestName';
import type { RequestRow } from '../../../src/organisations/requestRows';
import { createControlModels } from '../../../src/organisations/models';
import { MINUTE } from '../../../src/units';
import { client, type Json } from '../../support/client';
import { makeKey, makeOrganisation } from '../../support/factories';
import { served, startGateway, withGateway } from '../../support/gateway';
import { eventually } from '../../api/http/eventually';
import { USUAL_ROW } from './rows';
import { type Person, signIn, useOffice } from './people';

jest.mock('../../../src/organisations/delayedWriter', () => jest.requireActual<object>('../../support/quickLoops'));

describe('the request log', () => {
  const office = useOffice();
  let reader: Awaited<ReturnType<typeof makeKey>>;
  let revoked: Awaited<ReturnType<typeof makeKey>>;

  beforeAll(async () => {
    const { gateway, organisation, admin } = office;
    reader = await makeKey(gateway, organisation, { scopes: ['quotes:read'] });
    revoked = await makeKey(gateway, organisation);
    await admin.call('revoke_key', { key_id: revoked.id });
    const caller = client(gateway, reader.key);
    await caller.get('/quotes', { limit: 1, q: 'secret' }, { 'X-Request-Id': 'first' });
    await caller.get('/orders');
    await caller.get('/quotes/689defbf-4477-4b15-966e-4830b650ded3', {}, { 'X-Request-Id': 'gone' });
    await caller.graphql('{ quotes { has_more } }');
    await caller.graphql('{ quotes(limit: 0) { has_more } me { key { id } } }');
    await caller.mcp('tools/call', { name: 'quotes' });
    await client(gateway, revoked.key).get('/quotes');
    // right checksum and id, wrong secret
    const guessed = await makeKey(gateway, organisation);
    const rows = gateway.databases.control.collection<{ _id: string }>('api_keys');
    await rows.updateOne({ _id: guessed.id }, { $set: { hash: 'another' } });
    await client(gateway, guessed.key).get('/quotes');
    await client(gateway, reader.key).get('/quotes', { limit: 2 }, { 'X-Request-Id': 'last' });
    await eventually(async () => (await logOf(office.admin, { request_id: 'last' })).data.length > 0);
  });

  const logOf = (person: Person, variables: object = {}): Promise<Json> =>
    person.call('request_log', { limit: 100, ...variables });
  const idsOf = async (variables: object) =>
    (await logOf(office.member, variables)).data.map(({ status, code }: Json) => `${String(status)} ${String(code)}`);

  test('has every request of the keys over each API, newest first, with what is known of it, but never its query, key or body', async () => {
    const { data } = await logOf(office.member);
    expect(data.map(({ face, operation, status, code }: Json) => [face, operation, status, code])).toEqual([
      ['rest', 'quotes', 200, null],
      ['rest', 'quotes', 401, 'unauthenticated'],
      ['mcp', 'quotes', 200, null],
      ['graphql', 'quotes me', 200, 'invalid_request'],
      ['graphql', 'quotes', 200, null],
      ['rest', 'quote', 404, 'not_found'],
      ['rest', 'orders', 403, 'insufficient_scope'],
      ['rest', 'quotes', 200, null],
    ]);
    expect(data.at(-1)).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      request_id: 'first',
      key_id: reader.id,
      face: 'rest',
      method: 'GET',
      path: '/api/v1/quotes',
      operation: 'quotes',
      operation_type: null,
      operation_name: null,
      status: 200,
      code: null,
      reason: null,
      missing_scope: null,
      elements: null,
      elements_failed: null,
      ms: expect.any(Number),
      address: '127.0.0.1',
    });
    const text = JSON.stringify(data);
    for (const kept of ['secret', reader.key.slice(-8)]) expect(text).not.toContain(kept);
  });

  test('a bulk call that was answered with 200 counts as failed if elements failed, and both logs say how many', async () => {
    const { gateway } = office;
    const organisation = await makeOrganisation(gateway);
    const { key } = await makeKey(gateway, organisation);
    const products = [{ sku: 'A', name: 'A' }, { sku: 'B' }, { sku: 'C', name: 5 }];
    const headers = { 'X-Request-Id': `bulk-${organisation.id}` };
    expect((await client(gateway, key).post('/products/bulk', { products }, headers)).status).toBe(200);
    expect((await client(gateway, key).post('/products/bulk', { products: products.slice(0, 1) })).status).toBe(200);
    const some = { elements: 3, elements_failed: 2 };
    const found = await eventually(async () => {
      const rows = await gateway.control.requests.list({ organisationId: organisation.id }, 10);
      return rows.length === 2 ? rows : undefined;
    });
    expect(found.map(({ failed, elements, elements_failed: lost }) => [failed, elements, lost]).sort()).toEqual([
      [false, 1, 0],
      [true, 3, 2],
    ]);
    const failed = await gateway.control.requests.list({ organisationId: organisation.id, failed: true }, 10);
    expect(failed.map(shownRequest)).toMatchObject([{ ...some, status: 200, code: null }]);
    const line = gateway.logs.find(({ request_id: id }) => id === headers['X-Request-Id']);
    expect(line).toMatchObject({ ...some, status: 200 });
  });

  test('a bulk call whose answer is replayed counts as failed if that has failed elements', async () => {
    const { gateway } = office;
    const organisation = await makeOrganisation(gateway);
    const { key } = await makeKey(gateway, organisation);
    const call = () =>
      client(gateway, key).post('/products/bulk', { products: [{ sku: 'A' }] }, { 'Idempotency-Key': 'once' });
    await call();
    expect((await call()).headers.get('idempotent-replayed')).toBe('true');
    const found = await eventually(async () => {
      const rows = await gateway.control.requests.list({ organisationId: organisation.id }, 10);
      return rows.length === 2 ? rows : undefined;
    });
    expect(found.map(shownRequest)).toMatchObject(Array(2).fill({ elements: 1, elements_failed: 1 }));
    expect(found.map(({ failed }) => failed)).toEqual([true, true]);
  });

  test('has calls with a revoked key, but not those with a wrong secret, which anyone can make', async () => {
    expect(await logOf(office.member, { key_id: revoked.id.toUpperCase() })).toMatchObject({
      data: [{ key_id: revoked.id, status: 401, reason: 'revoked' }],
    });
  });

  test.each([
    [{ request_id: 'gone' }, ['404 not_found']],
    [{ status: '404' }, ['404 not_found']],
    [{ status: '4XX', face: 'rest' }, ['401 unauthenticated', '404 not_found', '403 insufficient_scope']],
    [{ failed: false }, ['200 null', '200 null', '200 null', '200 null']],
    [{ failed: true, face: 'graphql' }, ['200 invalid_request']],
    [{ code: 'insufficient_scope' }, ['403 insufficient_scope']],
    [{ operation: 'quotes', face: 'mcp' }, ['200 null']],
    // GraphQL answers it with 200
    [{ status: '400' }, ['200 invalid_request']],
    [{ status: '2xx' }, ['200 null', '200 null', '200 null', '200 null']],
    [{ status: '200', face: 'graphql' }, ['200 null']],
    [{ since: '2020-01-01T00:00:00Z', status: '404' }, ['404 not_found']],
    [{ since: '9020-01-01T00:00:00Z' }, []],
    [{ until: '9020-01-01T00:00:00Z', status: '404' }, ['404 not_found']],
    [{ until: '2020-01-01T00:00:00Z' }, []],
    [{ request_id: 'no such' }, []],
    // no filter
    [{ request_id: null, status: null, code: null, operation: 'quote' }, ['404 not_found']],
  ])('finds by %j', async (filter, expected) => {
    expect(await idsOf(filter)).toEqual(expected);
  });

  test('says which scope was missing, over each API, and counts such requests by key; introspection needs none', async () => {
    const { gateway, organisation, member } = office;
    const bot = await makeKey(gateway, organisation, { name: 'bot', scopes: ['products:read'] });
    const caller = client(gateway, bot.key);
    await caller.graphql('{ orders { has_more } }');
    await caller.graphql('{ __schema { queryType { name } } __typename }');
    await caller.mcp('tools/call', { name: 'quotes' });
    await caller.get('/events', { types: 'customer.created' });
    await caller.get('/quotes', {}, { 'X-Request-Id': 'scopeless' });
    await eventually(async () => (await logOf(member, { request_id: 'scopeless' })).data.length > 0);
    expect((await logOf(member, { operation: 'introspection' })).data).toMatchObject([{ status: 200, code: null }]);
    const { data } = await logOf(member, { code: 'insufficient_scope' });
    expect(data.map(({ face, key_id: key, missing_scope: scope }: Json) => [face, key, scope])).toEqual([
      ['rest', bot.id, 'quotes:read'],
      ['rest', bot.id, 'customers:read'],
      ['mcp', bot.id, 'quotes:read'],
      ['graphql', bot.id, 'orders:read'],
      ['rest', reader.id, 'orders:read'],
    ]);
    const counted = (variables: object): Promise<Json> =>
      member.call('request_counts', { code: 'insufficient_scope', ...variables });
    expect((await counted({})).data).toEqual([
      {
        key_id: bot.id,
        requests: 4,
        missing_scopes: ['customers:read', 'orders:read', 'quotes:read'],
        last_at: expect.stringMatching(/^\d{4}-.*Z$/),
      },
      expect.objectContaining({ key_id: reader.id, requests: 1, missing_scopes: ['orders:read'] }),
    ]);
    for (const period of [{ since: '9020-01-01T00:00:00Z' }, { until: '2020-01-01T00:00:00Z' }])
      expect((await counted(period)).data).toEqual([]);
    await gateway.databases.control.collection('request_log').deleteMany({ key_id: bot.id });
  });

  test.each([{ status: '999' }, { status: '4x' }, { status: 'abc' }, { status: '4xxx' }, { request_id: '' }])(
    'reports an invalid filter: %j',
    async (filter) => {
      const error = await logOf(office.member, filter);
      expect(error.code).toMatch(/^(invalid_request|validation_failed)$/);
      expect(JSON.stringify(error.errors)).toContain(Object.keys(filter)[0]);
    },
  );

  test('is paged, and a cursor works only with its own filters', async () => {
    const first = await logOf(office.member, { limit: 5 });
    expect(first.has_more).toBe(true);
    const second = await logOf(office.member, { limit: 5, cursor: first.next_cursor });
    expect(second.data).toHaveLength(3);
    const ids = [...first.data, ...second.data].map(({ id }: Json) => id);
    expect(new Set(ids).size).toBe(8);
    expect(await logOf(office.member, { failed: true, cursor: first.next_cursor })).toMatchObject({
      code: 'invalid_request',
    });
  });

  test('shows no requests of another organisation, whatever the filter', async () => {
    const other = await makeOrganisation(office.gateway);
    const stranger = await signIn(office.gateway, other);
    for (const filter of [{}, { key_id: reader.id }, { request_id: 'gone' }, { status: '404' }]) {
      expect(await logOf(stranger, filter)).toMatchObject({ data: [], has_more: false });
    }
  });

  test('says why a key was rejected, which its caller is not told', async () => {
    const { gateway, organisation, admin } = office;
    const [elsewhere, expired] = await Promise.all([
      makeKey(gateway, organisation),
      makeKey(gateway, organisation, { expiresAt: new Date(Date.now() - MINUTE) }),
    ]);
    await admin.call('update_key', { key_id: elsewhere.id, allowed_ranges: ['192.0.2.0/24'] });
    for (const [{ key, id }, reason] of [
      [elsewhere, 'address'],
      [expired, 'expired'],
    ] as const) {
      const { status, body } = await client(gateway, key).get('/quotes');
      expect([status, JSON.stringify(body).includes(reason)]).toEqual([401, false]);
      await eventually(async () => (await logOf(admin, { key_id: id })).data[0]?.reason === reason);
    }
  });

  test('includes requests without a route, which cost no point; without a valid key they are in no log', async () => {
    const { gateway, organisation, admin } = office;
    const { key, id } = await makeKey(gateway, organisation);
    const caller = client(gateway, key);
    let sent = 0;
    const row = (method: string): Promise<Json> =>
      logOf(admin, { key_id: id }).then(({ data }) => data.find((one: Json) => one.method === method));
    // sent again, since the row is left out if the database does not know the key soon enough
    const rowOf = (method: string, send: () => Promise<{ readonly status: number }>, status: number): Promise<Json> =>
      eventually(async () => {
        expect((await send()).status).toBe(status);
        sent += 1;
        return eventually(() => row(method), 2000).catch(() => undefined);
      });
    for (const wrong of [undefined, 'svc_live_wrong'])
      expect((await client(gateway, wrong).get('/quots')).status).toBe(404);
    const lost = await rowOf('GET', () => caller.get('/quots', {}, { 'X-Request-Id': 'mistyped' }), 404);
    const [path, request_id] = ['/api/v1/quots', 'mistyped'];
    expect(lost).toMatchObject({ path, request_id, operation: null, status: 404, code: 'not_found', reason: null });
    const other = { path: '/api/v1/quotes', operation: null, status: 405, code: 'method_not_allowed' };
    expect(await rowOf('PATCH', () => caller.send('PATCH', '/quotes'), 405)).toMatchObject(other);
    expect((await logOf(admin, { key_id: id })).data.length).toBeLessThanOrEqual(sent);
  });
});

test('REQUEST_LOG=off stores no requests, but still counts them', async () => {
  const gateway = await startGateway({ REQUEST_LOG: 'off' });
  const organisation = await makeOrganisation(gateway);
  const key = await makeKey(gateway, organisation);
  await client(gateway, key.key).get('/quotes');
  // a gateway that stops has only seconds to write it
  const counts = gateway.databases.control.collection('key_usage');
  await eventually(() => counts.findOne({ key_id: key.id }));
  await gateway.stop();
  await withGateway({}, async (keeper) => {
    const person = await signIn(keeper, organisation);
    expect((await person.call('request_log')).data).toEqual([]);
    expect(await person.call('usage', { key_id: key.id, period: 'last_24h' })).toMatchObject({ requests: 1 });
  });
});

describe('stored requests', () => {
  const gateway = served();

  const rowsOf = (organisation_id: string, count: number, failed: boolean): RequestRow[] =>
    Array.from({ length: count }, (_, at) => ({
      ...USUAL_ROW,
      _id: `${organisation_id}-${String(failed)}-${String(at)}`,
      organisation_id,
      key_id: 'k',
      request_id: String(at),
      status: failed ? 500 : 200,
      failed,
      // so that no rows of the two kinds are equally old
      at: new Date(Date.now() - at * 1000 - (failed ? 0 : 100_000)),
    }));

  test('are trimmed to the newest of their organisation, failed and successful ones separately', async () => {
    const log = createRequestLog(createControlModels(gateway.databases), Date.now, 10);
    const [{ id: one }, { id: two }] = [await makeOrganisation(gateway), await makeOrganisation(gateway)];
    await log.add([...rowsOf(one, 30, true), ...rowsOf(one, 12, false), ...rowsOf(two, 30, true)]);
    await log.trim(one);
    const left = await log.list({ organisationId: one }, 1000);
    expect(left.filter(({ failed }) => failed).map(({ request_id }) => request_id)).toEqual(
      Array.from({ length: 10 }, (_, at) => String(at)),
    );
    expect(left.filter(({ failed }) => !failed)).toHaveLength(10);
    expect(await log.list({ organisationId: two }, 1000)).toHaveLength(30);
  });

  test('are stored once if the answer to their write was lost, and read up to the number that is asked for', async () => {
    const log = createRequestLog(createControlModels(gateway.databases), Date.now);
    const { id: organisationId } = await makeOrganisation(gateway);
    const rows = rowsOf(organisationId, 250, false);
    await log.add(rows.slice(0, 30));
    await log.add(rows);
    expect(await log.list({ organisationId }, 230)).toHaveLength(230);
    expect(await log.list({ organisationId }, 999)).toHaveLength(250);
  });
});
