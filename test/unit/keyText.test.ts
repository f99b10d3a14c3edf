import { generateKey } from '../../src/auth/keys';
import { searchable, unwrapped, withoutKeys } from '../../web/keyText';

const { key } = generateKey('svc_live_', '');
const COPIED = [key, ` "${key}", `, `Bearer ${key}`, `Authorization: Bearer '${key}'`, `“${key}”`];

test.each(COPIED)('a key is recognised in %j, and not searched for', (text) => {
  expect(unwrapped(text)).toBe(key);
  expect(searchable(text)).toBe(key.slice(-4));
});

test('of a key that was cut, too, only four characters are searched for; other texts are left', () => {
  expect(searchable(key.slice(0, 50))).toBe(key.slice(46, 50));
  for (const text of [
    '',
    'Web shop ',
    '/api/v1/order_lines/0b4d1f7e-3c1a-4b56-9d5c-0f3f8f2f8a11',
    'insufficient_scope',
  ])
    expect(searchable(text)).toBe(text);
});

test('keys are removed from JSON, which stays JSON', () => {
  const tabs = { query: `{ me }\n${key}\n`, variables: JSON.stringify({ text: `a\n${key}`, key }) };
  const kept = withoutKeys(JSON.stringify(tabs));
  expect(JSON.parse(kept)).toMatchObject({ query: '{ me }\nsvc_live_…\n' });
  expect(kept.split('svc_live_…')).toHaveLength(4);
  // 21 characters after a line break are no key
  const similar = JSON.stringify(`\n${'a'.repeat(21)}_${'b'.repeat(49)}`);
  expect(withoutKeys(similar)).toBe(similar);
});
