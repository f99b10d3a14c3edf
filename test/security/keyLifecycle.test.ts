import { randomUUID } from 'node:crypto';
import { parseKey, secretMatches, shownKey } from '../../src/auth/keys';
import { allScopes } from '../../src/auth/scopes';
import { client, type Json } from '../support/client';
import { subscribe } from '../support/eventStream';
import { makeKey, makeOrganisation } from '../support/factories';
import { late, served, startGateway } from '../support/gateway';
import { eventually } from '../api/http/eventually';

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;

const gateway = served({ TRUST_PROXY: '1' });
const organisation = late(() => makeOrganisation(gateway));

async function statusOf(key: string, headers: Record<string, string> = {}): Promise<number> {
  return (await client(gateway, key).get('/me', {}, headers)).status;
}

const makeWith = (input: Parameters<typeof makeKey>[2]) =>
  makeKey(gateway, organisation, { name: 'lifecycle', scopes: ['quotes:read'], ...input });

test('answers carry the expiry date of a key that expires within 7 days, and of no other', async () => {
  const soon = new Date(Date.now() + 6 * DAY);
  const ending = await client(gateway, (await makeWith({ expiresAt: soon })).key).get('/me');
  expect(ending.headers.get('x-api-key-expires-at')).toBe(soon.toISOString());
  const lasting = await client(gateway, (await makeWith({ expiresAt: new Date(Date.now() + 8 * DAY) })).key).get('/me');
  expect(lasting.headers.get('x-api-key-expires-at')).toBeNull();
});

describe('rotation', () => {
  test('both keys work during the overlap, and the new one has the name, scopes and ranges of the old one', async () => {
    const old = await makeWith({ allowedRanges: ['127.0.0.0/8'] });
    const rotated = await gateway.control.apiKeys.rotate(old.id, { overlap: DAY });
    expect([await statusOf(old.key), await statusOf(rotated!.key)]).toEqual([200, 200]);
    const { name, scopes, allowed_ranges, expires_at } = rotated!.document;
    expect({ name, scopes, allowed_ranges, expires_at }).toEqual({
      name: 'lifecycle',
      scopes: ['quotes:read'],
      allowed_ranges: ['127.0.0.0/8'],
      expires_at: null,
    });
    expect(rotated!.old.rotated_to).toBe(rotated!.document._id);
  });

  test('an overlap never extends the life of the old key', async () => {
    const end = new Date(Date.now() + HOUR);
    const old = await makeWith({ expiresAt: end });
    const rotated = await gateway.control.apiKeys.rotate(old.id, { overlap: DAY });
    expect(rotated!.old.expires_at).toEqual(end);
    const [stored] = (await gateway.control.apiKeys.list(organisation.id)).filter((key) => key._id === old.id);
    expect(stored!.expires_at).toEqual(end);
  });

  test('the new key has the same lifetime as the old one', async () => {
    const old = await makeWith({ expiresAt: new Date(Date.now() + 30 * DAY) });
    const { document } = (await gateway.control.apiKeys.rotate(old.id, { overlap: DAY }))!;
    const life = document.expires_at!.getTime() - document.created_at.getTime();
    expect(Math.abs(life - 30 * DAY)).toBeLessThan(HOUR);
  });

  test('a replaced key can be rotated again only once its replacement is revoked, and keeps its original lifetime', async () => {
    const old = await makeWith({ expiresAt: new Date(Date.now() + 90 * DAY) });
    const first = (await gateway.control.apiKeys.rotate(old.id, { overlap: DAY }))!.document;
    await expect(gateway.control.apiKeys.rotate(old.id, { overlap: DAY })).rejects.toThrow(
      `was already replaced by ${first.prefix}…${first.last_four}`,
    );
    await gateway.control.apiKeys.revoke(first._id);
    const second = (await gateway.control.apiKeys.rotate(old.id, { overlap: DAY }))!.document;
    expect(second.expires_at!.getTime()).toBeGreaterThan(Date.now() + 89 * DAY);
  });

  test('the new key is recorded as created by whoever rotated the old one', async () => {
    const old = await makeWith({});
    const by = { actor: { who: 'user:link:Ada', name: 'Ada', from: '127.0.0.1' } };
    const { document } = (await gateway.control.apiKeys.rotate(old.id, { overlap: DAY }, by))!;
    expect(document.created_by).toBe('Ada');
    const [event] = await gateway.control.audit.list({
      organisationId: organisation.id,
      action: 'key.rotated',
      limit: 1,
    });
    expect(event!.details.from).toMatchObject({ last_four: old.key.slice(-4) });
  });

  test('every key created by concurrent rotations is in the audit log', async () => {
    const old = await makeWith({});
    const rotations = await Promise.all([0, 1, 2].map(() => gateway.control.apiKeys.rotate(old.id, { overlap: 0 })));
    const made = rotations.filter((rotation) => rotation !== undefined);
    expect(made.length).toBeGreaterThan(0);
    expect(await statusOf(old.key)).toBe(401);
    const events = await gateway.control.audit.list({
      organisationId: organisation.id,
      action: 'key.rotated',
      limit: 100,
    });
    const told = events.filter((event) => event.key_id === old.id).map((event) => event.details.to);
    expect(told.sort()).toEqual(made.map(({ document }) => document._id).sort());
  });
});

