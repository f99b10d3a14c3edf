import { isOwnResource, metadataUrl, oauthAddress, SERVER_METADATA } from '../../src/oauth/address';
import { hostOf, isRegistered, redirectFault, formActionOf } from '../../src/oauth/redirectUris';
import { readRegistration } from '../../src/oauth/registration';
import type { IncomingMessage } from 'node:http';

const CALLBACK = 'https://app.example/callback';

describe('a registration', () => {
  test.each([
    ['no object', 1],
    ['no address', { redirect_uris: [] }],
    ['many addresses', { redirect_uris: Array.from({ length: 11 }, (_, at) => `${CALLBACK}/${String(at)}`) }],
    ['a wrong address', { redirect_uris: [CALLBACK, 'http://app.example/'] }],
    ['a name that is turned around', { redirect_uris: [CALLBACK], client_name: 'Helper\u202egnp.exe' }],
    ['a name with a joiner', { redirect_uris: [CALLBACK], client_name: 'Scope\u200dgate' }],
    ['a name with a grapheme joiner', { redirect_uris: [CALLBACK], client_name: 'Scope\u034fgate' }],
    ['a name with piled marks', { redirect_uris: [CALLBACK], client_name: 'x\u0301\u0301\u0301' }],
    ['the name of the site', { redirect_uris: [CALLBACK], client_name: 'Official SCOPEGATE app' }],
    ['the name of the site in wide letters', { redirect_uris: [CALLBACK], client_name: 'Ｓcopegate' }],
    ['a name of two lines', { redirect_uris: [CALLBACK], client_name: 'Helper\nby Scopegate' }],
    ['a long name', { redirect_uris: [CALLBACK], client_name: 'x'.repeat(101) }],
    ['another authentication', { redirect_uris: [CALLBACK], token_endpoint_auth_method: 'private_key_jwt' }],
    ['no code', { redirect_uris: [CALLBACK], grant_types: ['client_credentials'] }],
    ['tokens in the address', { redirect_uris: [CALLBACK], response_types: ['token'] }],
  ])('with %s is refused, and says why', (_what, body) => {
    const read = readRegistration(body, 'Scopegate');
    expect(read).toMatchObject({ error: expect.stringMatching(/^invalid_(redirect_uri|client_metadata)$/) });
  });

  test('is read without what is not known, and named by its host if it has no name', () => {
    expect(
      readRegistration({ redirect_uris: [CALLBACK, CALLBACK], client_uri: 'javascript:x', logo_uri: 1 }, 'Scopegate'),
    ).toEqual({
      name: 'app.example',
      redirect_uris: [CALLBACK],
      authentication: 'client_secret_basic',
    });
  });

  test.each(['scopegate.example', `${'x.'.repeat(60)}example`])(
    'has no name from the host %s, as from none',
    (host) => {
      expect(readRegistration({ redirect_uris: [`https://${host}/`] }, 'Scopegate')).toMatchObject({
        name: 'Unnamed app',
      });
    },
  );
});

test.each([
  ['X', 'Firefox', true],
  ['X', 'The X app', false],
  ['Box', 'Dropbox', true],
  ['Acme Inc', 'acme incorporated', false],
])('beside the site %s an app may be %s: %s', (brand, client_name, isAllowed) => {
  expect('name' in readRegistration({ redirect_uris: [CALLBACK], client_name }, brand)).toBe(isAllowed);
});

