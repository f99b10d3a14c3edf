import type { Organisation } from '../../../src/auth/principal';
import { makeKey, makeOrganisation } from '../../support/factories';
import { served } from '../../support/gateway';
import { ask, challengeFor, decide, registered, requestQuery, verifier } from '../../support/oauthApp';
import { operator, TOKENS } from '../operator/operator';
import { type Person, signIn } from './people';

/* How many active keys an organisation may have. */

const MOST = 3;
const FULL = 'the organisation has at least 3 active keys, the most it may have; revoke one first';

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

test('the page about an app says which data takes no other key and why, and offers only the other; with neither, Allow is disabled', async () => {
  const query = requestQuery(await registered(gateway), challengeFor(verifier()));
  const asked = async () => {
    const { body: page } = await ask(gateway, query, admin.cookie);
    const tag = (name: string, value: string): string =>
      new RegExp(`<(?:input|button)[^>]*name="${name}"\\s+value="${value}"[^>]*>`).exec(String(page))?.[0] ?? '';
    const stateOf = (field: string): string => /\b(?:checked|disabled)\b/.exec(field)?.[0] ?? 'open';
    return {
      live: stateOf(tag('mode', 'live')),
      test: stateOf(tag('mode', 'test')),
      allow: stateOf(tag('decision', 'allow')),
      text: String(page).replaceAll(/<[^>]*>|\s+/g, ' '),
    };
  };
  expect(await asked()).toMatchObject({ live: 'checked', test: 'open', allow: 'open' });
  const [first] = await fill();
  const full = await asked();
  expect(full).toMatchObject({ live: 'disabled', test: 'checked', allow: 'open' });
  expect(full.text).toContain(`Live data (it ${FULL.replace('the organisation ', '')})`);
  expect(await decide(gateway, query, admin)).toMatchObject({ status: 422 });
  const by = { who: 'cli:test', from: 'here' };
  const { organisation: sandbox } = (await gateway.control.sandboxes.create(
    { of: organisation.id, willBeSeeded: false },
    by,
  ))!;
  for (let nth = 0; nth < MOST; nth += 1) await makeKey(gateway, sandbox);
  const closed = await asked();
  expect(closed).toMatchObject({ live: 'disabled', test: 'disabled', allow: 'disabled' });
  expect(closed.text).toContain(
    'No app can be connected now: neither the live data nor the sandbox takes another key.',
  );
  expect(closed.text).toContain('Sandbox: sample data (it has at least 3 active keys');
  await gateway.control.apiKeys.revoke(first!);
  expect(await asked()).toMatchObject({ live: 'checked', test: 'disabled', allow: 'open' });
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
