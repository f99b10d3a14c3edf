import { randomUUID } from 'node:crypto';
import type { Json } from '../../support/client';
import { callerOf, makeNorthwind } from '../../support/factories';
import { late, served } from '../../support/gateway';

const gateway = served();
const caller = late(() => callerOf(gateway, makeNorthwind(gateway, 3)));

test('a date whose + is not encoded is rejected with advice to encode it', async () => {
  const { status, body } = await caller.get('/products?updated_since=2026-11-01T08:30:00+02:00');
  expect(status).toBe(400);
  expect(body.errors).toEqual([
    expect.objectContaining({
      parameter: 'updated_since',
      detail: expect.stringContaining('write + as %2B') as unknown,
    }),
  ]);
});

test.each<[string, string, Json[]]>([
  ['unknown, with no value', '/products?colour', [{ parameter: 'colour', code: 'unknown' }]],
  ['in another case', '/products?Limit=1', [{ parameter: 'Limit', code: 'unknown' }]],
  ['with brackets', '/products?limit[$gt]=1', [{ parameter: 'limit[$gt]', code: 'unknown' }]],
  ['named __proto__', '/products?__proto__=1', [{ parameter: '__proto__', code: 'unknown' }]],
  ['named constructor', '/products?constructor=1', [{ parameter: 'constructor', code: 'unknown' }]],
  ['of the path, in the query', `/quotes/${randomUUID()}?id=1`, [{ parameter: 'id', code: 'unknown' }]],
  ['of a body, in the query', '/requests?text=Hello', [{ parameter: 'text', code: 'unknown' }]],
  ['twice', '/products?limit=1&limit=1', [{ parameter: 'limit', code: 'repeated' }]],
  ['twice, encoded', '/products?limit=1&%6Cimit=1', [{ parameter: 'limit', code: 'repeated' }]],
  ['an empty active', '/products?active=', [{ parameter: 'active', code: 'type' }]],
  ['an empty limit', '/products?limit=', [{ parameter: 'limit', code: 'type' }]],
  ['a limit of 20 digits', '/products?limit=99999999999999999999', [{ parameter: 'limit', code: 'range' }]],
  ['an unknown value among others', '/quotes?status=draft&status=won', [{ parameter: 'status', code: 'not_allowed' }]],
  ['several values in one', '/quotes?status=draft,sent', [{ parameter: 'status', code: 'not_allowed' }]],
  ['an invalid date', '/products?updated_since=yesterday', [{ parameter: 'updated_since', code: 'format' }]],
  ['an invalid id in the path', '/quotes/42', [{ parameter: 'id', code: 'format' }]],
  ['bad encoding', '/products?q=%E0%A4%A', [{ parameter: 'q', code: 'encoding' }]],
  ['invalid UTF-8', '/products?q=%FF', [{ parameter: 'q', code: 'encoding' }]],
  ['bad encoding in the path', '/quotes/%E0%A4%A', [{ parameter: 'id', code: 'encoding' }]],
  [
    'all errors together',
    '/products?limit=0&sort=price&active=maybe&colour=red&q=%FF',
    [
      { parameter: 'active', code: 'type' },
      { parameter: 'colour', code: 'unknown' },
      { parameter: 'limit', code: 'range' },
      { parameter: 'q', code: 'encoding' },
      { parameter: 'sort', code: 'not_allowed' },
    ],
  ],
])('a parameter is rejected %s: %s', async (_title, path, errors) => {
  const { body } = await caller.get(path);
  expect(body).toMatchObject({ status: 400, code: 'invalid_request' });
  const found = (body.errors as Json[]).map(({ parameter, code }) => ({ parameter, code }));
  expect(found.sort((a, b) => (a.parameter < b.parameter ? -1 : 1))).toEqual(errors);
});

test.each<[string, string, string]>([
  [
    '/quotes?status[]=draft&status[]=sent',
    'status[]',
    'is not a parameter of this route; repeat status for several: status=a&status=b',
  ],
  [
    '/quotes?status[0]=draft',
    'status[0]',
    'is not a parameter of this route; repeat status for several: status=a&status=b',
  ],
  [
    '/quotes?include[]=lines',
    'include[]',
    'is not a parameter of this route; repeat include for several: include=a&include=b',
  ],
  ['/quotes?limit[]=1', 'limit[]', 'is not a parameter of this route'],
  [
    '/quotes?include=lines,customer',
    'include',
    'must be one of lines, customer; repeat include for several: include=a&include=b',
  ],
  [
    '/quotes?status=draft,sent',
    'status',
    'must be one of draft, sent, accepted, declined, expired, withdrawn; repeat status for several: status=a&status=b',
  ],
  [`/quotes?id=${randomUUID()},${randomUUID()}`, 'id', 'must be a valid UUID; repeat id for several: id=a&id=b'],
  [
    '/events?types=order.created,quote.created',
    'types',
    expect.stringMatching(/^must be one of .*; repeat types for several: types=a&types=b$/),
  ],
  ['/quotes?status=won', 'status', 'must be one of draft, sent, accepted, declined, expired, withdrawn'],
  ['/products?active=1', 'active', 'must be true or false'],
  ['/products?active=yes', 'active', 'must be true or false'],
])('%s: the error says how to write it', async (path, parameter, detail) => {
  const { body } = await caller.get(path);
  expect(body.errors).toContainEqual(expect.objectContaining({ parameter, detail }));
});

test('a sku may have a comma', async () => {
  expect(await caller.get('/products?sku=a,b')).toMatchObject({ status: 200, body: { data: [] } });
});

describe('a parameter is accepted', () => {
  const ALL = 3;
  test.each([
    ['an empty search, as if omitted', '/quotes?q=', ALL],
    ['a search without a letter or digit', '/quotes?q=-', 0],
    ['a stray &', '/quotes?&&limit=3&', ALL],
    ['a plus for a space', '/products?q=aniseed+syrup', 1],
    ['encoded', '/products?q=%61niseed%20syrup', 1],
    ['repeated if the filter allows it', '/quotes?status=accepted&status=declined', ALL],
    ['a date with an offset', '/products?updated_since=1996-06-01T02:00:00%2B02:00', ALL],
    ['a date in the future', '/products?updated_since=2999-01-01T00:00:00Z', 0],
    ['in the range', '/quotes?limit=1', 1],
  ])('%s: %s', async (_title, path, rows) => {
    const { status, body } = await caller.get(path);
    expect({ status, rows: body.data?.length }).toEqual({ status: 200, rows });
  });
});

describe('Accept', () => {
  test.each([
    '',
    '*/*',
    'application/*',
    'application/json',
    'application/json; charset=utf-8',
    'text/html, application/json;q=0.5',
    'text/html, */*;q=0.1',
    'application/problem+json, application/json',
    'application/json; charset=utf8',
    'application/json; profile="a, b; q=0"; q=0.4',
    'text/html;level=1, application/json;odata.metadata=minimal',
  ])('%s gets JSON', async (accept) => {
    const { status, headers } = await caller.get('/me', {}, { accept });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  test.each([
    'text/html',
    'application/xml',
    'application/json;q=0',
    'application/json; charset=utf8; q=0',
    'application/jsonp',
    'text/*, image/png',
  ])('%s gets 406', async (accept) => {
    expect((await caller.get('/me', {}, { accept })).body).toMatchObject({ status: 406, code: 'not_acceptable' });
  });
});
