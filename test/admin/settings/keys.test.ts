import { randomUUID } from 'node:crypto';
import { HOUR, MINUTE } from '../../../src/units';
import { client } from '../../support/client';
import { makeKey, makeOrganisation, northwind, store } from '../../support/factories';
import { documentOf, userArguments, userOperations } from '../../support/operations';
import { signIn, useOffice } from './people';

const { gateway, organisation, admin, member } = useOffice();

function make(changes: object = {}): Promise<{ key: string; api_key: { id: string } & Record<string, unknown> }> {
  return admin.call('create_key', { name: 'shop', scopes: ['quotes:read', 'orders:read'], ...changes }) as never;
}

async function statusOf(key: string): Promise<number> {
  return (await client(gateway, key).get('/me')).status;
}

describe('an admin', () => {
  const INVALID = { code: 'validation_failed', status: 422 };

  test('creates a key that works, has the chosen settings, and is listed without its secret', async () => {
    const expires_at = new Date(Date.now() + 48 * HOUR).toISOString();
    const { key, api_key } = await make({
      expires_at,
      allowed_ranges: ['127.0.0.1', '10.0.0.0/8'],
      mcp: 'write',
      name: '  web shop ',
    });
    const { id } = api_key;
    const scopes = ['quotes:read', 'orders:read'];
    const { body } = await client(gateway, key).get('/me');
    expect(body.key).toMatchObject({ id, name: 'web shop', scopes, expires_at });
    const allowed_ranges = ['127.0.0.1/32', '10.0.0.0/8'];
    expect(api_key).toMatchObject({ state: 'active', created_by: 'Ada', allowed_ranges, mcp: 'write' });
    expect((await make()).api_key.mcp).toBe('read');
    const { data } = await admin.call('keys');
    expect(data).toContainEqual(api_key);
    expect(JSON.stringify(data)).not.toContain(key);
  });

  test('restricts a new key to customers of the organisation, which are named if they are not there, and cannot be changed', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    await store(gateway, organisation, { customers: [{ ...northwind('customers')[0]!, id: one }] });
    const made = await make({ customer_ids: [one.toUpperCase(), one] });
    expect(made.api_key.customer_ids).toEqual([one]);
    expect((await client(gateway, made.key).get('/me')).body.key.customer_ids).toEqual([one]);
    expect((await make()).api_key.customer_ids).toBeNull();
    expect(await make({ customer_ids: [one, other] })).toMatchObject({
      ...INVALID,
      errors: [{ pointer: '/customer_ids/1', code: 'not_found' }],
    });
    expect(await make({ customer_ids: ['C-1'] })).toMatchObject({
      ...INVALID,
      errors: [{ pointer: '/customer_ids/0', code: 'format' }],
    });
    expect(await make({ customer_ids: [] })).toMatchObject({ ...INVALID, errors: [{ pointer: '/customer_ids' }] });
    expect(await make({ customer_ids: Array.from({ length: 101 }, () => one) })).toMatchObject({
      ...INVALID,
      errors: [{ pointer: '/customer_ids' }],
    });
    const rotated = await admin.call('rotate_key', { key_id: made.api_key.id, overlap_hours: 2 });
    expect(rotated.api_key.customer_ids).toEqual([one]);
    expect((await admin.call('keys')).data).toContainEqual(rotated.api_key);
  });

  test('rotates a key: both work during the overlap, then only the new one', async () => {
    const old = await make({ mcp: 'write' });
    const rotated = await admin.call('rotate_key', { key_id: old.api_key.id.toUpperCase(), overlap_hours: 2 });
    expect([await statusOf(old.key), await statusOf(rotated.key)]).toEqual([200, 200]);
    expect(rotated.api_key.mcp).toBe('write');
    expect(Math.abs(Date.parse(rotated.old.expires_at as string) - Date.now() - 2 * HOUR)).toBeLessThan(60_000);
    const refused = (pointed: { id: string }, code: string): Promise<void> =>
      expect(admin.call('rotate_key', { key_id: pointed.id })).resolves.toMatchObject({
        ...INVALID,
        errors: [{ pointer: '/key_id', code }],
      });
    await refused(old.api_key, 'replaced');
    const without = await admin.call('rotate_key', { key_id: rotated.api_key.id, overlap_hours: 0 });
    expect([await statusOf(rotated.key), await statusOf(without.key)]).toEqual([401, 200]);
    await refused(rotated.api_key, 'ended');
  });

  test('revokes a key immediately and permanently, and is recorded in the audit log with the address', async () => {
    const { key, api_key } = await make();
    const { id } = api_key;
    expect(await statusOf(key)).toBe(200);
    const revoked = await admin.call('revoke_key', { key_id: id });
    expect(revoked).toMatchObject({ id, state: 'revoked', revoked_at: expect.any(String) });
    expect(await statusOf(key)).toBe(401);
    expect(await admin.call('revoke_key', { key_id: id })).toEqual(revoked);
    const { data } = await member.call('audit_events', { key_id: id });
    const by = { actor: 'user:link:Ada', actor_name: 'Ada', from: '127.0.0.1', key_id: id };
    expect(data).toMatchObject([
      { action: 'key.revoked', ...by },
      { action: 'key.created', ...by },
    ]);
    const made = { name: 'shop', scopes: ['quotes:read', 'orders:read'], mcp: 'read' };
    expect(JSON.parse(data[1].details as string)).toMatchObject(made);
  });

  test.each([
    [{ name: '' }, '/name'],
    [{ name: ' \t ' }, '/name'],
    [{ name: 'a\nb' }, '/name'],
    [{ name: 'a\ud800' }, '/name'],
    [{ name: 'safe \u202edlo' }, '/name'],
    [{ name: 'a\u200bb' }, '/name'],
    [{ scopes: [] }, '/scopes'],
    [{ scopes: ['quotes:read', 'quotes:burn'] }, '/scopes/1'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
    [{ allowed_ranges: ['10.0.0.0/8', 'everywhere'] }, '/allowed_ranges/1'],
  ])('gets 422 for %j', async (changes, pointer) => {
    expect(await make(changes)).toMatchObject({ ...INVALID, errors: [{ pointer }] });
  });
});

