import { DEFAULT_KEY_PREFIX, generateKey } from '../../src/auth/keys';
import { MINUTE } from '../../src/units';
import { client } from '../support/client';
import { eventually } from '../api/http/eventually';
import { makeKey } from '../support/factories';
import { servedBy, startGateway, type TestGateway, withGateway } from '../support/gateway';
import { ALL_FACES, operations } from '../support/operations';
import { startRecordedGateway } from './commands';
import { makeStocked, SAME_ID, seen } from '../support/fixtures/contract';

const me = operations.find(({ name }) => name === 'me')!;

let key: { id: string; key: string };
/** Authorization headers that must be rejected, by what is wrong with them. */
let refused: Record<string, string | undefined>;

const gateway = servedBy(startRecordedGateway);
beforeAll(async () => {
  const organisation = await makeStocked(gateway);
  key = await makeKey(gateway, organisation);
  const expired = await makeKey(gateway, organisation, { expiresAt: new Date(Date.now() - MINUTE) });
  const revoked = await makeKey(gateway, organisation);
  await gateway.control.apiKeys.revoke(revoked.id);
  const elsewhere = await makeKey(gateway, organisation, { allowedRanges: ['203.0.113.0/24'] });
  const otherSecret = await makeKey(gateway, organisation);
  await gateway.databases.control
    .collection<{ _id: string }>('api_keys')
    .updateOne({ _id: otherSecret.id }, { $set: { hash: generateKey(DEFAULT_KEY_PREFIX, '').hash } });
  refused = {
    'no header': undefined,
    'an empty header': '',
    'another scheme': `Basic ${Buffer.from(key.key).toString('base64')}`,
    'no scheme': key.key,
    'an empty key': 'Bearer ',
    'two keys': `Bearer ${key.key} ${key.key}`,
    'not a key': 'Bearer let-me-in',
    'an unknown key with another prefix': `Bearer ${generateKey('acme_live_', '').key}`,
    'a typo': `Bearer ${key.key.slice(0, -1)}${key.key.endsWith('0') ? '1' : '0'}`,
    'an unknown key': `Bearer ${generateKey(DEFAULT_KEY_PREFIX, '').key}`,
    'the id of one key with the secret of another': `Bearer ${otherSecret.key}`,
    'an expired key': `Bearer ${expired.key}`,
    'a revoked key': `Bearer ${revoked.key}`,
    'a key that is not allowed from here': `Bearer ${elsewhere.key}`,
  };
});

test('keys work on once KEY_PREFIX and KEY_PREFIX_TEST are others, and new ones have those', async () => {
  await withGateway({ KEY_PREFIX: 'acme_live_', KEY_PREFIX_TEST: 'acme_test_' }, async (other) => {
    const { body, status } = await client(other, key.key).get('/me');
    expect(status).toBe(200);
    const made = await makeKey(other, body.organisation);
    expect(made.key).toMatch(/^acme_live_/);
    for (const each of [gateway, other]) expect((await client(each, made.key).get('/me')).status).toBe(200);
  });
});

describe('without a valid key', () => {
  // test/security/attacks/matrix.test.ts tests that each operation needs a key
  test.each(ALL_FACES)('$name returns the same 401, whatever is wrong', async (face) => {
    const answers = new Map<string, string[]>();
    for (const [fault, authorization] of Object.entries(refused)) {
      const headers = { ...SAME_ID, ...(authorization === undefined ? {} : { authorization }) };
      const answer = await face.call(client(gateway), me, {}, headers);
      expect({ fault, status: answer.status }).toEqual({ fault, status: 401 });
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer( resource_metadata="[^"]+")?$/);
      expect(face.errorOf(answer)).toMatchObject({
        code: 'unauthenticated',
        status: 401,
        request_id: SAME_ID['x-request-id'],
      });
      const text = JSON.stringify(seen(answer));
      answers.set(text, [...(answers.get(text) ?? []), fault]);
    }
    expect([...answers.values()]).toHaveLength(1);
  });

  test('a key with the wrong format or checksum is rejected without a database query', async () => {
    const shapeless = ['not a key', 'a typo', 'two keys', 'no scheme'];
    gateway.commands.length = 0;
    for (const fault of shapeless) {
      await client(gateway).get('/me', {}, { authorization: refused[fault]! });
      await client(gateway).graphql('{ me { key { id } } }', undefined, { authorization: refused[fault]! });
    }
    expect(gateway.commands).toEqual([]);
    await client(gateway).get('/me', {}, { authorization: refused['an unknown key']! });
    expect(gateway.commands).toEqual([{ database: 'scopegate_test', name: 'find', collection: 'api_keys' }]);
  });
});

test.each(['Bearer', 'bearer', 'BEARER', 'Bearer  '])('a valid key is accepted after "%s"', async (scheme) => {
  const { status, body } = await client(gateway).get('/me', {}, { authorization: `${scheme} ${key.key}` });
  expect(status).toBe(200);
  expect(body.key.id).toBe(key.id);
});

describe('last_used_at', () => {
  test('is written once for a burst over both APIs, and not again within a minute', async () => {
    const made = await makeKey(gateway, await makeStocked(gateway));
    const caller = client(gateway, made.key);
    const lastUsed = async (): Promise<Date | null | undefined> =>
      (await gateway.control.apiKeys.find(made.id))?.last_used_at;
    expect(await lastUsed()).toBeNull();
    const began = Date.now();
    await Promise.all(Array.from({ length: 20 }, (_, at) => ALL_FACES[at % ALL_FACES.length]!.call(caller, me, {})));
    const first = await eventually(lastUsed);
    expect(first.getTime()).toBeGreaterThanOrEqual(began - 2000);
    expect(first.getTime()).toBeLessThanOrEqual(Date.now() + 2000);
    await caller.get('/me');
    expect(gateway.usesWritten.filter((keys) => keys.includes(made.id))).toHaveLength(1);
    expect(await lastUsed()).toEqual(first);
  });

  test('is not written by a second gateway within a minute', async () => {
    const made = await makeKey(gateway, await makeStocked(gateway));
    await using other: TestGateway = await startGateway();
    await client(gateway, made.key).get('/me');
    const first = await eventually(async () => (await gateway.control.apiKeys.find(made.id))?.last_used_at);
    await client(other, made.key).get('/me');
    expect((await other.control.apiKeys.find(made.id))?.last_used_at).toEqual(first);
  });
});
