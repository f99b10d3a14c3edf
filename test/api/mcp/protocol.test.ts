import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { STATELESS, VERSIONS } from '../../../src/mcp/protocol';
import { client, type Client, type Json } from '../../support/client';
import { makeKey, makeOrganisation } from '../../support/factories';
import { served } from '../../support/gateway';

/* Messages of the Model Context Protocol, as defined by its revision 2026-07-28 and those of 2025, also from the protocol's own client. */

const gateway = served();
let key: string;
let caller: Client;

beforeAll(async () => {
  ({ key } = await makeKey(gateway, await makeOrganisation(gateway)));
  caller = client(gateway, key);
});

const META = {
  'io.modelcontextprotocol/protocolVersion': STATELESS,
  'io.modelcontextprotocol/clientCapabilities': {},
};

interface Sent {
  readonly status: number;
  readonly body: Json;
  readonly headers: Headers;
}

/** Sends a body unchanged, with additional headers. */
async function post(body: unknown, headers: Record<string, string> = {}, method = 'POST'): Promise<Sent> {
  const response = await fetch(`${gateway.url}/mcp`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    ...(method === 'POST' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

const request = (method: string, params?: object): object => ({
  jsonrpc: '2.0',
  id: 7,
  method,
  ...(params && { params }),
});

describe('a client of 2026-07-28', () => {
  const headers = { 'mcp-protocol-version': STATELESS, 'mcp-method': 'tools/list' };
  const list = request('tools/list', { _meta: META });

  test("learns the server's name, capabilities and versions", async () => {
    const { status, body } = await caller.mcp('server/discover');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      jsonrpc: '2.0',
      id: 1,
      result: {
        resultType: 'complete',
        supportedVersions: VERSIONS,
        capabilities: { tools: {} },
        serverInfo: { name: 'scopegate' },
        cacheScope: 'private',
        ttlMs: expect.any(Number),
        instructions: expect.stringContaining('minor units'),
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'scopegate' } },
      },
    });
  });

  test('needs no earlier request, and may cache its lists privately', async () => {
    const { status, body, headers: sent } = await post(list, headers);
    expect(status).toBe(200);
    expect(body.result).toMatchObject({ resultType: 'complete', cacheScope: 'private', ttlMs: expect.any(Number) });
    expect(sent.get('content-type')).toBe('application/json; charset=utf-8');
    expect(sent.get('cache-control')).toBe('no-store');
    expect(sent.has('ratelimit')).toBe(true);
  });

  test.each<[string, object, Record<string, string | undefined>, number]>([
    ['without the header of its version', META, { 'mcp-protocol-version': undefined }, -32020],
    ['whose header names another version', META, { 'mcp-protocol-version': '2025-11-25' }, -32020],
    ['without the header of its method', META, { 'mcp-method': undefined }, -32020],
    ['whose header names another method', META, { 'mcp-method': 'tools/call' }, -32020],
    ['whose header has another case', META, { 'mcp-method': 'Tools/List' }, -32020],
    ['whose body names no version', {}, {}, -32602],
    ['without capabilities', { 'io.modelcontextprotocol/protocolVersion': STATELESS }, {}, -32602],
  ])('is rejected %s', async (_title, meta, changes, code) => {
    const all = Object.entries({ ...headers, ...changes }).filter((entry): entry is [string, string] => !!entry[1]);
    const { status, body } = await post(request('tools/list', { _meta: meta }), Object.fromEntries(all));
    expect(status).toBe(400);
    expect(body).toEqual({ jsonrpc: '2.0', id: 7, error: { code, message: expect.any(String) } });
  });

  test('with a future version gets the list of supported ones', async () => {
    const meta = { ...META, 'io.modelcontextprotocol/protocolVersion': '2031-01-01' };
    const answer = await post(request('tools/list', { _meta: meta }), {
      ...headers,
      'mcp-protocol-version': '2031-01-01',
    });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({
      code: -32022,
      data: { supported: VERSIONS, requested: '2031-01-01' },
    });
  });

  // `_meta` has the version of a request since 2026-07-28 alone: whoever speaks one of 2025 has opened with `initialize`
  test.each(VERSIONS.slice(1))('that names %s in _meta learns which version it can name there', async (version) => {
    const _meta = { ...META, 'io.modelcontextprotocol/protocolVersion': version };
    for (const method of ['tools/list', 'ping', 'server/discover']) {
      const answer = await post(request(method, { _meta }), { 'mcp-protocol-version': version, 'mcp-method': method });
      expect(answer).toMatchObject({
        status: 400,
        body: { id: 7, error: { code: -32022, data: { supported: [STATELESS], requested: version } } },
      });
    }
    const mixed = await post(list, { ...headers, 'mcp-protocol-version': version });
    expect(mixed).toMatchObject({ status: 400, body: { id: 7, error: { code: -32020 } } });
  });

  test('names the tool in a header too, encoded or not', async () => {
    const call = request('tools/call', { name: 'me', arguments: {}, _meta: META });
    const named = (name: string | undefined): Promise<Sent> =>
      post(call, { ...headers, 'mcp-method': 'tools/call', ...(name !== undefined && { 'mcp-name': name }) });
    expect((await named('me')).body.result.isError).toBe(false);
    const encoded = `=?base64?${Buffer.from('me').toString('base64')}?=`;
    expect((await named(encoded)).body.result.isError).toBe(false);
    for (const wrong of ['quotes', undefined, '=?base64?!!?=']) {
      expect(await named(wrong)).toMatchObject({ status: 400, body: { id: 7, error: { code: -32020 } } });
    }
  });

  test.each(['resources/list', 'prompts/list', 'subscriptions/listen', 'initialize', 'ping', 'x'.repeat(5000)])(
    'gets 404 for an unknown method (%.20s)',
    async (method) => {
      const { status, body } = await caller.mcp(method);
      expect({ status, code: body.error.code }).toEqual({ status: 404, code: -32601 });
    },
  );
});