describe('a member', () => {
  test('sees keys, usage and the audit log', async () => {
    const { api_key } = await make();
    expect((await member.call('keys')).data).toContainEqual(api_key);
    expect(await member.call('usage', { key_id: api_key.id, period: 'last_24h' })).toMatchObject({ requests: 0 });
    expect((await member.call('audit_events')).data.length).toBeGreaterThan(0);
  });

  test.each(userOperations.filter(({ role }) => role === 'admin'))(
    'may not $name, and nothing changes',
    async (operation) => {
      const { api_key } = await make();
      // a use by an earlier test is recorded later
      const unused = { last_used_at: undefined, last_used_from: undefined };
      const keys = async () =>
        (await gateway.control.apiKeys.list(organisation.id)).map((key) => ({ ...key, ...unused }));
      const before = await keys();
      for (const id of [api_key.id, 'no-uuid']) {
        const { body } = await member.graphql(documentOf(operation), userArguments(operation, id));
        expect(body).toMatchObject({
          data: { [operation.name]: null },
          errors: [{ extensions: { code: 'forbidden', status: 403 } }],
        });
      }
      expect(await keys()).toEqual(before);
    },
  );
});

describe('a signed-in user', () => {
  /** An answer without the headers that change from one second to the next. */
  function lasting({ status, headers, body }: Awaited<ReturnType<typeof admin.graphql>>) {
    return { status, body, headers: [...headers].filter(([name]) => !/^date$|ratelimit/.test(name)) };
  }

  test('gets the same 404 for a key of another organisation as for an unknown key', async () => {
    const elsewhere = await makeKey(gateway, await makeOrganisation(gateway));
    const nobody = '00000000-0000-4000-8000-000000000000';
    const byId = userOperations.filter((operation) => Object.values(userArguments(operation, nobody)).includes(nobody));
    expect(byId).toHaveLength(17);
    for (const operation of byId) {
      const [foreign, missing] = await Promise.all(
        [elsewhere.id, nobody].map((id) =>
          admin.graphql(documentOf(operation), userArguments(operation, id), { 'x-request-id': 'same' }),
        ),
      );
      expect(lasting(foreign!)).toEqual(lasting(missing!));
      expect(foreign!.body.errors).toMatchObject([{ extensions: { code: 'not_found', status: 404 } }]);
    }
    expect(await statusOf(elsewhere.key)).toBe(200);
    expect((await admin.call('audit_events', { key_id: elsewhere.id })).data).toEqual([]);
  });

  test('pages through keys and events without repeats, and cannot use a cursor of another organisation', async () => {
    const own = await makeOrganisation(gateway);
    const there = await signIn(gateway, own);
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1) made.push((await makeKey(gateway, own)).id);
    for (const operation of ['keys', 'audit_events'] as const) {
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const page = await there.call(operation, { limit: 2, cursor });
        seen.push(...page.data.map(({ id, key_id }: { id: string; key_id?: string }) => key_id ?? id));
        cursor = page.next_cursor as string | null;
        if (cursor !== null) {
          expect(await admin.call(operation, { limit: 2, cursor })).toMatchObject({ code: 'invalid_request' });
        }
      } while (cursor !== null);
      expect(seen.filter((id) => made.includes(id))).toEqual(made.toReversed());
    }
  });

  test('can list active, ended or all keys', async () => {
    const own = await makeOrganisation(gateway);
    const there = await signIn(gateway, own);
    const [live, revoked, expired] = [
      await makeKey(gateway, own, { expiresAt: new Date(Date.now() + HOUR) }),
      await makeKey(gateway, own),
      await makeKey(gateway, own, { expiresAt: new Date(Date.now() - MINUTE) }),
    ];
    await there.call('revoke_key', { key_id: revoked.id });
    const ids = async (state?: string): Promise<[string, string][]> =>
      (await there.call('keys', { state })).data.map((key: { id: string; state: string }) => [key.id, key.state]);
    expect(await ids('active')).toEqual([[live.id, 'active']]);
    expect(await ids('ended')).toEqual([
      [expired.id, 'expired'],
      [revoked.id, 'revoked'],
    ]);
    expect(await ids()).toHaveLength(3);
  });
});

