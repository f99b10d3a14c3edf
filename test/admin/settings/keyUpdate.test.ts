import { HOUR, MINUTE } from '../../../src/units';
import { client, type Json } from '../../support/client';
import { makeKey, makeOrganisation } from '../../support/factories';
import { served } from '../../support/gateway';
import { type Person, signIn, useOffice } from './people';

const inHours = (hours: number): string => new Date(Date.now() + hours * HOUR).toISOString();

const { gateway, organisation, admin, member } = useOffice();
const second = served();

const EXPIRES = inHours(48);

async function make(): Promise<{ id: string; key: string }> {
  const made = await admin.call('create_key', {
    name: 'shop',
    scopes: ['quotes:read'],
    expires_at: EXPIRES,
    allowed_ranges: ['127.0.0.0/8'],
    mcp: 'read',
  });
  return { id: made.api_key.id, key: made.key };
}

/** The audit events about changes of a key, newest first. */
async function changesOf(id: string, of: Person = admin): Promise<Json[]> {
  const { data } = await of.call('audit_events', { action: 'key.updated', key_id: id, limit: 100 });
  return data.map(({ details }: { details: string }) => JSON.parse(details));
}

describe('an admin', () => {
  test('changes what is given, and the audit log has the old and the new values', async () => {
    const { id } = await make();
    const expires_at = inHours(100);
    const changes = {
      name: '  till ',
      expires_at,
      allowed_ranges: ['10.0.0.1', '::1/128'],
      mcp: 'off',
      scopes: ['orders:read', 'quotes:read', 'orders:read'],
    };
    const updated = await admin.call('update_key', { key_id: id.toUpperCase(), ...changes });
    const to = {
      name: 'till',
      expires_at,
      allowed_ranges: ['10.0.0.1/32', '::1/128'],
      mcp: 'off',
      scopes: ['quotes:read', 'orders:read'],
    };
    expect(updated).toMatchObject({ id, ...to, state: 'active' });
    expect(await admin.call('key', { key_id: id })).toEqual(updated);
    const from = {
      name: 'shop',
      expires_at: EXPIRES,
      allowed_ranges: ['127.0.0.0/8'],
      mcp: 'read',
      scopes: ['quotes:read'],
    };
    expect(await changesOf(id, member)).toEqual([
      { name: 'shop', prefix: updated.prefix, last_four: updated.last_four, from, to },
    ]);
    const [event] = (await member.call('audit_events', { action: 'key.updated', key_id: id })).data;
    expect(event).toMatchObject({ actor: 'user:link:Ada', actor_name: 'Ada', from: '127.0.0.1' });
  });

  test.each([
    [{ name: 'till' }, { name: 'till' }],
    [{ mcp: 'write' }, { mcp: 'write' }],
    [{ scopes: ['orders:read'] }, { scopes: ['orders:read'] }],
    [{ allowed_ranges: [] }, { allowed_ranges: [] }],
    // an explicit null is not an omission
    [{ expires_at: null }, { expires_at: null }],
  ])('keeps what is omitted: %j', async (changes, changed) => {
    const { id } = await make();
    const before = await admin.call('key', { key_id: id });
    expect(await admin.call('update_key', { key_id: id, ...changes })).toEqual({ ...before, ...changed });
    expect((await changesOf(id)).map(({ to }) => to)).toEqual([changed]);
  });

  test('cannot clear what every key has', async () => {
    const { id } = await make();
    const cleared = { name: null, scopes: null, allowed_ranges: null, mcp: null };
    expect(await admin.call('update_key', { key_id: id, ...cleared })).toMatchObject({
      code: 'validation_failed',
      errors: Object.keys(cleared).map((name) => ({ pointer: `/${name}` })),
    });
    expect(await changesOf(id)).toEqual([]);
  });

  test('writes no event if nothing changes', async () => {
    const { id } = await make();
    const before = await admin.call('key', { key_id: id });
    const { name, scopes, expires_at, allowed_ranges, mcp } = before;
    const repeated = [...scopes, ...scopes];
    for (const same of [{}, { name: ` ${String(name)}` }, { expires_at, allowed_ranges, mcp }, { scopes: repeated }]) {
      expect(await admin.call('update_key', { key_id: id, ...same })).toEqual(before);
    }
    expect(await changesOf(id)).toEqual([]);
  });

  test.each([
    [{ expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
    [{ allowed_ranges: ['10.0.0.1/8'] }, '/allowed_ranges/0'],
    [{ name: ' ', allowed_ranges: ['everywhere'] }, '/name', '/allowed_ranges/0'],
    [{ scopes: [] }, '/scopes'],
    [{ name: ' ', scopes: ['quotes:read', 'quotes:burn'] }, '/name', '/scopes/1'],
  ])('gets 422 for %j, and nothing changes', async (changes: object, ...pointers: string[]) => {
    const { id } = await make();
    const before = await admin.call('key', { key_id: id });
    expect(await admin.call('update_key', { key_id: id, mcp: 'off', ...changes })).toMatchObject({
      code: 'validation_failed',
      status: 422,
      errors: pointers.map((pointer) => ({ pointer })),
    });
    expect(await admin.call('key', { key_id: id })).toEqual(before);
  });

  test('cannot change a key that has ended', async () => {
    const revoked = await make();
    await admin.call('revoke_key', { key_id: revoked.id });
    const expired = await makeKey(gateway, organisation, { expiresAt: new Date(Date.now() - MINUTE) });
    for (const { id } of [revoked, expired]) {
      expect(await admin.call('update_key', { key_id: id, expires_at: inHours(1) })).toMatchObject({
        code: 'validation_failed',
        errors: [{ pointer: '/key_id', code: 'ended' }],
      });
      expect(await changesOf(id)).toEqual([]);
    }
    expect((await client(gateway, revoked.key).get('/me')).status).toBe(401);
  });

  test('can change the scopes of a replaced key and of its replacement, each by itself, and a rotation copies those of its key', async () => {
    const scopesOf = async (id: string): Promise<string[]> => (await admin.call('key', { key_id: id })).scopes;
    const { id } = await make();
    await admin.call('update_key', { key_id: id, scopes: ['orders:read', 'products:read'] });
    const { api_key: next } = await admin.call('rotate_key', { key_id: id });
    await admin.call('update_key', { key_id: id, scopes: ['orders:read'] });
    await admin.call('update_key', { key_id: next.id, scopes: ['products:read', 'products:write'] });
    expect([await scopesOf(id), await scopesOf(next.id as string)]).toEqual([
      ['orders:read'],
      ['products:read', 'products:write'],
    ]);
    // not those of the replacement, which was lost
    await admin.call('revoke_key', { key_id: next.id });
    const { api_key: another } = await admin.call('rotate_key', { key_id: id });
    expect(another.scopes).toEqual(['orders:read']);
  });

  test('can change a replaced key, but not its expiry', async () => {
    const { id } = await make();
    const { old } = await admin.call('rotate_key', { key_id: id, overlap_hours: 2 });
    for (const expires_at of [inHours(1), null]) {
      expect(await admin.call('update_key', { key_id: id, name: 'x', expires_at })).toMatchObject({
        code: 'validation_failed',
        errors: [{ pointer: '/expires_at', code: 'replaced' }],
      });
    }
    // as sent by a form that has all members
    const updated = await admin.call('update_key', { key_id: id, name: 'old', expires_at: old.expires_at });
    expect(updated).toMatchObject({ name: 'old', expires_at: old.expires_at });
    expect((await changesOf(id)).map(({ to }) => to)).toEqual([{ name: 'old' }]);
  });
});

const QUOTES = { name: 'quotes', arguments: {} };

test('a change applies from the next request of the key on every gateway', async () => {
  const { id, key } = await make();
  const statuses = async (): Promise<number[]> =>
    Promise.all([gateway, second].map(async (one) => (await client(one, key).get('/me')).status));
  const calls = async (): Promise<boolean[]> =>
    Promise.all(
      [gateway, second].map(async (one) => {
        const { status, body } = await client(one, key).mcp('tools/call', QUOTES);
        return status === 200 && body.result?.isError !== true;
      }),
    );
  expect([await statuses(), await calls()]).toEqual([
    [200, 200],
    [true, true],
  ]);
  await admin.call('update_key', { key_id: id, mcp: 'off' });
  expect(await calls()).toEqual([false, false]);
  await admin.call('update_key', { key_id: id, allowed_ranges: ['10.0.0.0/8'] });
  expect(await statuses()).toEqual([401, 401]);
  await admin.call('update_key', { key_id: id, allowed_ranges: [], mcp: 'read', name: 'again' });
  expect([await statuses(), await calls()]).toEqual([
    [200, 200],
    [true, true],
  ]);
  expect((await client(second, key).get('/me')).body.key.name).toBe('again');
});

test('a scope that is added or removed counts from the next request on, over every API of every gateway', async () => {
  const { id, key } = await make();
  const [own, other] = [
    { path: '/quotes', field: 'quotes' },
    { path: '/orders', field: 'orders' },
  ];
  // a read by id begins before its key is read
  const of = async ({ path, field }: typeof own): Promise<unknown[]> => {
    const answers = [gateway, second].map(async (one) => {
      const caller = client(one, key);
      const { body } = await caller.graphql(`{ ${field} { has_more } }`);
      const tool = await caller.mcp('tools/call', { name: field, arguments: {} });
      return [
        (await caller.get(path)).status,
        (await caller.get(`${path}/${id}`)).status,
        body.errors?.[0].extensions.code,
        tool.body.result.isError,
      ];
    });
    return (await Promise.all(answers)).flat();
  };
  const each = (...answers: unknown[]): unknown[] => [...answers, ...answers];
  const [allowed, refused] = [each(200, 404, undefined, false), each(403, 403, 'insufficient_scope', true)];
  expect([await of(own), await of(other)]).toEqual([allowed, refused]);
  await admin.call('update_key', { key_id: id, scopes: ['quotes:read', 'orders:read'] });
  expect([await of(own), await of(other)]).toEqual([allowed, allowed]);
  await admin.call('update_key', { key_id: id, scopes: ['orders:read'] });
  expect([await of(own), await of(other)]).toEqual([refused, allowed]);
});

test('concurrent changes are all applied, one after another, each with its own event', async () => {
  const { id } = await make();
  const names = Array.from({ length: 6 }, (_, at) => `name ${String(at)}`);
  const answers = await Promise.all([
    ...names.map((name) => admin.call('update_key', { key_id: id, name })),
    admin.call('update_key', { key_id: id, mcp: 'off' }),
    admin.call('update_key', { key_id: id, expires_at: null }),
  ]);
  for (const answer of answers) expect(answer).toMatchObject({ id });
  const after = await admin.call('key', { key_id: id });
  expect(after).toMatchObject({ mcp: 'off', expires_at: null });
  const changes = await changesOf(id);
  expect(changes).toHaveLength(8);
  // each started from the state that another had left
  const byBefore = new Map(changes.map(({ from, to }) => [from.name, to.name]));
  const chain: string[] = ['shop'];
  while (byBefore.has(chain.at(-1))) chain.push(byBefore.get(chain.at(-1)));
  expect(chain.slice(1).sort()).toEqual(names);
  expect(chain.at(-1)).toBe(after.name);
});

test('a concurrent change and revocation leave the key revoked', async () => {
  const { id, key } = await make();
  await Promise.all([
    admin.call('revoke_key', { key_id: id }),
    admin.call('update_key', { key_id: id, expires_at: null }),
    admin.call('update_key', { key_id: id, name: 'late' }),
  ]);
  expect(await admin.call('key', { key_id: id })).toMatchObject({ state: 'revoked' });
  expect((await client(gateway, key).get('/me')).status).toBe(401);
});

test('keys that were not used for a time can be listed, without those that are younger', async () => {
  const own = await makeOrganisation(gateway);
  const there = await signIn(gateway, own);
  const rows = gateway.databases.control.collection<{ _id: string }>('api_keys');
  const day = (ago: number): Date => new Date(Date.now() - ago * 24 * 3_600_000);
  for (const [name, created, used] of [
    ['never', 100, null],
    ['long ago', 200, 95],
    ['lately', 200, 5],
    ['young', 5, null],
  ] as const) {
    const { id } = await makeKey(gateway, own, { name });
    const at = used === null ? null : day(used);
    await rows.updateOne({ _id: id }, { $set: { created_at: day(created), last_used_at: at } });
  }
  const unused = { state: 'active', unused_since: day(90).toISOString(), limit: 1 };
  const first = await there.call('keys', unused);
  const second = await there.call('keys', { ...unused, cursor: first.next_cursor });
  expect([...first.data, ...second.data].map(({ name }: { name: string }) => name)).toEqual(['never', 'long ago']);
  expect(second.has_more).toBe(false);
});

test('keys that expire before a given time can be listed, without replaced ones', async () => {
  const own = await makeOrganisation(gateway);
  const there = await signIn(gateway, own);
  const ends = async (name: string, hours?: number): Promise<string> =>
    (await makeKey(gateway, own, { name, ...(hours !== undefined && { expiresAt: new Date(inHours(hours)) }) })).id;
  await ends('gone', -1);
  await ends('soon', 5);
  await ends('later', 50);
  await ends('never');
  await there.call('rotate_key', { key_id: await ends('rotated', 500), overlap_hours: 1 });
  const found = async (args: object): Promise<string[]> =>
    (await there.call('keys', args)).data.map(({ name }: { name: string }) => name);
  expect(await found({ state: 'active', expires_before: inHours(10) })).toEqual(['soon']);
  expect(await found({ expires_before: inHours(100) })).toEqual(['later', 'soon', 'gone']);
  // its second successor works after the first has ended, until that is revoked too
  const lost = await ends('lost', 500);
  const rotate = async (key_id: string): Promise<string> =>
    (await there.call('rotate_key', { key_id, overlap_hours: key_id === lost ? 2 : 0 })).api_key.id;
  const second = await rotate(await rotate(lost));
  expect(await found({ state: 'active', expires_before: inHours(10) })).toEqual(['soon']);
  await there.call('revoke_key', { key_id: second });
  expect(await found({ state: 'active', expires_before: inHours(10) })).toEqual(['lost', 'soon']);
  const first = await there.call('keys', { expires_before: inHours(100), limit: 1 });
  expect(await there.call('keys', { limit: 1, cursor: first.next_cursor })).toMatchObject({
    code: 'invalid_request',
  });
});
