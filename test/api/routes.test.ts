import { METHODS } from 'node:http';
import { raw } from './http/raw';
import { type Client, client } from '../support/client';
import { callerOf } from '../support/factories';
import { late, served } from '../support/gateway';
import { argumentsOf, operations, REST } from '../support/operations';
import { RESOURCES } from '../support/resources';
import { IDS, makeStocked } from '../support/fixtures/contract';

const OF_CONTRACT = ['products', 'quotes', 'orders', 'customers', 'requests'];
const NEW = RESOURCES.filter(({ list }) => !OF_CONTRACT.includes(list));
/** The scopes for reading events: those of reading what they are about. */
const HEARD = [...OF_CONTRACT, ...NEW.map(({ list }) => list)].map((list) => `${list}:read`);

/** As in section 2 of the contract. */
const TABLE = [
  ['GET /products', 'products', 'products:read'],
  ['GET /products/:id', 'product', 'products:read'],
  ['POST /products/bulk', 'upsert_products', 'products:write'],
  ['PATCH /products/:id', 'update_product', 'products:write'],
  ['GET /quotes', 'quotes', 'quotes:read'],
  ['GET /quotes/:id', 'quote', 'quotes:read'],
  ['GET /orders', 'orders', 'orders:read'],
  ['GET /orders/:id', 'order', 'orders:read'],
  ['GET /customers', 'customers', 'customers:read'],
  ['GET /customers/:id', 'customer', 'customers:read'],
  ['POST /customers/bulk', 'upsert_customers', 'customers:write'],
  ['PATCH /customers/:id', 'update_customer', 'customers:write'],
  ['GET /requests', 'requests', 'requests:read'],
  ['GET /requests/:id', 'request', 'requests:read'],
  ['GET /requests/:id/messages', 'request_messages', 'requests:read'],
  ['POST /requests', 'open_request', 'requests:write'],
  ['PATCH /requests/:id', 'update_request', 'requests:write'],
  ['POST /requests/:id/messages', 'add_request_message', 'requests:write'],
  ['GET /me', 'me', undefined],
  ['GET /events', 'events', HEARD.join(' or ')],
];

/** Reads and writes of resources that are not in the contract. */
const OTHERS = NEW.flatMap(({ list, one }) => [
  [`GET /${list}`, list, `${list}:read`],
  [`GET /${list}/:id`, one, `${list}:read`],
  ...operations
    .filter(({ kind, rest }) => kind === 'Mutation' && rest?.path.split('/')[1] === list)
    .map(({ name, rest }) => [`${rest!.method} /${list}/:id`, name, `${list}:write`]),
]);

const ALLOW = [...new Set(TABLE.map(([route]) => route!.split(' ')[1]!)), '/openapi.json'].map((path) => {
  const id = IDS[path.split('/')[1]!.replace(/s$/, '') as keyof typeof IDS];
  const writes = ['POST', 'PATCH'].filter((method) => TABLE.some(([route]) => route === `${method} ${path}`));
  const allow = [!path.endsWith('/bulk') && 'GET, HEAD', ...writes].filter(Boolean).join(', ');
  return [path.replace(':id', id), allow] as const;
});

const UNKNOWN = [
  '/api/v1',
  '/api/v1/',
  '/api/v1//products',
  '/api/v1/products/',
  '/api/v1/Products',
  '/api/V1/products',
  '/api/v1/product',
  `/api/v1/quotes/${IDS.quote}/lines`,
  `/api/v1/requests/${IDS.request}/messages/1`,
  '/api/v1/open-request',
  '/api/v1/webhook',
  '/api/v1/webhooks',
  '/api/v1/openapi',
  '/api/v1/constructor',
  '/api/v2/products',
  '/webhook',
  '/products',
];

/** Node closes the connection on CONNECT. */
const SENDABLE = METHODS.filter((method) => method !== 'CONNECT');

const gateway = served();
const caller = late(() => callerOf(gateway, makeStocked(gateway)));

test('the REST operations are those of the contract, with their scopes', () => {
  const rows = operations.flatMap(({ name, scope, anyOf, rest }) =>
    rest ? [[`${rest.method} ${rest.path}`, name, anyOf?.join(' or ') ?? scope]] : [],
  );
  expect(rows.sort()).toEqual([...TABLE, ...OTHERS].sort());
});

