import { randomUUID } from 'node:crypto';
import type { ApiKey } from '../../../src/auth/keys';
import { databaseOf } from '../../../src/mongo/native';
import { organisationUsageId } from '../../../src/organisations/usageUnits';
import { toKeyRecord, keyRecord } from '../../../src/organisations/keyRecords';
import { DAY, HOUR } from '../../../src/units';
import { client } from '../../support/client';
import { makeKey, makeOrganisation } from '../../support/factories';
import { served } from '../../support/gateway';
import { signIn } from './people';

/* Keys that have ended cost nothing later: they are not rewritten with their organisation, and are deleted. */

const gateway = served();
const rows = () => databaseOf(gateway.databases.control).collection<ApiKey>('api_keys');
const countOf = (organisationId: string) => rows().countDocuments({ 'organisation.id': organisationId });

/** Adds copies of a key that ended one second after another, the last of them now. */
async function addEnded(keyId: string, count: number, member: 'revoked_at' | 'expires_at', ago = 0): Promise<string[]> {
  const key = (await rows().findOne({ _id: keyId }))!;
  const now = Date.now() - ago;
  const copies = Array.from({ length: count }, (_, at) => {
    return { ...key, _id: randomUUID(), [member]: new Date(now - (count - 1 - at) * 1000) };
  });
  await rows().insertMany(copies);
  return copies.map(({ _id }) => _id);
}

test('a change of an organisation is written to its active keys and those that expired in the last hour, and to no others', async () => {
  const organisation = await makeOrganisation(gateway);
  const { id, key } = await makeKey(gateway, organisation);
  await addEnded(id, 300, 'revoked_at');
  await addEnded(id, 300, 'expires_at', HOUR + 60_000);
  const recent = await addEnded(id, 3, 'expires_at', 60_000);
  await gateway.control.organisations.suspend(organisation.id);
  const suspended = await rows()
    .find({ 'organisation.id': organisation.id, 'organisation.state': 'suspended' })
    .toArray();
  expect(suspended.map(({ _id }) => _id).sort()).toEqual([id, ...recent].sort());
  const caller = client(gateway, key);
  expect(await caller.get('/me')).toMatchObject({ status: 403, body: { code: 'organisation_suspended' } });
  await gateway.control.organisations.resume(organisation.id);
  expect((await caller.get('/me')).status).toBe(200);
});

test('the database deletes a key 90 days after it was revoked or expired', async () => {
  const indexes = await rows().indexes();
  const expiring = indexes.filter(({ expireAfterSeconds }) => expireAfterSeconds !== undefined);
  expect(expiring.map(({ key, expireAfterSeconds }) => [Object.keys(key), expireAfterSeconds]).sort()).toEqual([
    [['expires_at'], (90 * DAY) / 1000],
    [['revoked_at'], (90 * DAY) / 1000],
  ]);
});

test.each(['revoked_at', 'expires_at'] as const)(
  'beyond 1,000 keys with a %s those that ended before are deleted with their usage, 100 with each key that is made or ended',
  async (member) => {
    const organisation = await makeOrganisation(gateway);
    const { id } = await makeKey(gateway, organisation);
    const ended = await addEnded(id, 1150, member, 60_000);
    const counts = { requests: 1, errors: 0, rate_limited: 0, at: new Date() };
    await gateway.control.usage.add(
      [ended[0]!, ended[1149]!, organisationUsageId(organisation.id)].map((keyId) => ({ keyId, ...counts })),
    );
    const admin = await signIn(gateway, organisation);
    const { api_key } = await admin.call('create_key', { name: 'k', scopes: ['products:read'] });
    expect(await countOf(organisation.id)).toBe(1052);
    // the revoked one counts among the revoked
    expect(await admin.call('revoke_key', { key_id: api_key.id })).toMatchObject({ id: api_key.id, state: 'revoked' });
    await makeKey(gateway, organisation);
    const left = await rows()
      .find({ _id: { $in: ended } }, { projection: { _id: 1 } })
      .toArray();
    const revoked = Number(member === 'revoked_at');
    expect(left.map(({ _id }) => _id).sort()).toEqual(ended.slice(150 + revoked).sort());
    const used = async (keyId: string) =>
      (await gateway.control.usage.read(keyId, 'last_24h')).operations.length +
      (await gateway.control.usage.read(keyId, 'last_24h')).buckets.at(-1)!.requests;
    expect([await used(ended[0]!), await used(ended[1149]!)]).toEqual([0, 1]);
    // their requests still count in those of the organisation
    expect(await used(organisationUsageId(organisation.id))).toBe(1);
  },
);

test('a key that was deleted after its end is refused, is gone for its admins, and an old export does not bring it back', async () => {
  const organisation = await makeOrganisation(gateway);
  const { id, key } = await makeKey(gateway, organisation, { name: 'old' });
  const untouched = await makeKey(gateway, organisation);
  const [exported, other] = [id, untouched.id].map(async (one) => {
    const record = JSON.stringify(toKeyRecord((await gateway.control.apiKeys.find(one))!));
    return keyRecord.parse(JSON.parse(record));
  });
  const admin = await signIn(gateway, organisation);
  const rotated = await admin.call('rotate_key', { key_id: id, overlap_hours: 24 });
  await admin.call('revoke_key', { key_id: id });
  const records = [await exported!, await other!];
  await rows().deleteOne({ _id: id });
  expect((await client(gateway, key).get('/me')).status).toBe(401);
  expect(await admin.call('key', { key_id: id })).toMatchObject({ code: 'not_found' });
  expect(await admin.call('keys', { replaced_by: rotated.api_key.id })).toMatchObject({ data: [] });
  const { data } = await admin.call('audit_events', { key_id: id });
  expect(data.map(({ action }: { action: string }) => action)).toEqual(['key.revoked', 'key.rotated', 'key.created']);
  expect(await gateway.control.importKeys(organisation.id, records)).toEqual(['unchanged', 'unchanged']);
  expect((await client(gateway, key).get('/me')).status).toBe(401);
});

test('a key whose replacement was deleted can be rotated again', async () => {
  const organisation = await makeOrganisation(gateway);
  const { id } = await makeKey(gateway, organisation);
  const admin = await signIn(gateway, organisation);
  const first = await admin.call('rotate_key', { key_id: id, overlap_hours: 24 });
  await admin.call('revoke_key', { key_id: first.api_key.id });
  await rows().deleteOne({ _id: first.api_key.id });
  const again = await admin.call('rotate_key', { key_id: id, overlap_hours: 24 });
  expect(again).toMatchObject({ key: expect.any(String), old: { rotated_to: again.api_key.id } });
});