describe('address ranges', () => {
  test.each([
    ['203.0.113.7', 200],
    ['"[2001:db8:1::5]:443"', 200],
    ['[2001:db8:2::5]:443', 401],
  ])('a request from %s gets %i', async (address, status) => {
    const { key } = await makeWith({ allowedRanges: ['203.0.113.0/24', '2001:db8:1::/48'] });
    expect(await statusOf(key, { 'x-forwarded-for': address })).toBe(status);
  });

  test('a key that allows the proxy itself is refused where the address of the caller cannot be read, which is logged once, and kept for doctor', async () => {
    await using own = await startGateway({ TRUST_PROXY: '1' });
    const since = new Date();
    const { id, key } = await makeWith({ allowedRanges: ['127.0.0.0/8', '::1/128'] });
    for (const header of ['_hidden', 'unknown', '203.0.113.7:x']) {
      const { status } = await client(own, key).get('/me', {}, { 'x-forwarded-for': header });
      expect([header, status]).toEqual([header, 401]);
    }
    expect((await client(own, key).get('/me')).status).toBe(200);
    const warnings = own.logs.filter(({ forwarded_for }) => forwarded_for !== undefined);
    expect(warnings).toMatchObject([{ level: 40, forwarded_for: '_hidden', trust_proxy: 1 }]);
    const { requests } = own.control;
    const logged = () => requests.list({ organisationId: organisation.id, key_id: id }, 10);
    const [last, refused] = await eventually(async () => ((await logged()).length === 4 ? logged() : undefined));
    expect([last, refused]).toMatchObject([{ status: 200 }, { status: 401, address: 'unknown' }]);
    expect(await requests.lastFromUnknown(since)).toEqual(refused!.at);
    expect(await requests.lastFromUnknown(refused!.at)).toBeUndefined();
  });

  test('a stream from an address that is withdrawn ends, one from another goes on', async () => {
    const { id, key } = await makeWith({
      scopes: allScopes(),
      allowedRanges: ['203.0.113.0/24', '198.51.100.0/24'],
    });
    const from = (address: string) =>
      subscribe({
        url: gateway.url,
        key,
        headers: { 'x-forwarded-for': address },
        variables: { types: ['order.created'] },
      });
    // the one that stays asks first, so that its reading of the key is not taken for the other's
    const [stays, ends] = [await from('203.0.113.7'), await from('198.51.100.7')];
    try {
      await gateway.control.apiKeys.update(id, { allowed_ranges: ['203.0.113.0/24'] });
      expect(await ends.error()).toMatchObject({ code: 'unauthenticated' });
      expect(stays.isOver()).toBe(false);
    } finally {
      stays.leave();
      ends.leave();
    }
  });
});

test('the last use is stored with its address', async () => {
  const { id, key } = await makeWith({});
  await statusOf(key, { 'x-forwarded-for': '198.51.100.23' });
  const used = await eventually(async () => (await gateway.control.apiKeys.find(id))?.last_used_from);
  expect(used).toBe('198.51.100.23');
});

