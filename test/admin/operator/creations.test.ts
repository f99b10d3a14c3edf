import { randomUUID } from 'node:crypto';
import { MINUTE } from '../../../src/units';
import type { Json } from '../../support/client';
import { served } from '../../support/gateway';
import { makeLink, signIn } from '../settings/people';
import { operator, SECRET } from './operator';

/* What operators create with an Idempotency-Key is created once, and a secret is shown once. */

const OTHER = 'other-secret-of-thirty-two-characters-or-more';
const gateway = served({
  OPERATOR_TOKENS: `billing=${SECRET},other=${OTHER}`,
  // its webhooks have a secret of their own
  CONTROL_DATABASE: 'scopegate_test_creations',
  WEBHOOK_SECRET: 'w'.repeat(32),
  WEBHOOK_ALLOWED_RANGES: '127.0.0.1/32',
  PUBLIC_URL: 'https://api.example.com',
});
const caller = () => operator(gateway);
const create = async (): Promise<string> => (await caller().post('/organisations', { name: 'Acme' })).body.id;
const SHOP = { name: 'Shop', scopes: ['quotes:read'] };
const HINT = { url: 'http://127.0.0.1:9/hook', types: ['order.created'] };
const anyKey = () => ({ 'idempotency-key': randomUUID() });
const listed = async (path: string): Promise<Json[]> => (await caller().get(path)).body.data;

const SECRETS = [
  ['keys', SHOP, 'api_key', 'revoke it'],
  ['webhooks', HINT, 'endpoint', 'delete it'],
  ['invitations', { name: 'Ann', role: 'member' }, 'invitation', 'revoke it'],
] as const;

test.each(SECRETS)('of %s a repeat creates none, and names the one that was made', async (path, sent, name, remedy) => {
  const all = `/organisations/${await create()}/${path}`;
  const key = anyKey();
  const first = await caller().post(all, sent, key);
  const again = await caller().post(all, sent, key);
  expect([first.status, again.status, again.body.code]).toEqual([201, 409, 'conflict']);
  const [fault] = again.body.errors;
  expect(fault).toMatchObject({ parameter: 'Idempotency-Key', code: 'conflict' });
  expect(fault.detail).toContain(first.body[name].id);
  expect(fault.detail).toContain(remedy);
  expect((await listed(all)).map(({ id }) => id)).toEqual([first.body[name].id]);
  // without the header each request makes another one
  expect((await caller().post(all, sent)).status).toBe(201);
  expect(await listed(all)).toHaveLength(2);
});

