import { gatewayUrl } from '../../src/config';

test.each([
  ['127.0.0.1', 'http://127.0.0.1:4000'],
  ['0.0.0.0', 'http://127.0.0.1:4000'],
  ['::', 'http://[::1]:4000'],
  ['::1', 'http://[::1]:4000'],
  ['gateway.example', 'http://gateway.example:4000'],
])('a gateway that listens at %s is opened at %s', (HOST, url) => {
  expect(gatewayUrl({ HOST, PORT: 4000, PUBLIC_URL: undefined })).toBe(url);
  expect(gatewayUrl({ HOST, PORT: 4000, PUBLIC_URL: 'https://api.example' })).toBe('https://api.example');
});
