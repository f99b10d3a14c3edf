import type * as Crypto from 'node:crypto';
import { createHmac } from 'node:crypto';
import { DEFAULT_KEY_PREFIX, generateKey, hashSecret, parseKey, secretMatches } from '../../src/access/keys';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SHAPE = /^svc_live_[0-9A-Za-z]{22}_[0-9A-Za-z]{49}$/;
const made = generateKey(DEFAULT_KEY_PREFIX, '');

/** Ids whose number begins with zero bytes, or ends the range. */
const UUIDS = [
  '00000000-0000-4000-8000-000000000000',
  '00000000-0000-0000-0000-000000000000',
  '00000000-0000-0000-0000-000000000001',
  '00ffffff-ffff-4fff-bfff-ffffffffffff',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
];

jest.mock('node:crypto', () => {
  const crypto = jest.requireActual<typeof Crypto>('node:crypto');
  return { ...crypto, randomUUID: jest.fn(crypto.randomUUID), randomBytes: jest.fn(crypto.randomBytes) };
});
const crypto = jest.requireMock<{ randomUUID: jest.Mock; randomBytes: jest.Mock }>('node:crypto');

describe('a key', () => {
  test('has one shape, whatever its numbers', () => {
    for (let count = 0; count < 200; count += 1) expect(generateKey(DEFAULT_KEY_PREFIX, '').key).toMatch(SHAPE);
  });

  test.each(UUIDS)('gives back the id %s that it was made of', (id) => {
    crypto.randomUUID.mockReturnValueOnce(id);
    const { key } = generateKey(DEFAULT_KEY_PREFIX, '');
    expect(key).toMatch(SHAPE);
    expect(parseKey(key, DEFAULT_KEY_PREFIX)?.id).toBe(id);
  });

  test.each([0, 255])('keeps its shape with a secret of bytes %i', (byte) => {
    crypto.randomBytes.mockReturnValueOnce(Buffer.alloc(32, byte));
    const { key, hash, salt } = generateKey(DEFAULT_KEY_PREFIX, '');
    expect(key).toMatch(SHAPE);
    expect(secretMatches(parseKey(key, DEFAULT_KEY_PREFIX)!.secret, { hash, salt }, '')).toBe(true);
  });

  test('shows its beginning and its last four characters, and no more', () => {
    expect(made.displayPrefix).toBe(made.key.slice(0, DEFAULT_KEY_PREFIX.length + 6));
    expect(made.lastFour).toBe(made.key.slice(-4));
    const { key: _key, ...stored } = made;
    expect(JSON.stringify(stored)).not.toContain(parseKey(made.key, DEFAULT_KEY_PREFIX)!.secret);
  });

  test('is never made twice', () => {
    expect(new Set(Array.from({ length: 1000 }, () => generateKey(DEFAULT_KEY_PREFIX, '').key)).size).toBe(1000);
  });
});

describe('a text is no key', () => {
  test('with any one character changed', () => {
    const accepted = [...made.key.split('').keys()].flatMap((at) =>
      Array.from(`${BASE62}_- é`).filter((character) => {
        const text = made.key.slice(0, at) + character + made.key.slice(at + 1);
        return text !== made.key && parseKey(text, DEFAULT_KEY_PREFIX) !== undefined;
      }),
    );
    expect(accepted).toEqual([]);
  });

  test('with any two neighbours exchanged', () => {
    const exchanged = [...made.key.split('').keys()]
      .map((at) => made.key.slice(0, at) + (made.key[at + 1] ?? '') + made.key[at]! + made.key.slice(at + 2))
      .filter((text) => text !== made.key);
    expect(exchanged.filter((text) => parseKey(text, DEFAULT_KEY_PREFIX))).toEqual([]);
  });

  test.each([
    ['nothing', ''],
    ['the prefix alone', DEFAULT_KEY_PREFIX],
    ['a character less', made.key.slice(0, -1)],
    ['a character more', `${made.key}0`],
    ['a space before', ` ${made.key}`],
    ['a line after', `${made.key}\n`],
    ['another case', made.key.toUpperCase()],
    ['another prefix', generateKey('svc_test_', '').key],
    ['characters beyond base62', DEFAULT_KEY_PREFIX + '!'.repeat(72)],
    ['an id beyond a UUID, well summed', withChecksum(`${DEFAULT_KEY_PREFIX}${'z'.repeat(22)}_${'0'.repeat(43)}`)],
    ['signs in the secret, well summed', withChecksum(`${made.key.slice(0, -49)}${'-'.repeat(43)}`)],
  ])('%s', (_title, text) => {
    expect(parseKey(text, DEFAULT_KEY_PREFIX)).toBeUndefined();
  });

  test('under another prefix of the configuration', () => {
    const other = generateKey('acme_', '').key;
    expect(parseKey(other, 'acme_')).toBeDefined();
    expect(parseKey(other, DEFAULT_KEY_PREFIX)).toBeUndefined();
    expect(parseKey(made.key, 'svc_')).toBeUndefined();
  });

  /** CRC-32 (ISO-HDLC) in base62, six characters, written apart from the code under test. */
  function withChecksum(body: string): string {
    let crc = 0xffffffff;
    for (const byte of Buffer.from(body)) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    }
    let [rest, digits] = [(crc ^ 0xffffffff) >>> 0, ''];
    for (let digit = 0; digit < 6; digit += 1) [rest, digits] = [Math.floor(rest / 62), BASE62[rest % 62]! + digits];
    return body + digits;
  }

  test('by a checksum that is CRC-32', () => {
    expect(withChecksum(made.key.slice(0, -6))).toBe(made.key);
  });
});

describe('a secret', () => {
  const { secret } = parseKey(made.key, DEFAULT_KEY_PREFIX)!;

  test('matches what was stored of it, and nothing else does', () => {
    expect(secretMatches(secret, made, '')).toBe(true);
    expect(secretMatches(secret.slice(0, -1), made, '')).toBe(false);
    expect(secretMatches('', made, '')).toBe(false);
    expect(secretMatches(secret, generateKey(DEFAULT_KEY_PREFIX, ''), '')).toBe(false);
    expect(secretMatches(secret, { ...made, hash: '' }, '')).toBe(false);
    expect(secretMatches(secret, undefined, '')).toBe(false);
  });

  test('matches under its own pepper only', () => {
    const peppered = generateKey(DEFAULT_KEY_PREFIX, 'pepper');
    const own = parseKey(peppered.key, DEFAULT_KEY_PREFIX)!.secret;
    expect(secretMatches(own, peppered, 'pepper')).toBe(true);
    expect(secretMatches(own, peppered, '')).toBe(false);
    expect(secretMatches(own, peppered, 'Pepper')).toBe(false);
  });

  test('is stored as HMAC-SHA-256 over salt and secret, keyed with the pepper', () => {
    const salt = Buffer.alloc(16, 7);
    const expected = createHmac('sha256', 'pepper')
      .update(Buffer.concat([salt, Buffer.from(secret)]))
      .digest('base64');
    expect(hashSecret(secret, salt.toString('base64'), 'pepper')).toBe(expected);
  });
});