test.each(SECRETS)('of %s one is created, however many requests are concurrent', async (path, sent) => {
  const all = `/organisations/${await create()}/${path}`;
  const key = anyKey();
  const answers = await Promise.all(Array.from({ length: 12 }, () => caller().post(all, sent, key)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  for (const { status, body } of answers)
    if (status !== 201) expect(['conflict', 'idempotency_in_progress']).toContain(body.code);
  expect(await listed(all)).toHaveLength(1);
});

test('an organisation is answered again, and created once, also without external_ref', async () => {
  const key = anyKey();
  const first = await caller().post('/organisations', { name: 'Once' }, key);
  const again = await caller().post('/organisations', { name: 'Once' }, key);
  expect([again.status, again.body]).toEqual([201, first.body]);
  expect([first, again].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
  const audit = await gateway.control.audit.list({ organisationId: first.body.id, limit: 5 });
  expect(audit.map(({ action }) => action)).toEqual(['organisation.created']);
});

test('a repeat with other arguments is refused, and so is a malformed Idempotency-Key', async () => {
  const id = await create();
  for (const [path, sent] of [
    ['/organisations', { name: 'One' }],
    [`/organisations/${id}/keys`, SHOP],
    [`/organisations/${id}/webhooks`, HINT],
  ] as const) {
    const key = anyKey();
    expect((await caller().post(path, sent, key)).status).toBe(201);
    const other = await caller().post(
      path,
      { ...sent, ...(path.endsWith('webhooks') ? { types: [] } : { name: 'Two' }) },
      key,
    );
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
    const malformed = await caller().post(path, sent, { 'idempotency-key': 'x'.repeat(256) });
    expect([malformed.status, malformed.body.errors[0].parameter]).toEqual([400, 'Idempotency-Key']);
  }
});

test('a refused request stores nothing, so it can be corrected and sent with the same Idempotency-Key', async () => {
  const id = await create();
  const key = anyKey();
  await caller().patch(`/organisations/${id}`, { plan: 'starter' });
  expect((await caller().post(`/organisations/${id}/keys`, SHOP, key)).body.code).toBe('plan_required');
  await caller().patch(`/organisations/${id}`, { plan: 'integrations' });
  expect((await caller().post(`/organisations/${id}/keys`, SHOP, key)).status).toBe(201);
});

test('the same Idempotency-Key of another token, or for another organisation, creates its own', async () => {
  const [one, two] = [await create(), await create()];
  const key = anyKey();
  const made = [
    await caller().post(`/organisations/${one}/keys`, SHOP, key),
    await caller().post(`/organisations/${two}/keys`, SHOP, key),
    await operator(gateway, OTHER).post(`/organisations/${one}/keys`, SHOP, key),
  ];
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(new Set(made.map(({ body }) => body.key)).size).toBe(3);
});

test('a day later the same request creates another one', async () => {
  const all = `/organisations/${await create()}/keys`;
  const key = anyKey();
  const first = await caller().post(all, SHOP, key);
  const rows = gateway.databases.control.collection('creations');
  const ends_at = new Date(Date.now() - MINUTE);
  await rows.updateOne({ made: first.body.api_key.id }, { $set: { ends_at } });
  expect((await caller().post(all, SHOP, key)).status).toBe(201);
  expect((await caller().post(all, SHOP, key)).status).toBe(409);
});

test('a repeated rotation is refused with the key that replaced it, and a repeated link is another link', async () => {
  const id = await create();
  const { body } = await caller().post(`/organisations/${id}/keys`, SHOP);
  const rotation = `/organisations/${id}/keys/${String(body.api_key.id)}/rotation`;
  const rotated = await caller().post(rotation, {}, anyKey());
  const others = await Promise.all([1, 2, 3, 4].map(() => caller().post(rotation, {})));
  for (const again of others) {
    expect([again.status, again.body.errors]).toMatchObject([422, [{ pointer: '/key_id', code: 'replaced' }]]);
    expect(again.body.detail).toContain(rotated.body.api_key.last_four);
  }
  const links = `/organisations/${id}/sign-in-links`;
  const key = anyKey();
  const made = [1, 2].map(() => caller().post(links, { user: { id: '7', name: 'Ann' } }, key));
  expect(new Set((await Promise.all(made)).map((answer) => answer.body.url)).size).toBe(2);
});

/** All rows of the control database, by collection. */
async function stored(): Promise<Map<string, object[]>> {
  const db = gateway.databases.control.getClient().db(gateway.databases.control.name);
  const names = (await db.listCollections().toArray()).map(({ name }) => name);
  return new Map(
    await Promise.all(names.map(async (name) => [name, await db.collection(name).find().toArray()] as const)),
  );
}

test('the control database stores neither a key nor the Idempotency-Key', async () => {
  const key = anyKey();
  const { body } = await caller().post(`/organisations/${await create()}/keys`, SHOP, key);
  const secret = (body.key as string).split('_').at(-1)!;
  const text = JSON.stringify([...(await stored())]);
  expect(text).toContain(body.api_key.id);
  expect(text).not.toContain(secret.slice(0, 43));
  expect(text).not.toContain(key['idempotency-key']);
});

test('an erased organisation leaves nothing in the control database but the event of its erasure', async () => {
  const { control } = gateway;
  const id = await create();
  const own = (await control.organisations.find(id))!;
  await caller().post(`/organisations/${id}/keys`, SHOP, anyKey());
  await caller().post(`/organisations/${id}/webhooks`, HINT, anyKey());
  await signIn(gateway, own);
  await makeLink(gateway, own);
  /** The collection of each row that names it. */
  const left = async (): Promise<string[]> =>
    [...(await stored())].flatMap(([name, rows]) =>
      rows.filter((row) => JSON.stringify(row).includes(id)).map(() => name),
    );
  const names = ['api_keys', 'audit_events', 'creations', 'members', 'organisations', 'sessions', 'sign_in_links'];
  expect([...new Set(await left())].sort()).toEqual([...names, 'webhook_endpoints']);
  await control.erasing.begin(id);
  await control.erasing.finish(own);
  expect(await left()).toEqual(['audit_events']);
});
