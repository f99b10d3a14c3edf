import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeVariables, readConfig } from '../../src/config';
import { faultsOf } from '../support/configFaults';

/** What is in the file of each secret, and the secret. */
const SECRETS: Readonly<Record<string, readonly [written: string, secret: unknown]>> = {
  MONGODB_URI: ['mongodb://user:pass@db\n', 'mongodb://user:pass@db'],
  KEY_PEPPER: ['new', 'new'],
  KEY_PEPPER_PREVIOUS: ['old\r\n', 'old'],
  REDIS_URL: ['redis://cache\n', 'redis://cache'],
  OIDC_CLIENT_SECRET: ['s3cret\n\n', 's3cret'],
  WEBHOOK_SECRET: ['a master secret of 32 characters or more\n', 'a master secret of 32 characters or more'],
  OPERATOR_TOKENS: [
    `billing=${'a'.repeat(32)}\nbilling=${'b'.repeat(32)}\n`,
    [
      { name: 'billing', secret: 'a'.repeat(32) },
      { name: 'billing', secret: 'b'.repeat(32) },
    ],
  ],
  WEBHOOK_SECRET_PREVIOUS: [
    'another secret that endpoints were made with\n',
    'another secret that endpoints were made with',
  ],
  OPERATOR_WEBHOOK_SECRET: [`whsec_${'QUFB'.repeat(8)}\n`, [Buffer.from('A'.repeat(24))]],
  OTEL_EXPORTER_OTLP_HEADERS: ['Authorization=Bearer%20x, b=c%3D,\n', { authorization: 'Bearer x', b: 'c=' }],
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'scopegate-secrets-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function file(text: string | Buffer): string {
  const path = join(folder, `secret-${String(Math.random()).slice(2)}`);
  writeFileSync(path, text);
  return path;
}

test('every secret can be read from a file, and no other variable', () => {
  const named = describeVariables().flatMap(({ name }) => (name.endsWith('_FILE') ? name.slice(0, -5) : []));
  // no secret: a variable of its own
  const files = named.filter((name) => name !== 'PLANS');
  expect(files.sort()).toEqual(Object.keys(SECRETS).sort());
  const secrets = Object.entries(SECRETS);
  const config = readConfig(Object.fromEntries(secrets.map(([name, [text]]) => [`${name}_FILE`, file(text)])));
  expect(config).toMatchObject(Object.fromEntries(secrets.map(([name, [, secret]]) => [name, secret])));
});

test('the same text gives the same secret in a file and in the variable, spaces and inner line breaks included', () => {
  const pepper = ' a secret\nof two lines ';
  expect(readConfig({ KEY_PEPPER_FILE: file(`${pepper}\n`) }).KEY_PEPPER).toBe(
    readConfig({ KEY_PEPPER: pepper }).KEY_PEPPER,
  );
});

test('an empty variable counts as not set, next to its file too', () => {
  expect(readConfig({ KEY_PEPPER: '', KEY_PEPPER_FILE: file('x') }).KEY_PEPPER).toBe('x');
  expect(readConfig({ KEY_PEPPER: 'y', KEY_PEPPER_FILE: '' }).KEY_PEPPER).toBe('y');
});

test.each<[string, () => Record<string, string>, RegExp]>([
  [
    'both',
    () => ({ KEY_PEPPER: 'hidden', KEY_PEPPER_FILE: file('hidden') }),
    /^ {2}KEY_PEPPER_FILE: is set, and so is KEY_PEPPER; set only one of them$/m,
  ],
  ['no file', () => ({ KEY_PEPPER_FILE: join(folder, 'none') }), /^ {2}KEY_PEPPER_FILE: cannot be read: ENOENT.*none/m],
  ['a directory', () => ({ REDIS_URL_FILE: folder }), /^ {2}REDIS_URL_FILE: cannot be read: EISDIR/m],
  ['an empty file', () => ({ KEY_PEPPER_FILE: file('') }), /^ {2}KEY_PEPPER_FILE: .* is empty$/m],
  ['a file of line breaks', () => ({ KEY_PEPPER_FILE: file('\r\n\n') }), /^ {2}KEY_PEPPER_FILE: .* is empty$/m],
  ['bytes that are not text', () => ({ KEY_PEPPER_FILE: file(Buffer.from([0xff, 0xfe, 1])) }), /is not text in UTF-8/],
  ['a file that never ends', () => ({ KEY_PEPPER_FILE: '/dev/zero' }), /is larger than 65536 bytes/],
  [
    'an invalid value',
    () => ({ MONGODB_URI_FILE: file('postgres://hidden') }),
    /^ {2}MONGODB_URI_FILE: must begin with mongodb:\/\//m,
  ],
])('is rejected, with the variable and one sentence without the secret: %s', (_what, environment, sentence) => {
  const message = faultsOf(environment());
  expect(message).toMatch(sentence);
  expect(message).not.toContain('hidden');
});

test('a named pipe, which shells use for secrets that are never on disk, is read to its end', () => {
  const pipe = join(folder, 'pipe');
  execFileSync('bash', ['-c', `mkfifo ${pipe}`]);
  const writer = spawn('bash', ['-c', `exec > ${pipe}; printf half; sleep 0.1; echo way`]);
  expect(readConfig({ KEY_PEPPER_FILE: pipe }).KEY_PEPPER).toBe('halfway');
  writer.kill();
});

test.each([
  [{ KEY_PEPPER_PREVIOUS: 'old' }, 'KEY_PEPPER: must be set if KEY_PEPPER_PREVIOUS is'],
  [{ KEY_PEPPER: 'one', KEY_PEPPER_PREVIOUS: 'one' }, 'KEY_PEPPER_PREVIOUS: is the same as KEY_PEPPER'],
])('%j is rejected', (environment, sentence) => {
  expect(faultsOf(environment)).toContain(sentence);
});
