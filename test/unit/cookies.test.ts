import type { IncomingMessage } from 'node:http';
import { createCookie } from '../../src/settings/cookies';

test('gateways at one host have cookies of their own, whatever their paths', () => {
  const paths = ['', '/a', '/a/b', '/a.b', '/a%2Eb'];
  const request = { headers: { cookie: '' } } as IncomingMessage;
  const headers = paths.map((path) => {
    const set: string[] = [];
    const response = { appendHeader: (_name: string, value: string) => set.push(value) };
    createCookie('session', { PUBLIC_URL: `https://api.example${path}` }).set(response as never, path, 60);
    return set[0]!.split(';')[0]!;
  });
  request.headers.cookie = headers.join('; ');
  expect(
    paths.map((path) => createCookie('session', { PUBLIC_URL: `https://api.example${path}` }).read(request)),
  ).toEqual(paths);
});
