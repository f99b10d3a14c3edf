/** Texts that are harmless only if treated as text. Each has a letter or digit, and none is the start of a canary. */
export const HOSTILE_TEXTS: readonly string[] = [
  '{"$gt":""}',
  '{"$ne":null}',
  '{"$regex":".*"}',
  '{$where:"1"}',
  '$where',
  '$gt',
  '[$ne]=1',
  '{"$expr":{"$eq":[1,1]}}',
  'function(){return true}',
  '__proto__',
  'constructor.prototype',
  'toString',
  "' OR 1=1 --",
  '"}},{"x',
  '"]}) { x } #',
  'a.b.c',
  '.*w',
  '^w',
  '../../etc/passwd',
  '%00%0a',
  '${7*7}{{7*7}}',
  '<script>alert(1)</script>',
  'a\u0000b',
  'a\r\nx-injected: 1',
  '\u202egnihtemos\u202c \u0639\u0631\u0628\u0649',
  'e\u0301\u0323\u200d \u{1f469}\u200d\u{1f467} \u{1f44d}\u{1f3fd} \ufeffw',
  '\ud800w',
  'undefined',
  'null',
  'NaN',
  '-1',
  '1e309',
];

/** Longer than the maximum of any text. */
export const LONG_TEXT = 'w'.repeat(25_001);

/** Values that are not strings, and could act as operators in a query. */
export const HOSTILE_VALUES: readonly (readonly [string, unknown])[] = [
  ['{"$gt":""}', { $gt: '' }],
  ['{"$ne":null}', { $ne: null }],
  ['{"$in":[""]}', { $in: [''] }],
  ['{"$where":"1"}', { $where: '1' }],
  ['["$gt",""]', ['$gt', '']],
  ['{"__proto__":{"polluted":1}}', ownProto({ polluted: 1 })],
  ['{"constructor":{"prototype":{"polluted":1}}}', { constructor: { prototype: { polluted: 1 } } }],
];

/** An object with an own member __proto__, as JSON.parse creates it. */
function ownProto(value: unknown): object {
  return Object.fromEntries([['__proto__', value]]);
}
