import { randomBytes } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiKey, parseKey } from '../../src/auth/keys';
import type { Organisation } from '../../src/auth/principal';
import { WrongPepperError } from '../../src/organisations/pepper';
import { eventually } from '../api/http/eventually';
import { client } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { late, servedBy, startGateway, type TestGateway } from '../support/gateway';
import { checkOf, commandLine, makeKey as createKey, makeOrganisation as createOrganisation } from './commandLine';

/* A pepper is replaced while keys are in use, or by mistake. */

const WRONG = 'KEY_PEPPER is not the one that the keys in this database are hashed with';

const CONTROL_DATABASE = `rotation_${randomBytes(6).toString('hex')}`;
const OLD = { KEY_PEPPER: 'old' };
const BOTH = { KEY_PEPPER: 'new', KEY_PEPPER_PREVIOUS: 'old' };
const SWAPPED = { KEY_PEPPER: 'old', KEY_PEPPER_PREVIOUS: 'new' };
const NEW = { KEY_PEPPER: 'new' };

interface Key {
  readonly id: string;
  readonly key: string;
}

/** Starts a gateway as serve does. */
async function start(peppers: Record<string, string>): Promise<TestGateway> {
  const gateway = await startGateway({ CONTROL_DATABASE, ...peppers });
  await gateway.control.pepper.adopt();
  return gateway;
}

const initial = servedBy(() => start(OLD));
const organisation: Organisation = late(() => makeOrganisation(initial));
const keys = late(async () => {
  const make = () => makeKey(initial, organisation);
  for (let made = 0; made < 4; made += 1) await make();
  return { used: await make(), unused: await make(), revoked: await make(), shared: await make() };
});
// knows both already, as all gateways must before the first one uses the new pepper
const before = servedBy(() => start(SWAPPED));
const after = servedBy(() => start(BOTH));
const other = servedBy(() => start(BOTH));

async function statusOf(gateway: TestGateway, { key }: Key): Promise<number> {
  return (await client(gateway, key).get('/me')).status;
}

async function stored({ id }: Key): Promise<ApiKey> {
  return (await after.control.apiKeys.find(id))!;
}

const pepperCheck = (peppers: Record<string, string>): Promise<unknown> =>
  checkOf(commandLine({ CONTROL_DATABASE, ...peppers }), 'pepper');

/** A key that was never used, as doctor names it. */
const named = ({ id }: Key): object => ({
  kind: 'key',
  id,
  organisation_id: organisation.id,
  prefix: expect.stringMatching(/^svc_live_/) as unknown,
  name: expect.any(String) as unknown,
  last_four: expect.any(String) as unknown,
  last_used_at: null,
});

test('a key hashed with the previous pepper works, and is rehashed with the new one when used', async () => {
  const first = await stored(keys.used);
  expect(await pepperCheck(BOTH)).toMatchObject({
    ok: true,
    detail: expect.stringContaining(
      '8 active keys are hashed with KEY_PEPPER_PREVIOUS until they are next used',
    ) as unknown,
  });
  expect(await statusOf(after, keys.used)).toBe(200);
  const second = await eventually(async () => {
    const now = await stored(keys.used);
    return now.hash === first.hash ? undefined : now;
  });
  expect(second).toMatchObject({ pepper: 1, revoked_at: null });
  expect(second.salt).not.toBe(first.salt);
  expect(await statusOf(after, keys.used)).toBe(200);
  expect(await pepperCheck(BOTH)).toMatchObject({ detail: expect.stringContaining('7 active keys are') as unknown });
  // an unused key stays as it is
  expect(await stored(keys.unused)).not.toHaveProperty('pepper');
});

test('a gateway with the peppers swapped accepts it too, and does not rehash it back', async () => {
  const { hash } = await stored(keys.used);
  expect(await statusOf(before, keys.used)).toBe(200);
  await before.control.apiKeys.settle();
  expect((await stored(keys.used)).hash).toBe(hash);
});

test('another secret for the same key is rejected under both peppers', async () => {
  const forged = `${keys.used.key.slice(0, 31)}${keys.unused.key.slice(31)}`;
  expect(await statusOf(after, { id: keys.used.id, key: forged })).toBe(401);
});

test('two gateways that see a key at once write one hash, and it works on both', async () => {
  await Promise.all([statusOf(after, keys.shared), statusOf(other, keys.shared)]);
  await Promise.all([after.control.apiKeys.settle(), other.control.apiKeys.settle()]);
  expect(await stored(keys.shared)).toMatchObject({ pepper: 1 });
  expect(await Promise.all([statusOf(after, keys.shared), statusOf(other, keys.shared)])).toEqual([200, 200]);
});