test.each(UNKNOWN)('an unknown path %s gets a 404 problem, with any method and without a key', async (path) => {
  for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const { status, headers, text } = await raw(gateway.url, path, { method });
    expect({ method, status, type: headers['content-type'] }).toEqual({
      method,
      status: 404,
      type: 'application/problem+json',
    });
    expect(JSON.parse(text)).toMatchObject({ code: 'not_found', status: 404, request_id: headers['x-request-id'] });
  }
});

describe('a known path', () => {
  test.each(ALLOW)('%s returns 405 for all methods except %s', async (path, allow) => {
    const others = SENDABLE.filter((method) => !allow.split(', ').includes(method));
    expect(others.length).toBeGreaterThan(25);
    for (const method of others) {
      const { status, headers, text } = await raw(gateway.url, `/api/v1${path}`, { method });
      expect({ method, status, allow: headers.allow }).toEqual({ method, status: 405, allow });
      if (method !== 'HEAD') expect(JSON.parse(text)).toMatchObject({ code: 'method_not_allowed', status: 405 });
    }
  });

  test.each([
    ['POST', '/quotes', 'allowed: GET. Read-only: no route creates or changes quotes.'],
    ['POST', '/products', 'allowed: GET. Create or update with POST /api/v1/products/bulk.'],
    ['PUT', '/products/1', 'allowed: GET, PATCH. Change one with PATCH /api/v1/products/{id}.'],
    ['DELETE', '/requests', 'allowed: GET, POST. Change one with PATCH /api/v1/requests/{id}.'],
    ['GET', '/products/bulk', 'allowed: POST.'],
    ['POST', '/me', 'allowed: GET.'],
    ['TRACE', '/quotes', 'allowed: GET.'],
  ])('%s %s says what there is instead', async (method, path, instead) => {
    const { text } = await raw(gateway.url, `/api/v1${path}`, { method });
    expect(JSON.parse(text).detail).toBe(`${method} is not allowed here; ${instead}`);
  });

  test.each(ALLOW)('%s accepts the methods it lists (%s), which require a key', async (path, allow) => {
    const needsKey = path !== '/openapi.json';
    for (const method of allow.split(', ')) {
      const { status } = await raw(gateway.url, `/api/v1${path}`, { method });
      expect({ method, status }).toEqual({ method, status: needsKey ? 401 : 200 });
    }
  });

  test('/graphql returns 405 for all methods except GET and POST', async () => {
    for (const method of SENDABLE.filter((one) => one !== 'GET' && one !== 'POST')) {
      const { status, headers, text } = await raw(gateway.url, '/graphql', { method });
      expect({ method, status, allow: headers.allow }).toEqual({ method, status: 405, allow: 'GET, POST' });
      if (method !== 'HEAD')
        expect(JSON.parse(text).errors[0].extensions).toMatchObject({ code: 'method_not_allowed', status: 405 });
    }
  });

  test('the document and the reference need no key', async () => {
    for (const path of ['/openapi.json', '/docs']) expect((await client(gateway).get(path)).status).toBe(200);
  });
});

describe('HEAD', () => {
  test.each(operations.filter(({ rest }) => rest?.method === 'GET'))(
    'answers $name like GET, without a body',
    async (operation) => {
      const args = argumentsOf(operation, IDS);
      const get = await REST.call(caller, operation, args);
      const head = await REST.call({ ...caller, get: (path, query) => headOf(path, query) }, operation, args);
      expect(head.text).toBe('');
      expect(head.status).toBe(get.status);
      expect(fixed(head.headers)).toEqual(fixed(get.headers));
      expect(fixed(get.headers)['content-length']).toBe(String(Buffer.byteLength(get.text)));
    },
  );

  function headOf(path: string, query: Record<string, unknown> = {}): ReturnType<Client['get']> {
    const search = new URLSearchParams(query as Record<string, string>).toString();
    return caller.send('HEAD', search === '' ? path : `${path}?${search}`);
  }

  /** Headers that do not change from request to request. */
  function fixed(headers: Headers): Record<string, string> {
    const changing = /^(date|connection|keep-alive|x-request-id|ratelimit|x-ratelimit-(remaining|reset))$/;
    return Object.fromEntries([...headers].filter(([name]) => !changing.test(name)));
  }
});
