import { randomUUID } from 'node:crypto';
import { eventually } from '../../api/http/eventually';
import type { Json } from '../../support/client';
import { callerOf } from '../../support/factories';
import { served } from '../../support/gateway';
import { TOKENS } from './operator';
import { anyKey, costsOf, LINE, patch, put, QUOTE, remove, writing } from './writing';

const gateway = served({ ...TOKENS, RATE_LIMIT_PER_MINUTE: '1000000' });
const start = () => writing(gateway);

test('an element is checked as import checks a record, and fails alone unless the call is atomic', async () => {
  const { write, post, rows } = await start();
  const writes = [
    put('quote', { ...QUOTE, external_ref: 'q-1' }),
    put('quote', { ...QUOTE, number: 'Q-2', status: 'sold', colour: 'red', total_minor: 1.5 }),
    put('quote', { ...QUOTE, number: 'Q-3', total_minor: 99 }),
    put('quote', { ...QUOTE, number: 'Q-4', status: 'sent' }),
    put('quote', { ...QUOTE, number: 'Q-5', lines: [{ ...LINE, qty: -1 }] }),
    put('quote', { ...QUOTE, number: 'Q-1', external_ref: 'q-6' }),
    put('quote', { ...QUOTE, number: 'Q-7\u0007' }),
    put('quote', {}),
    { type: 'quote' },
    { ...put('quote', QUOTE), ...patch('quote', QUOTE) },
    { type: 'invoice', put: {} },
    put('quote', { ...QUOTE, number: 'Q-8' }, -1),
    put('quote', { ...QUOTE, number: 'Q-9', id: 'x' }),
    7,
    null,
    remove('quote', { number: 'Q-1', total_minor: 1 }),
  ];
  const { results, created, failed } = await write(writes);
  expect(
    results.map(({ outcome, errors }: Json) =>
      outcome === 'failed'
        ? errors.map(({ code, pointer }: Json) => `${String(code)} ${String(pointer)}`).sort()
        : outcome,
    ),
  ).toEqual([
    'created',
    ['not_allowed /writes/1/put/status', 'type /writes/1/put/total_minor', 'unknown /writes/1/put/colour'],
    ['total /writes/2/put/total_minor'],
    ['status /writes/3/put/sent_at'],
    ['range /writes/4/put/lines/0/qty'],
    ['conflict /writes/5/put/number'],
    ['format /writes/6/put/number'],
    ['required /writes/7/put'],
    ['required /writes/8'],
    ['not_allowed /writes/9'],
    ['not_allowed /writes/10/type'],
    ['range /writes/11/version'],
    ['format /writes/12/put/id'],
    ['type /writes/13'],
    ['required /writes/14'],
    ['unknown /writes/15/delete/total_minor'],
  ]);
  expect([created, failed, (await rows('quotes')).length]).toEqual([1, 15, 1]);
  const { status, body } = await post({ writes: [put('product', { sku: 'S', name: 'N' }), ...writes], atomic: true });
  expect([status, body.code, await rows('products')]).toEqual([422, 'validation_failed', []]);
});

test('an erased customer is refused, written or referred to', async () => {
  const { outcomes, row, database } = await start();
  await outcomes(put('customer', { external_ref: 'c', name: 'N' }));
  const { _id: id } = await row('customers', 'c');
  await database.collection('customers').updateOne({ _id: id }, { $set: { erased_at: new Date() } });
  const quote = { ...QUOTE, external_ref: 'q' };
  expect(
    await outcomes(
      put('customer', { external_ref: 'c', name: 'N' }),
      remove('customer', { id }),
      put('quote', { ...quote, customer_ref: 'c' }),
      put('quote', { ...quote, customer_id: id }),
    ),
  ).toEqual(Array(4).fill('failed erased'));
});

