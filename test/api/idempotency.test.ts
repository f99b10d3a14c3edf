import { randomUUID } from 'node:crypto';
import { readAll } from '../support/client';
import { callerOf, makeOrganisation } from '../support/factories';
import { late, served } from '../support/gateway';

const gateway = served();
const organisation = late(() => makeOrganisation(gateway));
const caller = late(() => callerOf(gateway, organisation));

/** How to send each write with a unique name, and count what it stored. */
const WRITES = [
  {
    operation: 'upsert_products',
    path: '/products/bulk',
    body: (name: string) => ({ products: [{ sku: name, name }] }),
    mutation: `mutation ($name: String!) { upsert_products(products: [{ sku: $name, name: $name }]) { created updated unchanged failed results { index sku id outcome errors { code } } } }`,
    stored: async (name: string) => (await readAll(caller, '/products', { sku: name })).length,
  },
  {
    operation: 'upsert_customers',
    path: '/customers/bulk',
    body: (name: string) => ({ customers: [{ external_ref: name, name }] }),
    mutation: `mutation ($name: String!) { upsert_customers(customers: [{ external_ref: $name, name: $name }]) { created updated unchanged failed results { index external_ref id outcome errors { code } } } }`,
    stored: async (name: string) => (await readAll(caller, '/customers', { external_ref: name })).length,
  },
  {
    operation: 'open_request',
    path: '/requests',
    body: (name: string) => ({ text: name }),
    mutation: `mutation ($name: String!) { open_request(text: $name) { id subject status customer_id contact { name } message_count last_message_at created_at updated_at } }`,
    stored: async (name: string) =>
      (await readAll(caller, '/requests', { q: name })).filter(({ subject }) => subject === name).length,
  },
] as const;

const newName = (): string => `w${randomUUID().replaceAll('-', '')}`;
const withKey = (key: string): Record<string, string> => ({ 'idempotency-key': key });

describe.each(WRITES)('$operation with an Idempotency-Key', ({ operation, path, body, mutation, stored }) => {
  test('a repeated request gets the first answer, marked as replayed, and stores nothing', async () => {
    const [name, key] = [newName(), randomUUID()];
    const first = await caller.post(path, body(name), withKey(key));
    const second = await caller.post(path, body(name), withKey(key));
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.status).toBe(first.status);
    expect(second.text).toBe(first.text);
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(await stored(name)).toBe(1);
  });

  test('GraphQL replays too, and a key used in GraphQL is replayed in REST', async () => {
    const [name, key] = [newName(), randomUUID()];
    const first = await caller.graphql(mutation, { name }, withKey(key));
    const second = await caller.graphql(mutation, { name }, withKey(key));
    expect(first.body.errors).toBeUndefined();
    expect(second.text).toBe(first.text);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    const onRest = await caller.post(path, body(name), withKey(key));
    expect(onRest.headers.get('idempotent-replayed')).toBe('true');
    expect(await stored(name)).toBe(1);
  });

  test('the same key with another body gets 422 idempotency_key_reused and stores nothing', async () => {
    const [name, other, key] = [newName(), newName(), randomUUID()];
    await caller.post(path, body(name), withKey(key));
    const answer = await caller.post(path, body(other), withKey(key));
    expect([answer.status, answer.body.code]).toEqual([422, 'idempotency_key_reused']);
    const onGraphql = await caller.graphql(mutation, { name: other }, withKey(key));
    expect(onGraphql.body.errors[0].extensions.code).toBe('idempotency_key_reused');
    expect(await stored(other)).toBe(0);
  });

  test('concurrent requests store one object: each gets the first answer, or 409 while it is in progress', async () => {
    const [name, key] = [newName(), randomUUID()];
    const answers = await Promise.all(Array.from({ length: 12 }, () => caller.post(path, body(name), withKey(key))));
    const done = answers.filter(({ status }) => status < 300);
    expect(done.length).toBeGreaterThan(0);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    for (const answer of answers.filter(({ status }) => status >= 300)) {
      expect([answer.status, answer.body.code]).toEqual([409, 'idempotency_in_progress']);
      expect(answer.headers.get('retry-after')).toBe('1');
    }
    expect(await stored(name)).toBe(1);
  });

  test('the same Idempotency-Key from another API key is a separate write', async () => {
    const [name, key] = [newName(), randomUUID()];
    const other = await callerOf(gateway, organisation);
    await caller.post(path, body(name), withKey(key));
    const answer = await other.post(path, body(name), withKey(key));
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
    expect(await stored(name)).toBe(operation === 'open_request' ? 2 : 1);
  });

  test('a rejected write is not recorded, so its Idempotency-Key can be used for the corrected one', async () => {
    const [name, key] = [newName(), randomUUID()];
    const refused = await caller.post(path, { nonsense: true }, withKey(key));
    expect(refused.status).toBe(422);
    const answer = await caller.post(path, body(name), withKey(key));
    expect(answer.status).toBeLessThan(300);
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
  });

  test.each([
    ['empty', ''],
    ['with a space', 'a b'],
    ['beyond ASCII', 'é'],
    ['of 256 characters', 'x'.repeat(256)],
  ])('a malformed key (%s) gets 400 and stores nothing', async (_kind, key) => {
    const name = newName();
    const answer = await caller.post(path, body(name), { 'idempotency-key': Buffer.from(key).toString('latin1') });
    expect([answer.status, answer.body.errors?.[0]?.parameter]).toEqual([400, 'Idempotency-Key']);
    expect(await stored(name)).toBe(0);
  });
});

test('an answer is forgotten after 24 hours, and its Idempotency-Key can be used for a new write', async () => {
  const [name, key] = [newName(), randomUUID()];
  const body = { text: name };
  const first = await caller.post('/requests', body, withKey(key));
  const records = gateway.databases.organisationData(organisation).database.collection('idempotency_records');
  // and a second, since a gateway's measure of the database's clock may be some milliseconds behind
  const dayAgo = new Date(Date.now() - 24 * 60 * 60 * 1000 - 60_000);
  const changed = await records.updateMany({ 'answer._id': first.body.id }, { $set: { created_at: dayAgo } });
  expect(changed.modifiedCount).toBe(1);
  const again = await caller.post('/requests', body, withKey(key));
  expect(again.headers.get('idempotent-replayed')).toBeNull();
  expect(again.body.id).not.toBe(first.body.id);
});

test('an Idempotency-Key is for one mutation field, whatever is asked of its type beside', async () => {
  const query = `mutation { __typename open_request(text: "${newName()}") { id } }`;
  const key = randomUUID();
  const [first, again] = [
    await caller.graphql(query, undefined, withKey(key)),
    await caller.graphql(query, undefined, withKey(key)),
  ];
  expect(first.body.errors).toBeUndefined();
  expect(again.body).toEqual(first.body);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
});

test('an Idempotency-Key for two mutation fields gets 400 and stores nothing', async () => {
  const [one, other] = [newName(), newName()];
  const query = `mutation { a: open_request(text: "${one}") { id } b: open_request(text: "${other}") { id } }`;
  const answer = await caller.graphql(query, undefined, withKey(randomUUID()));
  expect(answer.status).toBe(400);
  expect(answer.body.errors[0].extensions).toMatchObject({
    code: 'invalid_request',
    errors: [{ parameter: 'Idempotency-Key' }],
  });
  expect(await WRITES[2].stored(one)).toBe(0);
});