describe('a client of 2025', () => {
  test.each(VERSIONS.slice(1))('agrees on its version %s', async (protocolVersion) => {
    const opened = await post(
      request('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } }),
    );
    expect(opened.body.result).toMatchObject({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'scopegate' },
      instructions: expect.any(String),
    });
    expect(opened.headers.has('mcp-session-id')).toBe(false);
    const headers = { 'mcp-protocol-version': protocolVersion };
    const told = await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, headers);
    expect(told).toMatchObject({ status: 202, body: undefined });
    expect((await post(request('ping'), headers)).body).toEqual({ jsonrpc: '2.0', id: 7, result: {} });
    const { result } = (await post(request('tools/list'), headers)).body;
    expect(Object.keys(result)).toEqual(['tools']);
    const called = await post(request('tools/call', { name: 'me' }), headers);
    expect(called.body.result).toEqual({ content: [{ type: 'text', text: expect.any(String) }], isError: false });
  });

  test('that requests an unknown version gets the latest one with a handshake', async () => {
    const opened = await post(request('initialize', { protocolVersion: '2024-11-05', capabilities: {} }));
    expect(opened.body.result.protocolVersion).toBe(VERSIONS[1]);
  });

  test('gets errors with status 200, since others would end its session', async () => {
    expect(await post(request('resources/list'))).toMatchObject({ status: 200, body: { error: { code: -32601 } } });
    expect(await post(request('tools/call', { name: 'nothing' }))).toMatchObject({
      status: 200,
      body: { id: 7, error: { code: -32602 } },
    });
  });

  test('that names an unknown version is rejected', async () => {
    const { status, body } = await post(request('tools/list'), { 'mcp-protocol-version': '1999-01-01' });
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: -32022 });
  });
});

