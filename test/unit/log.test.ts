import mongoose from 'mongoose';
import pino from 'pino';
import { generateKey } from '../../src/auth/keys';
import { createFailureLog, describeError, redact, redactPath } from '../../src/log';

const PREFIXES = ['svc_live_', 'svc_test_', 'acme_'];
const { key } = generateKey('svc_live_', '');

describe('a text for the log', () => {
  test.each(PREFIXES)('has no key with the prefix %s', (prefix) => {
    const made = generateKey(prefix, '').key;
    for (const text of [
      made,
      `Bearer ${made}`,
      `"${made}"`,
      `{"q":"${made}"}`,
      `a ${made} b ${made}`,
      `/x/${made}/y`,
    ]) {
      expect(redact(text)).toBe(text.replaceAll(made, '[key]').slice(0, 300));
    }
  });

  test.each([
    ['that follows a long word', 'x'.repeat(100) + key, /^x+\[key\]$/],
    ['that is truncated', key.slice(0, -20), /^\[key\]$/],
    ['at the point where it is truncated', `${'x'.repeat(270)} ${key}`, /^x{270} \[key\]$/],
  ])('has no key %s', (_where, text, redacted) => {
    expect(redact(text)).toMatch(redacted);
  });

  test('has no key that more text follows, or that is cut, however many are before it', () => {
    const separated = (before: number): string => `${'x'.repeat(before)} ${`${key} `.repeat(9)}`;
    for (let before = 0; before < 600; before += 1) {
      const text = redact(separated(before) + 'x'.repeat(5000));
      expect(text.replaceAll('[key]', '')).toMatch(/^x* *(\[k?e?y?)?x*$/);
      expect(text.length).toBeLessThanOrEqual(300);
    }
  });

  test.each(['/api/v1/quotes/8ee57417-32c9-5f80-8615-94139b1fe228', 'svc_live_', 'quote_totals order_totals'])(
    'keeps %s',
    (text) => {
      expect(redact(text)).toBe(text);
    },
  );
});

describe('a path for the log', () => {
  test('has no key, however it is encoded', () => {
    const every = key.replaceAll(/./g, (character) => `%${character.charCodeAt(0).toString(16)}`);
    for (const text of [key, key.replaceAll('_', '%5F'), key.replace('a', '%61'), every]) {
      expect(redactPath(`/api/v1/quotes/${text}`)).toBe('/api/v1/quotes/[key]');
    }
  });

  test.each(['ref:tell-nobody', 'ref%3Atell-nobody', 'REF:tell%2Fnobody', '%2572ef%253Atell-nobody'])(
    'has nothing of what follows ref:, however it is encoded: %s',
    (name) => {
      const path = (of: string) => `/operator/v1/organisations/${of}/customers/${of}/erase%21`;
      expect(redactPath(path(name))).toBe(path('ref:…'));
      expect(redactPath(`/organisations/${name}/keys/${key}`)).toBe('/organisations/ref:…/keys/[key]');
    },
  );

  test('has neither a ref: nor half a key where it is cut', () => {
    expect(redactPath(`/organisations/ref:${'x'.repeat(3000)}`)).toBe('/organisations/…');
    for (let before = 1900; before < 2010; before += 1) {
      const path = redactPath(`/organisations/ref:${'x'.repeat(before)}/keys/${key}/${'y'.repeat(9)}`);
      expect(path).toMatch(/^\/organisations\/(ref:…\/(keys\/)?)?…$|\/keys\/\[key\]\//);
    }
  });

  test.each(['/caf%C3%A9/%E0%A4%A/%', '/products/a%2Fb', '/%2e%2e/%1b%0d%0a', '/a%3Db'])(
    'is as it was sent, decodable or not: %s',
    (path) => {
      expect(redactPath(path)).toBe(path);
    },
  );
});

describe('an error for the log', () => {
  test('has its type, message and stack, without keys', () => {
    const described = describeError(new TypeError(`no such key: ${key}`));
    expect(described).toMatchObject({ type: 'TypeError', message: 'no such key: [key]' });
    expect(described.stack).toContain('log.test.ts');
    expect(JSON.stringify(described)).not.toContain(key);
  });

  test('has a stack of at most 4,000 characters, without keys', () => {
    const { stack } = describeError(new Error(`${'x'.repeat(3900)} ${key} ${'x'.repeat(100_000)}`));
    expect(stack).toMatch(/^Error: x{3900} \[key\]/);
    expect(stack!.length).toBeLessThanOrEqual(4000);
  });

  test('may be any value', () => {
    expect(describeError(`lost ${key}`)).toEqual({ type: 'string', message: 'lost [key]' });
    expect(describeError(undefined)).toEqual({ type: 'undefined', message: 'undefined' });
  });
});

describe('failures of work that is tried again', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  test('are logged at once, and then once a minute with their number; those of the database have no stack', () => {
    const lines: Record<string, unknown>[] = [];
    const to = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
    const logFailure = createFailureLog(pino({ base: null, timestamp: false }, to));
    const away = new mongoose.mongo.MongoNetworkError('connection refused');
    for (let second = 0; second <= 60; second += 1) {
      logFailure('writing failed; will retry', away, { organisation_id: 'o' });
      jest.advanceTimersByTime(1000);
    }
    logFailure('reading failed; will retry', new RangeError('ours'));
    const msg = 'writing failed; will retry';
    const error = { type: 'MongoNetworkError', message: 'connection refused' };
    expect(lines).toEqual([
      { level: 40, organisation_id: 'o', error, msg },
      { level: 40, organisation_id: 'o', error, failures: 60, msg },
      {
        level: 40,
        msg: 'reading failed; will retry',
        error: { type: 'RangeError', message: 'ours', stack: expect.stringContaining('log.test') as unknown },
      },
    ]);
  });
});
