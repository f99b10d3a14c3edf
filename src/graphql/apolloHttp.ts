import type { ServerResponse } from 'node:http';
import { type ApolloServer, type BaseContext, HeaderMap, type HTTPGraphQLResponse } from '@apollo/server';
import { invalidRequest } from '../errors';
import type { Exchange } from '../http/exchange';
import { checkedJson } from '../http/json';

/* HTTP requests through Apollo's own HTTP layer. */

/** An empty operation name in a query string, which means none. */
const NO_NAME = /([?&])operationName=(?=&|$)/;

function withoutEmptyName(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('operationName' in body) || body.operationName !== '') return body;
  const { operationName: _none, ...others } = body;
  return others;
}

/** The query string, with its `variables` checked and their inexact numbers replaced as those of a body are (http/json.ts). @throws AppError invalid_request */
function withCheckedVariables(search: string): string {
  // its name may be percent-encoded
  const query = new URLSearchParams(search);
  const variables = query.get('variables');
  if (variables === null) return search;
  const checked = checkedJson(variables);
  const { fault } = checked;
  if (fault) throw invalidRequest([{ parameter: 'variables', code: fault.code, detail: fault.detail }]);
  if (checked.text === variables) return search;
  query.set('variables', checked.text);
  return `?${query.toString()}`;
}

/** Runs one HTTP request through Apollo's HTTP layer. `body` is parsed JSON, or undefined if there is none; `accept` replaces that header. */
export function runApollo<Context extends BaseContext>(
  server: ApolloServer<Context>,
  { request, search }: Pick<Exchange, 'request' | 'search'>,
  body: unknown,
  context: () => Promise<Context>,
  accept?: string,
): Promise<HTTPGraphQLResponse> {
  const headers = new HeaderMap();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  if (accept !== undefined) headers.set('accept', accept);
  // a page of another site cannot send Authorization without a preflight, so a GET with it needs no other CSRF header
  if (request.headers.authorization !== undefined) headers.set('apollo-require-preflight', 'true');
  return server.executeHTTPGraphQLRequest({
    httpGraphQLRequest: {
      method: (request.method ?? 'GET').toUpperCase(),
      headers,
      search: search === '' ? '' : withCheckedVariables(search.replace(NO_NAME, '$1')),
      body: withoutEmptyName(body),
    },
    context,
  });
}

/**
 * Writes Apollo's answer with its headers alone, as its suite for servers requires, and so not by `send` (http/answer.ts). `edit` may change the
 * text of a complete answer, which can be given as bytes (fastRead.ts).
 */
export async function writeApollo(
  response: ServerResponse,
  answer: HTTPGraphQLResponse,
  edit: (text: string | Buffer) => string | Buffer | Promise<Buffer> = (text) => text,
): Promise<void> {
  const { body } = answer;
  const text = body.kind === 'complete' ? await edit(body.string) : '';
  // answered with 503 in the meantime, because it took too long
  if (response.headersSent) return;
  response.statusCode = answer.status ?? 200;
  for (const [name, value] of answer.headers) {
    // Apollo's content-length is from before the edit
    if (name !== 'content-length') response.setHeader(name, value);
  }
  if (body.kind === 'complete') {
    response.setHeader('content-length', Buffer.byteLength(text));
    response.end(text);
    return;
  }
  for await (const chunk of body.asyncIterator) response.write(chunk);
  response.end();
}
