import type * as Crypto from 'node:crypto';
import { createHmac } from 'node:crypto';
import { digestOf, isDigestOf } from '../../src/auth/digest';
import { DEFAULT_KEY_PREFIX, generateKey, hashSecret, parseKey, secretMatches } from '../../src/auth/keys';
import { sameLifetime } from '../../src/organisations/keyDocuments';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SHAPE = /^svc_live_[0-9A-Za-z]{22}_[0-9A-Za-z]{49}$/;
const made = generateKey(DEFAULT_KEY_PREFIX, '');

/** Ids that start with zero bytes or are at the end of the range. */
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
  test.each(UUIDS)('contains its id, %s', (id) => {
    crypto.randomUUID.mockReturnValueOnce(id);
    const { key } = generateKey(DEFAULT_KEY_PREFIX, '');
    expect(key).toMatch(SHAPE);
    expect(parseKey(key, DEFAULT_KEY_PREFIX)?.id).toBe(id);
  });

  test.each([0, 255])('has the same format with a secret of bytes %i', (byte) => {
    crypto.randomBytes.mockReturnValueOnce(Buffer.alloc(32, byte));
    const { key, hash, salt } = generateKey(DEFAULT_KEY_PREFIX, '');
    expect(key).toMatch(SHAPE);
    expect(secretMatches(parseKey(key, DEFAULT_KEY_PREFIX)!.secret, { hash, salt }, '')).toBe(true);
  });

  test('shows only its prefix and last four characters', () => {
    expect(made.displayPrefix).toBe(made.key.slice(0, DEFAULT_KEY_PREFIX.length + 6));
    expect(made.lastFour).toBe(made.key.slice(-4));
    const { key: _key, ...stored } = made;
    expect(JSON.stringify(stored)).not.toContain(parseKey(made.key, DEFAULT_KEY_PREFIX)!.secret);
  });
});

describe('a text is not a key', () => {
  // test/unit/properties.test.ts has every other text, and every typo
  test.each([
    ['another prefix', generateKey('svc_test_', '').key],
    [
      'an id larger than a UUID, with a valid checksum',
      withChecksum(`${DEFAULT_KEY_PREFIX}${'z'.repeat(22)}_${'0'.repeat(43)}`),
    ],
    [
      'other characters in the secret, with a valid checksum',
      withChecksum(`${made.key.slice(0, -49)}${'-'.repeat(43)}`),
    ],
  ])('%s', (_title, text) => {
    expect(parseKey(text, DEFAULT_KEY_PREFIX)).toBeUndefined();
  });

  /** Appends CRC-32 (ISO-HDLC) as six base62 characters, implemented independently of the code under test. */
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

  test('and the checksum is CRC-32', () => {
    expect(withChecksum(made.key.slice(0, -6))).toBe(made.key);
  });
});

describe('a secret', () => {
  const { secret } = parseKey(made.key, DEFAULT_KEY_PREFIX)!;

  test('is stored as HMAC-SHA-256 over salt and secret, keyed with the pepper', () => {
    const salt = Buffer.alloc(16, 7);
    const expected = createHmac('sha256', 'pepper')
      .update(Buffer.concat([salt, Buffer.from(secret)]))
      .digest('base64');
    expect(hashSecret(secret, salt.toString('base64'), 'pepper')).toBe(expected);
  });
});

test('a stored digest of another length is that of no text', () => {
  expect([isDigestOf('a', digestOf('a')), isDigestOf('a', digestOf('b')), isDigestOf('a', 'short')]).toEqual([
    true,
    false,
    false,
  ]);
});

test('a replacement lasts as long as its key did, but not beyond the times that answers can have', () => {
  const [created_at, now] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-03-01T00:00:00Z')];
  const endOf = (expires_at: Date | null) => sameLifetime({ created_at, expires_at }, now);
  expect(endOf(null)).toBeNull();
  expect(endOf(new Date('2026-01-31T00:00:00Z'))).toEqual(new Date('2026-03-31T00:00:00Z'));
  expect(endOf(new Date('9999-12-31T23:59:59Z'))).toEqual(new Date('9999-12-31T23:59:59.999Z'));
});