describe('an invalid message', () => {
  test.each<[string, unknown, number]>([
    ['malformed JSON', '{"jsonrpc"', -32700],
    ['an empty body', '', -32700],
    ['a duplicate member', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700],
    ['a batch', [request('ping')], -32600],
    ['another version of JSON-RPC', { jsonrpc: '1.0', method: 'ping' }, -32600],
    ['no method', { jsonrpc: '2.0', id: 1 }, -32600],
    ['a response', { jsonrpc: '2.0', id: 1, result: {} }, -32600],
    ['an id that is an object', { jsonrpc: '2.0', id: {}, method: 'ping' }, -32600],
    ['an id of 1,001 characters', { jsonrpc: '2.0', id: '1'.repeat(1001), method: 'ping' }, -32600],
    ['an id that is null', { jsonrpc: '2.0', id: null, method: 'ping' }, -32600],
    ['params that are a list', { jsonrpc: '2.0', id: 1, method: 'ping', params: [] }, -32602],
    ['null', 'null', -32600],
  ])('is rejected, with its id if it has a valid one: %s', async (_title, sent, code) => {
    const { status, body } = await post(sent);
    const idMember = JSON.stringify(sent).startsWith('{"jsonrpc":"2.0","id":1') && { id: 1 };
    expect({ status, body }).toMatchObject({ status: 400, body: { jsonrpc: '2.0', ...idMember, error: { code } } });
    if (!idMember) expect(body).not.toHaveProperty('id');
  });

  test('is rejected before it is read if it is not JSON or too large', async () => {
    expect((await post('x', { 'content-type': 'text/plain' })).body.code).toBe('unsupported_media_type');
    const large = JSON.stringify(request('ping', { text: 'x'.repeat(6 * 1024 * 1024) }));
    expect((await post(large)).status).toBe(413);
  });
});

describe('HTTP', () => {
  test.each(['GET', 'DELETE', 'PUT'])('%s is not allowed: there are no streams and no sessions', async (method) => {
    const { status, headers, body } = await post(undefined, {}, method);
    expect({ status, allow: headers.get('allow'), code: body.code }).toEqual({
      status: 405,
      allow: 'POST',
      code: 'method_not_allowed',
    });
  });

  test('every method requires a key, and says where an app gets one', async () => {
    for (const method of ['server/discover', 'tools/list', 'tools/call']) {
      const { status, headers, body } = await client(gateway).mcp(method, { name: 'me' });
      expect({ status, code: body.code }).toEqual({ status: 401, code: 'unauthenticated' });
      const metadata = `${gateway.url}/.well-known/oauth-protected-resource/mcp`;
      expect(headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${metadata}"`);
    }
  });

  test('pages of other sites are rejected, even with a key', async () => {
    const { status, body } = await post(request('ping'), { origin: 'https://evil.example' });
    expect({ status, code: body.code }).toEqual({ status: 403, code: 'forbidden' });
    // another site's name for this machine
    const { port } = new URL(gateway.url);
    const posing = await post(request('ping'), { origin: `http://evil.example:${port}`, host: `evil.example:${port}` });
    expect(posing.status).toBe(403);
    expect((await post(request('ping'), { origin: gateway.url })).status).toBe(200);
  });

  test('a client that does not accept JSON gets 406', async () => {
    expect((await post(request('ping'), { accept: 'text/event-stream' })).body.code).toBe('not_acceptable');
    expect((await post(request('ping'), { accept: '*/*' })).status).toBe(200);
  });
});

const MODES = [{ mode: { pin: '2026-07-28' } }, { mode: 'auto' }, { mode: 'legacy' }] as const;

async function connected(
  versionNegotiation: (typeof MODES)[number],
  use: (agent: McpClient) => Promise<void>,
  authorization = `Bearer ${key}`,
): Promise<void> {
  const agent = new McpClient({ name: 'test', version: '1.0.0' }, { versionNegotiation });
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), {
    requestInit: { headers: { authorization } },
  });
  await agent.connect(transport);
  try {
    await use(agent);
  } finally {
    await agent.close();
  }
}

describe.each(MODES)('a client with $mode', (negotiation) => {
  test('connects, lists tools and calls them', async () => {
    await connected(negotiation, async (agent) => {
      expect(agent.getServerVersion()?.name).toBe('scopegate');
      const { tools } = await agent.listTools();
      expect(tools.map(({ name }) => name)).toContain('customers');
      const { content, isError }: Json = await agent.callTool({ name: 'me', arguments: {} });
      expect(isError ?? false).toBe(false);
      expect(JSON.parse(content[0].text as string)).toMatchObject({ key: { name: 'test' } });
    });
  });

  test('gets an error for an unknown tool and for a wrong key', async () => {
    await connected(negotiation, async (agent) => {
      await expect(agent.callTool({ name: 'nothing', arguments: {} })).rejects.toThrow(/There is no tool "nothing"/);
    });
    await expect(connected(negotiation, () => Promise.resolve(), 'Bearer svc_live_wrong')).rejects.toThrow();
  });
});