test('keys are found by part of their name in any case, or by the visible characters of their value', async () => {
  const own = await makeOrganisation(gateway);
  const there = await signIn(gateway, own);
  const made = await Promise.all(['Web shop', 'web (old).*', 'Till'].map((name) => makeKey(gateway, own, { name })));
  const found = async (search: string, state?: string): Promise<string[]> =>
    (await there.call('keys', { search, state })).data.map(({ name }: { name: string }) => name).sort();
  expect(await found('WEB')).toEqual(['Web shop', 'web (old).*']);
  expect(await found('(OLD).*')).toEqual(['web (old).*']);
  expect(await found('.')).toEqual(['web (old).*']);
  expect(await found(made[2]!.key.slice(-4))).toEqual(['Till']);
  expect(await found(made[2]!.key.slice(0, 14))).toContain('Till');
  expect(await found(made[2]!.key.slice(20, 30))).toEqual([]);
  expect(await found('web', 'ended')).toEqual([]);
});

test('the key that another one replaced can be looked up, even after it ended, and only in its own organisation', async () => {
  const own = await makeOrganisation(gateway);
  const there = await signIn(gateway, own);
  const [first] = await Promise.all([makeKey(gateway, own), makeKey(gateway, own)]);
  const second = (await there.call('rotate_key', { key_id: first.id, overlap_hours: 0 })).api_key.id as string;
  const found = async (replaced_by: string, person = there): Promise<string[]> =>
    (await person.call('keys', { replaced_by })).data.map(({ id }: { id: string }) => id);
  expect(await found(second.toUpperCase())).toEqual([first.id]);
  expect(await found(first.id)).toEqual([]);
  expect(await found(second, await signIn(gateway, await makeOrganisation(gateway)))).toEqual([]);
  expect(await there.call('keys', { replaced_by: 'x' })).toMatchObject({ code: 'invalid_request' });
});

test('on a plan without integrations keys can be listed and revoked, but not created, rotated or changed, from the next request on', async () => {
  const own = await makeOrganisation(gateway);
  const there = await signIn(gateway, own);
  const { id } = await makeKey(gateway, own);
  await gateway.control.organisations.setPlan(own.id, 'starter');
  for (const refused of [
    await there.call('create_key', { name: 'x', scopes: ['quotes:read'] }),
    await there.call('rotate_key', { key_id: id }),
    await there.call('update_key', { key_id: id, name: 'x' }),
  ]) {
    expect(refused).toMatchObject({ code: 'plan_required', status: 403 });
  }
  expect((await there.call('keys')).data).toHaveLength(1);
  expect(await there.call('revoke_key', { key_id: id })).toMatchObject({ state: 'revoked' });
  await gateway.control.organisations.setPlan(own.id, 'enterprise');
  expect(await there.call('create_key', { name: 'x', scopes: ['quotes:read'] })).toMatchObject({
    api_key: { state: 'active' },
  });
});
