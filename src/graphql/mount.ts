import { type ApolloServer, type BaseContext, HeaderMap, type HTTPGraphQLResponse } from '@apollo/server';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** An operation name in a query that is empty, which means none. */
const NO_NAME = /([?&])operationName=(?=&|$)/;

function withoutEmptyName(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('operationName' in body) || body.operationName !== '') return body;
  const { operationName: _none, ...others } = body;
  return others;
}

/** Runs one HTTP request through Apollo's HTTP layer. `body` is parsed JSON, or undefined if there is none; `accept` replaces that header. */
export function runApollo<Context extends BaseContext>(
  server: ApolloServer<Context>,
  request: IncomingMessage,
  body: unknown,
  context: () => Promise<Context>,
  accept?: string,
): Promise<HTTPGraphQLResponse> {
  const headers = new HeaderMap();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  if (accept !== undefined) headers.set('accept', accept);
  // no page of another site can send it without asking, so a GET with it needs no other header against CSRF
  if (request.headers.authorization !== undefined) headers.set('apollo-require-preflight', 'true');
  const target = request.url ?? '/';
  const at = target.indexOf('?');
  return server.executeHTTPGraphQLRequest({
    httpGraphQLRequest: {
      method: (request.method ?? 'GET').toUpperCase(),
      headers,
      search: at === -1 ? '' : target.slice(at).replace(NO_NAME, '$1'),
      body: withoutEmptyName(body),
    },
    context,
  });
}

/** Writes Apollo's answer; `edit` may change the text of a complete one, which can be bytes (written.ts). */
export async function writeApollo(
  response: ServerResponse,
  answer: HTTPGraphQLResponse,
  edit: (text: string | Buffer) => string | Buffer = (text) => text,
): Promise<void> {
  response.statusCode = answer.status ?? 200;
  for (const [name, value] of answer.headers) {
    // Apollo's content-length is from before the edit
    if (name !== 'content-length') response.setHeader(name, value);
  }
  if (answer.body.kind === 'complete') {
    const text = edit(answer.body.string);
    response.setHeader('content-length', Buffer.byteLength(text));
    response.end(text);
    return;
  }
  for await (const chunk of answer.body.asyncIterator) response.write(chunk);
  response.end();
}
