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

test('a session within frames and one without never meet, since browsers keep and send the cookies of both', () => {
  for (const PUBLIC_URL of ['https://api.example', 'https://api.example/a_framed']) {
    const cookies = [[], ['https://app.example']].map((FRAME_ANCESTORS) => {
      const set: string[] = [];
      const response = { appendHeader: (_name: string, value: string) => set.push(value) } as never;
      const cookie = createCookie('session', { PUBLIC_URL, FRAME_ANCESTORS });
      cookie.set(response, String(FRAME_ANCESTORS.length), 60);
      cookie.clear(response);
      return { cookie, pairs: set.map((one) => one.split(';')[0]!) };
    });
    const [set, cleared] = [0, 1].map((at) => cookies.map(({ pairs }) => pairs[at]!));
    for (const sent of [set!, set!.toReversed()]) {
      const request = { headers: { cookie: sent.join('; ') } } as IncomingMessage;
      expect(cookies.map(({ cookie }) => cookie.read(request))).toEqual(['0', '1']);
    }
    expect(cleared).toEqual(set!.map((pair) => pair.replace(/[01]$/, '')));
  }
});
