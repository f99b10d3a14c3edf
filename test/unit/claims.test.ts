import { generateKey, nameFault } from '../../src/auth/keys';
import { sessionOf } from '../../src/settings/claims';

/* Names from the identity provider, which users often choose themselves. */

const CONFIG = { OIDC_ORGANISATION_CLAIM: 'org', OIDC_ROLE_CLAIM: 'role' };
const OF = { org: '7e3143c1-62cb-491a-bcf5-b80409d22122', role: 'admin', sub: 'ada' };
const userOf = (claims: object) => sessionOf({ ...OF, ...claims }, CONFIG).user;

test.each([
  ['a text direction', 'Ada \u202egnp.exe'],
  ['a line break', 'Ada\nuser.signed_in'],
  ['a zero', 'Ada\0'],
  ['nothing visible', ' \u200b\u3000 '],
  ['an API key', `Ada ${generateKey('svc_live_', '').key}`],
  ['another type', 7],
])('a name with %s is not taken; the next claim is', (_what, name) => {
  expect(userOf({ name, preferred_username: 'ada.l' })).toEqual({ id: 'oidc:ada', name: 'ada.l' });
  expect(userOf({ name, email: name })).toEqual({ id: 'oidc:ada', name: 'ada' });
});

test('names are cut to 200 characters, none of them in half', () => {
  const { name } = userOf({ name: `  ${'\u{1f469}'.repeat(1000)}` });
  expect(name).toBe('\u{1f469}'.repeat(199));
  expect(userOf({ name: 'a'.repeat(1_000_000) }).name).toBe('a'.repeat(200));
});

test("an issuer's id that could not be shown is replaced by its hash, and different ids stay different", () => {
  const ids = ['\u202ea', '\u202eb', 'a\nb', `${'x'.repeat(255)}1`, `${'x'.repeat(255)}2`].map((sub) =>
    userOf({ sub }),
  );
  expect(new Set(ids.map(({ id }) => id)).size).toBe(5);
  for (const { id, name } of ids) {
    expect(id).toMatch(/^oidc:[\w-]{43}$/);
    expect(nameFault(name)).toBeUndefined();
  }
  expect(userOf({ sub: 'auth0|5f7c8ec7' }).id).toBe('oidc:auth0|5f7c8ec7');
});
