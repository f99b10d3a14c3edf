import type { Organisation } from '../../../src/auth/principal';
import { makeKey, makeOrganisation } from '../../support/factories';
import { served } from '../../support/gateway';
import { operator, TOKENS } from '../operator/operator';
import { type Person, signIn } from './people';

/* How many active keys an organisation may have. */

const MOST = 3;
const FULL = 'the organisation has 3 active keys, the most it may have; revoke one first';

const gateway = served({ ...TOKENS, MAX_KEYS: String(MOST) });
let organisation: Organisation;
let admin: Person;

beforeEach(async () => {
  organisation = await makeOrganisation(gateway);
  admin = await signIn(gateway, organisation);
});

const create = () => admin.call('create_key', { name: 'k', scopes: ['products:read'] });
const active = async (): Promise<number> => (await admin.call('keys', { state: 'active' })).data.length as number;
const fill = async (): Promise<string[]> => {
  const ids: string[] = [];
  for (let nth = 0; nth < MOST; nth += 1) ids.push((await makeKey(gateway, organisation)).id);
  return ids;
};

test('keys beyond the limit are rejected with the reason, and another can be made once one has ended', async () => {
  const [first, second] = await fill();
  expect(await create()).toMatchObject({
    code: 'validation_failed',
    errors: [{ pointer: '', code: 'too_many', detail: FULL }],
  });
  await admin.call('revoke_key', { key_id: first });
  expect(await create()).toMatchObject({ key: expect.any(String) });
  expect((await create()).code).toBe('validation_failed');
  await gateway.control.apiKeys.update(second!, { expires_at: new Date(Date.now() - 60_000) });
  expect(await create()).toMatchObject({ key: expect.any(String) });
  expect(await active()).toBe(MOST);
});

test('of many made at once, as many as there is room for are made, and the audit log has no other', async () => {
  const made = await Promise.all(Array.from({ length: 8 }, () => create()));
  expect(made.filter(({ key }) => key !== undefined)).toHaveLength(MOST);
  expect(await active()).toBe(MOST);
  const { data } = await admin.call('audit_events', { action: 'key.created' });
  expect(data).toHaveLength(MOST);
});

test('a key can be rotated at the limit', async () => {
  const [id] = await fill();
  expect(await admin.call('rotate_key', { key_id: id, overlap_hours: 24 })).toMatchObject({
    key: expect.any(String),
  });
  // both keys of a rotation count while they overlap
  expect(await active()).toBe(MOST + 1);
  expect((await create()).code).toBe('validation_failed');
});

test('other organisations have limits of their own, and operators are told what to raise', async () => {
  await fill();
  const other = await makeOrganisation(gateway);
  await makeKey(gateway, other);
  const body = { name: 'k', scopes: ['products:read'] };
  const refused = await operator(gateway).post(`/organisations/${organisation.id}/keys`, body);
  expect(refused.body).toMatchObject({ status: 422, detail: FULL.replace('the', 'The') });
  await expect(makeKey(gateway, organisation)).rejects.toThrow(`${FULL}, or raise MAX_KEYS`);
});
