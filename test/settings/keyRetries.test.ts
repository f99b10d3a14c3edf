import { randomBytes } from 'node:crypto';
import { MINUTE } from '../../src/units';
import { client, type Json } from '../support/client';
import { makeOrganisation } from '../support/factories';
import { makeLink, type Person, signIn, useOffice } from './people';

/* Calls that create or rotate a key, repeated with the same Idempotency-Key. */

const SHOP = { name: 'shop', scopes: ['quotes:read'] };
const CREATE = `mutation($name: String!, $scopes: [String!]!) {
  value: create_api_key(name: $name, scopes: $scopes) { key api_key { id state } } }`;
const ROTATE = `mutation($id: ID!) { value: rotate_api_key(id: $id) { key api_key { id } } }`;

const { gateway, organisation, admin } = useOffice();

const anyKey = (): string => randomBytes(32).toString('base64url');
const send = (who: Person, query: string, variables: object, key: string) =>
  who.graphql(query, variables, { 'idempotency-key': key });
const keysOf = async ({ id } = organisation) => gateway.control.apiKeys.list(id);
const codeOf = ({ body }: { body: Json }): string => body.errors?.[0].extensions.code;

test('repeated calls get the same key, which works, and create no second one', async () => {
  const key = anyKey();
  const before = await keysOf();
  const first = await send(admin, CREATE, SHOP, key);
  const again = await send(admin, CREATE, SHOP, key);
  expect(again.body).toEqual(first.body);
  expect([first, again].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
  expect(await keysOf()).toHaveLength(before.length + 1);
  expect((await client(gateway, first.body.data.value.key as string).get('/me')).status).toBe(200);
  const { data } = await admin.call('audit_events', { key_id: first.body.data.value.api_key.id });
  expect(data).toHaveLength(1);
});

test.each([
  ['create', CREATE],
  ['rotate', ROTATE],
])('%s makes one key, however many calls are concurrent', async (_name, query) => {
  const { api_key } = await admin.call('create_api_key', SHOP);
  const before = await keysOf();
  const key = anyKey();
  const all = await Promise.all(Array.from({ length: 12 }, () => send(admin, query, { ...SHOP, id: api_key.id }, key)));
  const made = all.filter(({ body }) => !body.errors).map(({ body }) => body.data.value.key as string);
  expect(new Set(made).size).toBe(1);
  const rest = all.filter(({ body }) => body.errors).map(codeOf);
  expect(rest.filter((code) => code !== 'idempotency_in_progress')).toEqual([]);
  expect(await keysOf()).toHaveLength(before.length + 1);
  expect((await send(admin, query, { ...SHOP, id: api_key.id }, key)).body.data.value.key).toBe(made[0]);
});

test('a repeat with other arguments or for another operation is rejected', async () => {
  const key = anyKey();
  const { body } = await send(admin, CREATE, SHOP, key);
  const before = await keysOf();
  expect(codeOf(await send(admin, CREATE, { ...SHOP, name: 'other' }, key))).toBe('idempotency_key_reused');
  expect(codeOf(await send(admin, ROTATE, { id: body.data.value.api_key.id }, key))).toBe('idempotency_key_reused');
  expect(await keysOf()).toEqual(before);
});

test.each(['1', 'x'.repeat(42), `${'x'.repeat(42)}=`, randomBytes(16).toString('hex')])(
  'a guessable Idempotency-Key (%s) is rejected, and nothing is created',
  async (key) => {
    const before = await keysOf();
    const { body } = await send(admin, CREATE, SHOP, key);
    expect(body.errors[0].extensions).toMatchObject({
      code: 'invalid_request',
      errors: [{ parameter: 'Idempotency-Key', code: 'format' }],
    });
    expect(await keysOf()).toEqual(before);
  },
);

test('the same Idempotency-Key from another user or organisation creates a key of its own', async () => {
  const key = anyKey();
  const elsewhere = await makeOrganisation(gateway);
  const people = [admin, await signIn(gateway, organisation, 'admin', 'Bea'), await signIn(gateway, elsewhere)];
  const answers = await Promise.all(people.map((who) => send(who, CREATE, SHOP, key)));
  expect(new Set(answers.map(({ body }) => body.data.value.key as string)).size).toBe(3);
  expect(await keysOf(elsewhere)).toHaveLength(1);
});

test('a repeat by a member is rejected like the first call', async () => {
  const key = anyKey();
  await send(admin, CREATE, SHOP, key);
  const demoted = await signIn(gateway, organisation, 'member', 'Ada');
  expect(codeOf(await send(demoted, CREATE, SHOP, key))).toBe('forbidden');
});

test('a repeat gets the key in its current state, and a new one after a day', async () => {
  const key = anyKey();
  const first = await send(admin, CREATE, SHOP, key);
  const { id } = first.body.data.value.api_key;
  await admin.call('revoke_api_key', { id });
  const again = await send(admin, CREATE, SHOP, key);
  expect(again.body.data.value).toEqual({ key: first.body.data.value.key, api_key: { id, state: 'revoked' } });
  const rows = gateway.databases.control.collection('key_answers');
  await rows.updateOne({ key_id: id }, { $set: { ends_at: new Date(Date.now() - MINUTE) } });
  const later = await send(admin, CREATE, { ...SHOP, name: 'later' }, key);
  expect(later.body.data.value.api_key.id).not.toBe(id);
});

/** All rows of the control database, by collection. */
async function stored(): Promise<Map<string, object[]>> {
  const db = gateway.databases.control.getClient().db(gateway.databases.control.name);
  const names = (await db.listCollections().toArray()).map(({ name }) => name);
  return new Map(
    await Promise.all(names.map(async (name) => [name, await db.collection(name).find().toArray()] as const)),
  );
}

test('the control database stores neither a key nor what could decrypt it', async () => {
  const key = anyKey();
  const { body } = await send(admin, CREATE, SHOP, key);
  const secret = (body.data.value.key as string).split('_').at(-1)!;
  const text = JSON.stringify([...(await stored())]);
  expect(text).toContain(body.data.value.api_key.id);
  expect(text).not.toContain(secret.slice(0, 43));
  expect(text).not.toContain(key);
});

test('an erased organisation leaves nothing in the control database but the event of its erasure', async () => {
  const { control } = gateway;
  const own = await makeOrganisation(gateway);
  await send(await signIn(gateway, own), CREATE, SHOP, anyKey());
  await makeLink(gateway, own);
  const endpoint = { url: 'https://hooks.example.com', types: [], position: '0', created_by: 'x' };
  await control.webhooks.create({ organisation_id: own.id, ...endpoint }, { actor: { who: 'cli:test', from: 'here' } });
  /** The collection of each row that names it. */
  const left = async (): Promise<string[]> =>
    [...(await stored())].flatMap(([name, rows]) =>
      rows.filter((row) => JSON.stringify(row).includes(own.id)).map(() => name),
    );
  const names = ['api_keys', 'audit_events', 'key_answers', 'members', 'organisations', 'sessions', 'sign_in_links'];
  expect([...new Set(await left())].sort()).toEqual([...names, 'webhook_endpoints']);
  await control.erasing.begin(own.id);
  await control.erasing.finish(own);
  expect(await left()).toEqual(['audit_events']);
});
