import { STATELESS } from '../../src/mcp/protocol';
import { expectDescribed } from './openapi';

/** Parsed JSON of an answer, untyped for use in tests. */
// oxlint-disable-next-line typescript/no-explicit-any -- expectations state what they expect there
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON; undefined without a body. */
  readonly body: Json;
  readonly text: string;
}

export interface Client {
  /** GET below /api/v1. Array values repeat the parameter. */
  get(path: string, query?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  patch(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Any request below /api/v1, with its body sent unchanged. */
  send(method: string, path: string, init?: { body?: BodyInit; headers?: Record<string, string> }): Promise<Answer>;
  graphql(query: string, variables?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer>;
  /** A request of the Model Context Protocol, of revision 2026-07-28. */
  mcp(method: string, params?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer>;
}

/** A caller with or without a key. Every REST answer is validated against the published OpenAPI document. */
export function client(gateway: { readonly url: string }, key?: string): Client {
  const authorization: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };

  async function send(
    method: string,
    path: string,
    init: { body?: BodyInit; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const response = await fetch(`${gateway.url}/api/v1${path}`, {
      method,
      headers: { ...authorization, ...init.headers },
      ...(init.body === undefined ? {} : { body: init.body }),
    });
    const answer = await toAnswer(response);
    if (method !== 'HEAD') expectDescribed(method, path, answer.status, answer.headers, answer.body);
    return answer;
  }

  const sending =
    (method: string): Client['post'] =>
    (path, body, headers = {}) =>
      send(method, path, { body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } });

  return {
    send,
    mcp: async (method, params = {}, headers = {}) =>
      toAnswer(
        await fetch(`${gateway.url}/mcp`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            ...authorization,
            'mcp-protocol-version': STATELESS,
            'mcp-method': method,
            ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
            ...headers,
          },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } }),
        }),
      ),
    get: (path, query = {}, headers = {}) => send('GET', path + queryText(query), { headers }),
    post: sending('POST'),
    patch: sending('PATCH'),
    graphql: async (query, variables, headers = {}) =>
      toAnswer(
        await fetch(`${gateway.url}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...authorization, ...headers },
          body: JSON.stringify({ query, ...(variables && { variables }) }),
        }),
      ),
  };
}

const META = {
  'io.modelcontextprotocol/protocolVersion': STATELESS,
  'io.modelcontextprotocol/clientCapabilities': {},
};

async function toAnswer(response: Response): Promise<Answer> {
  const { status, headers } = response;
  if (headers.get('content-type')?.startsWith('text/event-stream')) {
    const text = await firstData(response);
    return { status, headers, text, body: JSON.parse(text) };
  }
  const text = await response.text();
  const isJson = (response.headers.get('content-type') ?? '').includes('json') && text !== '';
  return { status, headers, text, body: isJson ? JSON.parse(text) : undefined };
}

/** The first data of a stream, which is then closed. */
async function firstData({ body }: Response): Promise<string> {
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ''; ;) {
    const { done, value = '' } = await reader.read();
    text += value;
    const data = /^data: (.+)\n\n/m.exec(text)?.[1];
    if (data === undefined && !done) continue;
    await reader.cancel();
    if (data !== undefined) return data;
    throw new Error(`a stream without data: ${text}`);
  }
}

function queryText(query: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) params.append(name, String(one));
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

/** Follows `next_cursor` to the end. */
export async function readAll(caller: Client, path: string, query: Record<string, unknown> = {}): Promise<Json[]> {
  const rows: Json[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { status, body } = await caller.get(path, { ...query, ...(cursor === undefined ? {} : { cursor }) });
    if (status !== 200) throw new Error(`${path}: ${String(status)} ${JSON.stringify(body)}`);
    rows.push(...body.data);
    cursor = body.next_cursor as string | null;
  }
  return rows;
}