test.each([
  [CALLBACK, true],
  ['http://127.0.0.1:1234/callback', true],
  ['http://localhost/callback', true],
  ['http://[::1]:1/', true],
  ['cursor://anysphere.cursor/callback', true],
  ['com.example.app:/callback', true],
  ['http://app.example/', false],
  ['http://127.0.0.1.example/', false],
  ['javascript:alert(1)', false],
  ['JAVASCRIPT:alert(1)', false],
  ['data:text/html,x', false],
  ['file:///etc/passwd', false],
  ['https://a:b@app.example/', false],
  ['https://*.example/', false],
  ['https://a;b.example/', false],
  ['https://a,b.example/', false],
  ['https://a_b.example/', false],
  ['https://[2001:db8::1]/', false],
  ['https:app.example/callback', false],
  ['https:/app.example/callback', false],
  ['https:///app.example/callback', false],
  ['HTTPS://app.example/callback', true],
  ['claude://callback', true],
  ['vscode://publisher.extension/callback', true],
  ['other://callback', false],
  ['search-ms:query=x', false],
  ['microsoft-edge:https://app.example', false],
  ['microsoft.windows.camera:', false],
  ['x-apple.systempreferences:', false],
  [`${CALLBACK}#fragment`, false],
  [`${CALLBACK}\r\nX: y`, false],
  [`${CALLBACK}/${'x'.repeat(500)}`, false],
  ['/callback', false],
])('a redirect address may be %s: %s', (text, isAllowed) => {
  expect(redirectFault(text) === undefined).toBe(isAllowed);
});

test('an address is registered as it is written; on this machine with any port', () => {
  const own = [CALLBACK, 'http://127.0.0.1:1/a?b'];
  expect([CALLBACK, 'http://127.0.0.1:2/a?b', 'http://127.0.0.1/a?b'].every((text) => isRegistered(text, own))).toBe(
    true,
  );
  const others = [`${CALLBACK}/`, `${CALLBACK}?x`, 'https://app.example:8443/callback', 'http://localhost:1/a?b'];
  for (const text of [...others, 'http://127.0.0.1:1/b', 'https://127.0.0.1:1/a?b', 'http://x@127.0.0.1:1/a?b'])
    expect({ text, isRegistered: isRegistered(text, own) }).toEqual({ text, isRegistered: false });
});

test('people see the host, or the scheme of an app, and the policy of the page allows only that', () => {
  expect([hostOf(CALLBACK), hostOf('http://127.0.0.1:1/a'), hostOf('cursor://x/y')]).toEqual([
    ...['app.example', '127.0.0.1:1', 'cursor:'],
  ]);
  expect([`${CALLBACK}?a`, 'http://127.0.0.1:1/a', 'http://[::1]:1/a', 'cursor://x/y'].map(formActionOf)).toEqual([
    ...['https://app.example', 'http://127.0.0.1:1', 'http:', 'cursor:'],
  ]);
});

describe('the address that apps know', () => {
  const request = (host: string, from = '127.0.0.1', headers = {}) =>
    ({ headers: { host, ...headers }, socket: { remoteAddress: from } }) as unknown as IncomingMessage;
  const at = (PUBLIC_URL?: string, OAUTH: 'on' | 'off' = 'on') => ({ OAUTH, PUBLIC_URL });
  const forwarded = { 'x-forwarded-for': '203.0.113.1' };
  test.each([
    ['PUBLIC_URL with https', at('https://api.example/v'), request('x'), 'https://api.example/v'],
    ['PUBLIC_URL on this machine', at('http://localhost:1'), request('x'), 'http://localhost:1'],
    ['none with http elsewhere', at('http://api.example'), request('127.0.0.1:1'), undefined],
    ['that of a caller on this machine', at(), request('localhost:1'), 'http://localhost:1'],
    ['none for another host', at(), request('api.example'), undefined],
    ['none for a caller elsewhere', at(), request('localhost:1', '203.0.113.1'), undefined],
    ['none behind a proxy', at(), request('localhost:1', '127.0.0.1', forwarded), undefined],
    ['none if it is off', at('https://api.example', 'off'), request('x'), undefined],
  ])('is %s', (_what, config, caller, address) => {
    expect(oauthAddress(config)(caller)).toBe(address);
  });

  test('is the resource of tokens, as are the APIs below it, and its path is last in that of metadata', () => {
    const own = 'https://api.example/v';
    expect([own, `${own}/`, `${own}/mcp`, `${own}/api/v1`].every((resource) => isOwnResource(own, resource))).toBe(
      true,
    );
    const others = ['https://api.example', `${own}/mcp/x`, `${own}x`, 'https://other.example/v/mcp', 'x'];
    expect(others.some((resource) => isOwnResource(own, resource))).toBe(false);
    expect(metadataUrl(own, SERVER_METADATA)).toBe('https://api.example/.well-known/oauth-authorization-server/v');
  });
});