test('a key revoked between its use and the rehash stays revoked and is not rehashed', async () => {
  const read = await stored(keys.revoked);
  await after.control.apiKeys.revoke(keys.revoked.id);
  after.control.apiKeys.rehash(read, parseKey(keys.revoked.key, 'svc_live_')!.secret);
  await after.control.apiKeys.settle();
  expect(await stored(keys.revoked)).toMatchObject({ hash: read.hash, salt: read.salt, revoked_at: expect.any(Date) });
  expect(await stored(keys.revoked)).not.toHaveProperty('pepper');
});

test('new keys are hashed with the new pepper', async () => {
  const made = await makeKey(after, organisation);
  expect(await stored(made)).toMatchObject({ pepper: 1 });
});

test('from then on the old pepper alone is rejected', async () => {
  await using alone = await startGateway({ CONTROL_DATABASE, ...OLD });
  await expect(alone.control.pepper.adopt()).rejects.toThrow(WrongPepperError);
});

test('without KEY_PEPPER_PREVIOUS the remaining keys do not work, and doctor says how many and what to do', async () => {
  await using alone = await start(NEW);
  expect([await statusOf(alone, keys.used), await statusOf(alone, keys.unused)]).toEqual([200, 401]);
  expect(await pepperCheck(NEW)).toMatchObject({
    ok: false,
    detail: '5 active keys are hashed with the former pepper and do not work',
    fix: expect.stringContaining('set KEY_PEPPER_PREVIOUS') as unknown,
    objects: { count: 5, first: expect.arrayContaining([named(keys.unused)]) as unknown },
  });
});

test('once every key has been used, doctor says that KEY_PEPPER_PREVIOUS can be removed', async () => {
  for (const { _id: id, pepper } of await after.control.apiKeys.list(organisation.id)) {
    if (pepper === undefined && id !== keys.unused.id) await after.control.apiKeys.revoke(id);
  }
  await statusOf(after, keys.unused);
  await after.control.apiKeys.settle();
  expect(await pepperCheck(BOTH)).toMatchObject({ ok: true, detail: expect.stringContaining('unset it') as unknown });
});

test('keys of before a replacement still work after a rollback and a second attempt, in doctor and in an export', async () => {
  const first = commandLine({ KEY_PEPPER: 'old' });
  const { id: org } = await createOrganisation(first);
  await createKey(first, org);
  const withPeppers = (peppers: Record<string, string>) => commandLine({ ...first.environment, ...peppers });
  for (const peppers of [BOTH, SWAPPED, BOTH]) await createKey(withPeppers(peppers), org);
  const still = (count: string): object => ({
    ok: true,
    detail: expect.stringContaining(`${count} hashed with KEY_PEPPER_PREVIOUS until`) as unknown,
  });
  expect(await checkOf(withPeppers(BOTH), 'pepper')).toMatchObject(still('2 active keys are'));
  expect(await checkOf(withPeppers(NEW), 'pepper')).toMatchObject({
    detail: '2 active keys are hashed with the former pepper and do not work',
  });
  const folder = join(await mkdtemp(join(tmpdir(), 'scopegate-')), 'export');
  await withPeppers(BOTH).json('export', '--org', org, folder, '--keys');
  // an installation that replaced the pepper only once
  const elsewhere = commandLine({ ...OLD, CONTROL_DATABASE: `${CONTROL_DATABASE}_2` });
  const { id: there } = await createOrganisation(elsewhere);
  await createKey(elsewhere, there);
  const replaced = commandLine({ ...elsewhere.environment, ...BOTH });
  const imported = await replaced.json<{ files: object }>('import', '--org', there, folder, '--keys');
  expect(imported.files).toMatchObject({ keys: { created: 4, failed: 0 } });
  expect(await checkOf(replaced, 'pepper')).toMatchObject(still('3 active keys are'));
  const bare = commandLine({ KEY_PEPPER: '', CONTROL_DATABASE: `${CONTROL_DATABASE}_3` });
  expect(await checkOf(bare, 'pepper')).toMatchObject({ ok: true, detail: 'keys are hashed without KEY_PEPPER' });
});

test('a pepper that does not match the keys is rejected by key create, key rotate and serve until no key is active', async () => {
  const right = commandLine({ KEY_PEPPER: 'right' });
  const wrong = commandLine({ ...right.environment, KEY_PEPPER: 'wrong', PORT: '0' });
  const { id: org } = await createOrganisation(right);
  const { id } = await createKey(right, org);
  const create = ['key', 'create', '--org', org, '--name', 'key', '--scopes', 'all'];
  for (const args of [create, ['key', 'rotate', id], ['serve']])
    expect(await wrong.failed(1, ...args)).toContain(WRONG);
  await wrong.json('key', 'revoke', id);
  await createKey(wrong, org);
  expect(await right.failed(1, ...create)).toContain(WRONG);
});
