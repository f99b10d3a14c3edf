import type { Json } from '../../support/client';
import { expectDescribed } from '../../support/openapi';
import { makeKey, makeOrganisation } from '../../support/factories';
import { served, withGateway } from '../../support/gateway';
import { head as headOf, openWire } from '../../operations/wire';

/* Request heads that no client library sends (RFC 9112, section 3.2), and connections that are kept. */

const gateway = served();
let authorization: string;

beforeAll(async () => {
  authorization = `Authorization: Bearer ${(await makeKey(gateway, await makeOrganisation(gateway))).key}`;
});

interface HeadAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Json;
}

/** Sends a head, and reads the answer until the connection ends. */
async function send(...lines: string[]): Promise<HeadAnswer> {
  const wire = await openWire(gateway.url);
  wire.send(`${lines.join('\r\n')}\r\n\r\n`);
  const [head = '', body = ''] = (await wire.whole()).split('\r\n\r\n');
  const [status = '', ...headers] = head.split('\r\n');
  const named = headers.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 2),
  ]);
  return {
    status: Number(status.split(' ')[1]),
    headers: new Map(named as [string, string][]),
    body: JSON.parse(body),
  };
}

const END = 'Connection: close';

test.each([
  ['a host', 'http://api.example/api/v1/me'],
  ['a host, a port and another scheme', 'HTTPS://api.example:8443/api/v1/me'],
  ['a query', 'http://api.example/api/v1/products?limit=1'],
])('a target in absolute form is answered like its path: with %s', async (_what, target) => {
  const { status } = await send(`GET ${target} HTTP/1.1`, 'Host: api.example', authorization, END);
  expect(status).toBe(200);
});

test('a header after a thousand others counts', async () => {
  const others = Array.from({ length: 1000 }, () => 'b:');
  const { status } = await send('GET /api/v1/me HTTP/1.1', 'Host: api.example', ...others, authorization, END);
  expect(status).toBe(200);
});

test('a target in absolute form without a path is the root', async () => {
  const { status, body } = await send('GET http://api.example HTTP/1.1', 'Host: x', 'Accept: application/json', END);
  expect([status, body.code]).toEqual([406, 'not_acceptable']);
});

test.each<[string, number, string[]]>([
  ['two Host headers', 400, ['GET /api/v1/me HTTP/1.1', 'Host: a.example', 'host: b.example', END]],
  ['no Host', 400, ['GET /api/v1/me HTTP/1.1', END]],
  ['an invalid Host', 400, ['GET /api/v1/me HTTP/1.1', 'Host: a/b', END]],
  ['a target with a user', 400, ['GET http://me@a.example/api/v1/me HTTP/1.1', 'Host: a.example', END]],
  ['an unsupported Expect', 417, ['POST /api/v1/requests HTTP/1.1', 'Host: x', 'Expect: other', END]],
  ['CONNECT', 400, ['CONNECT a.example:443 HTTP/1.1', 'Host: a.example:443']],
  ['a header without a name', 400, ['GET /api/v1/me HTTP/1.1', 'Host: x', ': y', END]],
  ['headers that are too large', 431, ['GET /api/v1/me HTTP/1.1', 'Host: x', `X: ${'x'.repeat(20_000)}`, END]],
])('is refused with a problem that the document describes, and a request id: %s', async (_what, expected, lines) => {
  const { status, headers, body } = await send(...lines);
  expect(status).toBe(expected);
  expect(headers.get('content-type')).toBe('application/problem+json');
  expect(body).toMatchObject({ status, code: 'invalid_request', request_id: headers.get('x-request-id') });
  const [method = '', path = ''] = (lines[0] ?? '').split(' ');
  // the document does not have what no client of it sends
  if (status !== 417) expectDescribed(method, path.replace('/api/v1', ''), status, new Headers([...headers]), body);
});

test('HTTP/1.0 needs no Host', async () => {
  expect((await send('GET /api/v1/me HTTP/1.0', authorization)).status).toBe(200);
});

const MAX_LIST = 1024;
const listOf = (one: string, length: number): string => `${one},`.repeat(MAX_LIST).slice(0, length - 1) + 'x';

test.each([
  ['a list', '/api/v1/products', undefined],
  ['GraphQL', '/graphql', '{"query":"{ me { mode } }"}'],
  ['MCP', '/mcp', '{"jsonrpc":"2.0","id":1,"method":"ping"}'],
  ['a page', '/errors/not_found', undefined],
])('Accept is ignored if it is longer than 1,024 characters: %s', async (_what, path, body) => {
  const content =
    body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${String(body.length)}`];
  async function statusFor(length: number): Promise<number> {
    const wire = await openWire(gateway.url);
    const accept = `Accept: ${listOf('image/png', length)}`;
    const head = [
      `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`,
      'Host: x',
      authorization,
      accept,
      ...content,
      END,
    ];
    wire.send(`${head.join('\r\n')}\r\n\r\n${body ?? ''}`);
    return Number((await wire.whole()).split(' ')[1]);
  }
  expect([await statusFor(MAX_LIST), await statusFor(MAX_LIST + 1)]).toEqual([406, 200]);
});

test('and so is Accept-Encoding', async () => {
  const encodingFor = async (length: number): Promise<string | undefined> => {
    const encodings = `Accept-Encoding: ${listOf('gzip', length)}`;
    const wire = await openWire(gateway.url);
    wire.send(['GET /api/v1/openapi.json HTTP/1.1', 'Host: x', encodings, END, '\r\n'].join('\r\n'));
    return /^content-encoding: (\S+)/im.exec(await wire.whole())?.[1];
  };
  expect([await encodingFor(MAX_LIST), await encodingFor(MAX_LIST + 1)]).toEqual(['gzip', undefined]);
});

test('an idle connection is kept for 65 s, or as long as KEEP_ALIVE_TIMEOUT says, and then closed', async () => {
  /** Asks over a connection that stays open, and reads what it is told. */
  const ask = async (url: string): Promise<Awaited<ReturnType<typeof openWire>>> => {
    const wire = await openWire(url);
    wire.send(`${headOf('GET /livez')}\r\n`);
    return wire;
  };
  const kept = await ask(gateway.url);
  expect(await kept.until(/\r\n\r\n/)).toMatch(/^Keep-Alive: timeout=65\r$/m);
  kept.socket.destroy();
  await withGateway({ KEEP_ALIVE_TIMEOUT: '1' }, async ({ url }) => {
    expect(await (await ask(url)).whole()).toMatch(/^Keep-Alive: timeout=1\r$/m);
  });
});
