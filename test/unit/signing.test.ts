import { randomBytes } from 'node:crypto';
import { secretFrom, secretText } from '../../src/auth/webhookSecrets';
import { endpointSecret } from '../../src/webhooks/signing';

const ENDPOINT = '00000000-0000-8000-8000-000000000001';

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