test('with an Idempotency-Key the answer is replayed, and nothing is written twice', async () => {
  const { post, database, organisation } = await start();
  const body = { writes: [put('product', { sku: 'S', name: 'N' })] };
  const key = anyKey();
  const first = await post(body, key);
  await database.collection('products').deleteMany({});
  const again = await post(body, key);
  expect([again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([200, first.body, 'true']);
  expect(await database.collection('products').countDocuments()).toBe(0);
  expect((await post({ writes: [put('product', { sku: 'T', name: 'N' })] }, key)).status).toBe(422);
  const events = await gateway.control.audit.list({
    organisationId: organisation.id,
    action: 'objects.written',
    limit: 5,
  });
  expect(events.map(({ details, actor }) => [details, actor.who])).toEqual([[{ created: 1 }, 'operator:billing']]);
});

test('the log says how many elements failed, also of an answer that is replayed', async () => {
  const { post } = await start();
  const key = anyKey();
  const body = { writes: [put('product', { sku: 'S', name: 'N' }), put('product', {})] };
  const answers = [await post(body, key), await post(body, key)];
  expect(answers[1]?.headers.get('idempotent-replayed')).toBe('true');
  const ids = answers.map(({ headers }) => headers.get('x-request-id'));
  const lines = await eventually(() => {
    const own = gateway.logs.filter(({ request_id: id }) => ids.includes(String(id)));
    return own.length === 2 ? own : undefined;
  });
  expect(lines).toMatchObject(Array(2).fill({ elements: 2, elements_failed: 1 }));
});

test('calls at once with the same counts are one line of the audit log, which counts them all', async () => {
  const { post, organisation } = await start();
  const skus = Array.from({ length: 10 }, (_none, n) => `A-${String(n)}`);
  const answers = await Promise.all(skus.map((sku) => post({ writes: [put('product', { sku, name: 'N' })] })));
  expect(answers.map(({ status }) => status)).toEqual(skus.map(() => 200));
  const lines = await gateway.control.audit.list({
    organisationId: organisation.id,
    action: 'objects.written',
    limit: 5,
  });
  // two if an hour ended meanwhile
  expect(lines.length).toBeLessThanOrEqual(2);
  expect(lines.reduce((sum, { times = 1 }) => sum + times, 0)).toBe(skus.length);
});

test('it works on every plan and while suspended, not while erasing; keys pay nothing', async () => {
  const { post, organisation, caller } = await start();
  const reader = await callerOf(gateway, organisation);
  const left = async () => (await reader.get('/me')).body.organisation_rate_limit.remaining;
  const before = await left();
  const write = async (sku: string) => (await post({ writes: [put('product', { sku, name: 'N' })] })).status;
  expect(await write('1')).toBe(200);
  expect(before - (await left())).toBe(1);
  await caller.patch(`/organisations/${organisation.id}`, { plan: 'starter' });
  expect(await write('2')).toBe(200);
  await caller.patch(`/organisations/${organisation.id}`, { state: 'suspended' });
  expect(await write('3')).toBe(200);
  await gateway.control.erasing.begin(organisation.id);
  const { status, body } = await post({ writes: [put('product', { sku: '4', name: 'N' })] });
  expect([status, body.code]).toEqual([409, 'conflict']);
});

test('a token pays a point for each 100 elements begun, and one for an answer that is replayed', async () => {
  const { post } = await start();
  const of = (count: number, headers?: Record<string, string>) => () =>
    post({ writes: Array.from({ length: count }, () => remove('product', { sku: 'none' })) }, headers);
  expect(await costsOf(of(1), of(100), of(101), of(1000))).toEqual([1, 2, 10]);
  const again = of(1000, anyKey());
  expect(await costsOf(again, again)).toEqual([1]);
  expect((await post({ writes: [] })).status).toBe(422);
  expect((await post({ writes: Array.from({ length: 1001 }, () => remove('product', { sku: 'none' })) })).status).toBe(
    422,
  );
});

// from variables: writeAgreement.test.ts
test('GraphQL writes from literals', async () => {
  const { caller, organisation, rows } = await start();
  const literal = `mutation { write(id: "${organisation.id}", writes: [{ type: "product", put: { sku: "S", name: "N", active: false } }]) { created } }`;
  expect((await caller.graphql(literal)).body.data.write).toEqual({ created: 1 });
  const price = (amount: string) => literal.replace('active: false', `unit_price_minor: ${amount}`);
  const refused = await caller.graphql(price('900719925474099.96'));
  expect([refused.status, refused.body.errors[0].message]).toEqual([
    400,
    expect.stringContaining('900719925474099.96'),
  ]);
  expect(await rows('products')).toMatchObject([{ sku: 'S', active: false }]);
});

test('an organisation is named by its external_ref wherever its id is', async () => {
  const { caller, organisation } = await start();
  const ref = `Ref/${randomUUID()} é`;
  await caller.patch(`/organisations/${organisation.id}`, { external_ref: ref });
  const path = `/organisations/${encodeURIComponent(`ref:${ref}`)}`;
  const { body } = await caller.post(`${path}/writes`, { writes: [put('product', { sku: 'S', name: 'N' })] });
  expect(body.created).toBe(1);
  expect((await caller.get(path)).body.id).toBe(organisation.id);
  const key = anyKey();
  const made = await caller.post(`${path}/keys`, { name: 'K', scopes: ['quotes:read'] }, key);
  expect(made.status).toBe(201);
  const again = await caller.post(
    `/organisations/${organisation.id}/keys`,
    { name: 'K', scopes: ['quotes:read'] },
    key,
  );
  expect([again.status, again.body.code]).toEqual([409, 'conflict']);
  expect((await caller.get(`${path}/keys`)).body.data).toHaveLength(1);
  const graphql = await caller.graphql('query ($id: ID!) { organisation(id: $id) { id } }', { id: `ref:${ref}` });
  expect(graphql.body.data.organisation).toEqual({ id: organisation.id });
  expect((await caller.get('/organisations/ref:none')).status).toBe(404);
  expect((await caller.get('/organisations/ref:')).status).toBe(400);
  expect((await caller.post(`${path}/erasure`, { confirm: organisation.name })).body).toMatchObject({
    organisation_id: organisation.id,
  });
});

test('of calls at the same time the highest version stays, and an object is created once', async () => {
  const { post, rows } = await start();
  const versions = [3, 9, 1, 7, 5, 8, 2, 6, 4, 10];
  const sent = versions.map((version) =>
    post({ writes: [put('product', { external_ref: 'p', sku: 'S', name: String(version) }, version)] }),
  );
  const answers = await Promise.all(sent);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(new Set(refused.map(({ body }) => body.code))).toEqual(new Set(refused.length > 0 ? ['conflict'] : []));
  const outcomes = answers.flatMap(({ body }) => (body.results ?? []).map(({ outcome }: Json) => outcome));
  expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(1);
  const stored = versions.filter((_, at) => answers[at]!.body.results?.[0].outcome.endsWith('ed'));
  expect(await rows('products')).toMatchObject([{ name: String(Math.max(...stored)) }]);
  expect(await rows('write_versions')).toMatchObject([{ version: Math.max(...stored) }]);
});

test('a stored row that cannot be served fails its element alone, by the member', async () => {
  const { outcomes, write, database } = await start();
  await outcomes(put('quote', { ...QUOTE, external_ref: 'q-1' }), put('product', { sku: 'S', name: 'N' }));
  await database
    .collection('quotes')
    .updateOne({}, { $set: { valid_until: new Date(), status: 'sold' } }, { bypassDocumentValidation: true });
  const { results } = await write([
    { type: 'quote', patch: { external_ref: 'q-1', discount_minor: 0 } },
    { type: 'product', patch: { sku: 'S', name: 'M' } },
    put('quote', { ...QUOTE, external_ref: 'q-1' }),
  ]);
  expect(results.map(({ outcome }: Json) => outcome)).toEqual(['failed', 'updated', 'updated']);
  expect(results[0].errors.map(({ pointer }: Json) => pointer).sort()).toEqual([
    '/writes/0/patch/status',
    '/writes/0/patch/valid_until',
  ]);
});

test('nothing of another organisation is found, changed or named', async () => {
  const [own, other] = [await start(), await start()];
  await other.outcomes(
    put('customer', { external_ref: 'c', name: 'Theirs' }),
    put('product', { external_ref: 'p', sku: 'S', name: 'Theirs' }, 9),
  );
  const [theirs] = await other.rows('products');
  const [customer] = await other.rows('customers');
  const { results } = await own.write([
    { type: 'product', patch: { id: theirs._id, name: 'Mine' } },
    { type: 'product', patch: { external_ref: 'p', name: 'Mine' } },
    remove('product', { id: theirs._id }),
    put('quote', { ...QUOTE, customer_id: customer._id }),
    put('quote', { ...QUOTE, customer_ref: 'c' }),
    put('product', { external_ref: 'p', sku: 'S', name: 'Mine' }, 1),
    put('product', { id: theirs._id, sku: 'T', name: 'Mine' }),
  ]);
  expect(results.map(({ outcome }: Json) => outcome)).toEqual([
    ...['failed', 'failed', 'unchanged', 'failed', 'failed', 'created', 'created'],
  ]);
  expect(JSON.stringify(results.slice(0, 6))).not.toContain('Theirs');
  expect(await other.rows('products')).toEqual([theirs]);
});

test.each([{ $ne: null }, { $gt: '' }, ['p'], 7, true, '$where', '__proto__', 'p\u0000'])(
  'a name that is %j finds nothing',
  async (name) => {
    const { outcomes, rows } = await start();
    await outcomes(put('product', { external_ref: 'p', sku: 'S', name: 'N' }));
    const before = await rows('products');
    const found = await outcomes(
      { type: 'product', patch: { external_ref: name, name: 'M' } },
      { type: 'product', patch: { id: name, name: 'M' } },
      remove('product', { sku: name }),
      put('quote', { ...QUOTE, customer_ref: name }),
    );
    expect(found.join()).not.toMatch(/updated|deleted|created/);
    expect(await rows('products')).toEqual(before);
  },
);
