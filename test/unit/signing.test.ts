import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { endpointSecret, secretFrom, secretText, signedHeaders } from '../../src/webhooks/signing';

/* Signatures, verified with the library that receivers use. */

const ENDPOINT = '00000000-0000-8000-8000-000000000001';
const message = (body: string) => ({ id: 'msg', timestamp: Math.floor(Date.now() / 1000), body });

test.each(['{}', JSON.stringify({ name: 'Größe – 大 \u0000 "quoted"' })])(
  'a receiver accepts %j, and nothing else',
  (body) => {
    const secret = randomBytes(24);
    const headers = signedHeaders(message(body), [secret]);
    expect(new Webhook(secretText(secret)).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(secretText(secret)).verify(`${body} `, headers)).toThrow('No matching signature');
    expect(() => new Webhook(secretText(randomBytes(24))).verify(body, headers)).toThrow('No matching signature');
    for (const changed of [{ 'webhook-id': 'other' }, { 'webhook-timestamp': String(message(body).timestamp - 1) }]) {
      expect(() => new Webhook(secretText(secret)).verify(body, { ...headers, ...changed })).toThrow(
        'No matching signature',
      );
    }
  },
);

test('while a secret is replaced, a receiver with either accepts it', () => {
  const secrets = [1, 2].map((version) => endpointSecret('master', ENDPOINT, version));
  const headers = signedHeaders(message('{}'), secrets);
  for (const secret of secrets) expect(new Webhook(secretText(secret)).verify('{}', headers)).toEqual({});
});

test('a secret follows from master secret, endpoint and version, and from nothing else', () => {
  const secret = secretText(endpointSecret('master', ENDPOINT, 1));
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  expect(secretText(endpointSecret('master', ENDPOINT, 1))).toBe(secret);
  const others = [
    endpointSecret('other', ENDPOINT, 1),
    endpointSecret('master', 'other', 1),
    endpointSecret('master', ENDPOINT, 2),
  ];
  expect(new Set([secret, ...others.map(secretText)]).size).toBe(4);
  expect(secretText(secretFrom(secret)!)).toBe(secret);
});

test.each([
  '',
  'whsec_',
  'whsec_YWJj',
  'a'.repeat(38),
  `whsec_${'A'.repeat(31)}!`,
  `whsec_${randomBytes(65).toString('base64')}`,
])('%j is no secret', (text) => {
  expect(secretFrom(text)).toBeUndefined();
});