test('the audit log records who changed an organisation and its keys, when and from where, newest first', async () => {
  const own = await makeOrganisation(gateway, { plan: 'starter' });
  await gateway.control.organisations.setPlan(own.id, 'enterprise');
  const key = await makeKey(gateway, own);
  const rotated = await gateway.control.apiKeys.rotate(key.id, { overlap: 0 });
  await gateway.control.apiKeys.revoke(rotated!.document._id);
  await gateway.control.apiKeys.revoke(rotated!.document._id);
  const events = await gateway.control.audit.list({ organisationId: own.id, limit: 100 });
  expect(events.map(({ action, key_id }) => [action, key_id])).toEqual([
    ['key.revoked', rotated!.document._id],
    ['key.rotated', key.id],
    ['key.created', key.id],
    ['organisation.plan_changed', null],
    ['organisation.created', null],
  ]);
  expect(events[3]!.details).toEqual({ from: 'starter', to: 'enterprise' });
  for (const { actor, at } of events) {
    expect(actor.who).toMatch(/^cli:/);
    expect(actor.from).not.toBe('');
    expect(Date.now() - at.getTime()).toBeLessThan(HOUR);
  }
  expect(JSON.stringify(events)).not.toContain(key.key.slice(-20));
});

describe('a key that is restricted to customers', () => {
  const customerIds = [randomUUID(), randomUUID()].sort();
  const rows = () => gateway.databases.control.collection<{ _id: string }>('api_keys');
  const rowOf = (id: string) => rows().findOne({ _id: id }) as Promise<Json>;
  const set = (id: string, change: object) => rows().updateOne({ _id: id }, change);

  test('keeps its customers and ranges through rotation and changes, and its audit events name them', async () => {
    const made = await makeWith({ customerIds, allowedRanges: ['127.0.0.0/8'] });
    const me = await client(gateway, made.key).get('/me');
    expect(me.body.key.customer_ids).toEqual(customerIds);
    expect((await client(gateway, (await makeWith({})).key).get('/me')).body.key.customer_ids).toBeNull();
    await gateway.control.apiKeys.update(made.id, { allowed_ranges: ['127.0.0.1/32'], name: 'changed' });
    const { key, document } = (await gateway.control.apiKeys.rotate(made.id, { overlap: DAY }))!;
    expect((await client(gateway, key).get('/me')).body.key).toMatchObject({
      customer_ids: customerIds,
      name: 'changed',
    });
    expect(shownKey(document, 'active')).toMatchObject({ customer_ids: customerIds, allowed_ranges: ['127.0.0.1/32'] });
    expect([await statusOf(key), await statusOf(key, { 'x-forwarded-for': '203.0.113.7' })]).toEqual([200, 401]);
    const page = await gateway.control.audit.page({
      organisationId: organisation.id,
      isOperator: true,
      key_id: made.id,
    });
    expect(page.data.map(({ details }) => (details as Json).customer_ids).filter(Boolean)).toEqual([
      customerIds,
      customerIds,
    ]);
  });

  test('is refused without its customers or with others, however the row lost them', async () => {
    const made = await makeWith({ customerIds });
    expect(await statusOf(made.key)).toBe(200);
    const { restricted } = await rowOf(made.id);
    for (const change of [
      { $unset: { restricted: '' }, $set: { allowed_ranges: [] } },
      { $set: { restricted: { ...restricted, customer_ids: [...customerIds, randomUUID()] } } },
      { $set: { restricted: { ...restricted, customer_ids: customerIds.slice(1) } } },
    ]) {
      await set(made.id, change);
      expect(await statusOf(made.key)).toBe(401);
    }
    await set(made.id, { $set: { restricted } });
    expect(await statusOf(made.key)).toBe(200);
  });

  test('has nothing that an earlier version accepts: its secret has another hash, and what a rotation copies works nowhere', async () => {
    const made = await makeWith({ customerIds });
    const row = await rowOf(made.id);
    const { secret } = parseKey(made.key, 'svc_live_')!;
    // what an earlier version reads of the row
    const { restricted: _restricted, ...known } = row;
    expect(secretMatches(secret, known as never, '')).toBe(false);
    expect(secretMatches(secret, row as never, '')).toBe(true);
    const copied = await makeWith({ scopes: known.scopes, allowedRanges: known.allowed_ranges });
    for (const address of ['203.0.113.7', '127.0.0.1', '::1', '0.0.0.0'])
      expect(await statusOf(copied.key, { 'x-forwarded-for': address })).toBe(401);
  });
});
