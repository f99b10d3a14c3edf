import { generateKey, nameFault } from '../../src/auth/keys';

/* Valid names of keys, organisations and users. */

test.each([
  'Shop',
  '100 %',
  '\u2764\ufe0f shop',
  '\u{1f469}\u200d\u{1f4bb}',
  'می\u200cخواهم',
  '日本',
  'e\u0301',
  '—',
  'svc_live_',
])('%j is a name', (name) => {
  expect(nameFault(name)).toBeUndefined();
});

test.each([
  ['nothing', ''],
  ['blanks', ' \u00a0\u3000'],
  ['a line break', 'a\nb'],
  ['half a character', 'a\ud800'],
  ...[
    0xad, 0x61c, 0x115f, 0x17b4, 0x180e, 0x200b, 0x202e, 0x2028, 0x2060, 0x2066, 0x2800, 0x3164, 0xfeff, 0xffa0, 0xfff9,
  ].map((point) => [`U+${point.toString(16)}`, `a${String.fromCodePoint(point)}b`]),
  ...[0x1d173, 0xe0041, 0xe0100].map((point) => [`U+${point.toString(16)}`, `a${String.fromCodePoint(point)}`]),
  ['joiners alone', '\u034f\u200d\ufe0f'],
  ['an accent alone', '\u0301'],
])('a text that has or is %s is not a name', (_what, name) => {
  expect(nameFault(name)).toBe('must be one non-blank line of visible characters');
});

test('a name cannot contain a key, since every member can read it', () => {
  const { key } = generateKey('svc_live_', '');
  for (const name of [key, `Shop ${key}`, key.slice(0, 60)])
    expect(nameFault(name)).toBe('must not contain an API key');
});
