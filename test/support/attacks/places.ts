import type { RawRequest } from '../../api/http/raw';

/* Every place in a request where a caller can put text. */

export interface Place {
  readonly title: string;
  readonly path: string;
  readonly request: RawRequest;
  /** Whether it is business data, which is stored and shown unchanged. */
  readonly isData?: boolean;
  /** Whether the answer may contain it, because it is the name of an unknown parameter, member or field. */
  readonly isName?: boolean;
}

const SEARCH = 'query($q: String) { products(q: $q) { has_more } }';

export function placesFor(text: string): Place[] {
  const encoded = encodeURIComponent(text);
  const header = (name: string, path = '/api/v1/me'): Place => ({
    title: `the header ${name}`,
    path,
    request: { headers: { [name.toLowerCase()]: text } },
  });
  const post = (title: string, path: string, body: unknown, kind: Partial<Place> = {}): Place => {
    const content = typeof body === 'string' ? body : JSON.stringify(body);
    return { title, path, request: { method: 'POST', headers: JSON_TYPE, body: content }, ...kind };
  };
  const graphql = (title: string, query: string, more: object = {}, kind: Partial<Place> = {}): Place =>
    post(title, '/graphql', { query, ...more }, kind);
  const get = (title: string, path: string, kind: Partial<Place> = {}): Place => ({
    title,
    path,
    request: {},
    ...kind,
  });
  const authorization = (title: string, value: string, more: object = {}): Place =>
    get(`Authorization ${title}`, '/api/v1/me', { request: { headers: { authorization: value, ...more } } });
  return [
    authorization('after Bearer', `Bearer ${text}`),
    authorization('after Token', `Token ${text}`),
    { ...authorization('without a scheme', text, JSON_TYPE), path: '/graphql' },
    authorization('of Basic', `Basic ${Buffer.from(`user:${text}`).toString('base64')}`),
    ...['X-Request-Id', 'X-Api-Key', 'User-Agent', 'Referer', 'Origin', 'X-Forwarded-For', 'Forwarded'].map((name) =>
      header(name),
    ),
    ...['Cookie', 'Accept', 'Accept-Language', 'If-None-Match', 'X-Organisation-Id', 'Traceparent'].map((name) =>
      header(name),
    ),
    header('X-Request-Id', '/nowhere'),
    header('X-Request-Id', '/livez'),
    header('Apollo-Require-Preflight', '/graphql?query={__typename}'),
    post('the header Idempotency-Key', '/api/v1/requests', { text: 'Canary' }, idempotent(text)),
    post('the header Content-Type', '/api/v1/requests', '{}', {
      request: { method: 'POST', headers: { 'content-type': text } },
    }),
    get('the path of an object', `/api/v1/quotes/${encoded}`),
    get('the path of an operation', `/api/v1/${encoded}/x`),
    get('the path of a page', `/${encoded}`),
    get('the path of an error page', `/errors/${encoded}`),
    get('the path, after an upper-case letter', `/api/v1/quotes/X${encoded}`),
    get('the path, after a digit', `/api/v1/quotes/1${encoded}`),
    get('the path, after an upper-case word', `/api/v1/quotes/KEY_${encoded}`),
    get('the path, twice in a row', `/api/v1/quotes/${encoded}${encoded}`),
    get('the path, every character encoded', `/api/v1/quotes/${everyCharacterOf(text)}`),
    get('the path, encoded twice', `/api/v1/quotes/${encodeURIComponent(everyCharacterOf(text))}`),
    get('a query parameter', `/api/v1/products?q=${encoded}`),
    get('an invalid query parameter', `/api/v1/products?sort=${encoded}`),
    get('a cursor', `/api/v1/products?cursor=${encoded}`),
    get('the name of a query parameter', `/api/v1/products?${encoded}=1`, { isName: true }),
    get('the query of a page', `/?key=${encoded}`),
    get('the query of a health check', `/readyz?key=${encoded}`),
    get('the query of the metrics', `/metrics?key=${encoded}`),
    post('a text of a body', '/api/v1/requests', { text }, { isData: true }),
    post('a text of an invalid body', '/api/v1/requests', { text: 'Canary', customer_id: text }),
    post('a sku', '/api/v1/products/bulk', { products: [{ sku: text.slice(0, 64), name: text }] }, { isData: true }),
    post('the name of a member', '/api/v1/requests', { text: 'Canary', [text]: 1 }, { isName: true }),
    post('malformed JSON', '/api/v1/requests', `{"text": ${text}`),
    graphql('a GraphQL comment', `# ${text}\n{ __typename }`),
    graphql('a GraphQL literal', `{ quote(id: ${JSON.stringify(text)}) { id } }`),
    graphql(
      'a GraphQL literal of another type',
      `{ products(limit: ${JSON.stringify(text)}) { has_more } }`,
      {},
      { isName: true },
    ),
    graphql('a GraphQL field', `{ ${text} }`, {}, { isName: true }),
    graphql('a GraphQL alias', `{ ${text}: me { key { id } } }`, {}, { isName: true }),
    graphql('a GraphQL fragment', `{ ...${text} } fragment ${text} on Query { __typename }`, {}, { isName: true }),
    graphql('a GraphQL argument', `{ products(${text}: 1) { has_more } }`, {}, { isName: true }),
    graphql('a GraphQL operation', `query ${text} { __typename }`, { operationName: text }, { isName: true }),
    graphql('only operationName', '{ __typename }', { operationName: text }, { isName: true }),
    graphql('a GraphQL variable', SEARCH, { variables: { q: text } }),
    graphql('an ill-typed GraphQL variable', SEARCH, { variables: { q: { [text]: text } } }, { isName: true }),
    graphql('GraphQL extensions', '{ __typename }', { extensions: { key: text } }),
    get('a GraphQL URL', `/graphql?query={${encoded}}`, { isName: true }),
  ];
}

const JSON_TYPE = { 'content-type': 'application/json' };

function idempotent(text: string): Partial<Place> {
  return {
    request: {
      method: 'POST',
      headers: { ...JSON_TYPE, 'idempotency-key': text },
      body: JSON.stringify({ text: 'Canary' }),
    },
  };
}

function everyCharacterOf(text: string): string {
  return text.replaceAll(/./g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}
