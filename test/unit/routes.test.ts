import { createRouter } from '../../src/rest/routes/routes';
import type { Operation } from '../../src/schema/operations';

function operation(method: 'GET' | 'POST', path: string): Operation {
  return {
    name: `${method} ${path}`,
    kind: 'Query',
    scope: undefined,
    role: undefined,
    rest: { method, path, status: 200 },
  };
}

const route = createRouter([
  operation('GET', '/things/:id'),
  operation('GET', '/things'),
  operation('POST', '/things'),
  operation('POST', '/things/bulk'),
  operation('GET', '/things/:id/parts'),
  { name: 'totals', kind: 'Query', scope: undefined, role: undefined, rest: undefined },
]);

describe('a path', () => {
  test.each([
    ['/things', ['GET', 'POST'], {}],
    ['/things/bulk', ['POST'], {}],
    ['/things/7', ['GET'], { id: '7' }],
    ['/things/Bulk', ['GET'], { id: 'Bulk' }],
    ['/things/a%2Fb', ['GET'], { id: 'a%2Fb' }],
    ['/things/:id', ['GET'], { id: ':id' }],
    ['/things/7/parts', ['GET'], { id: '7' }],
    ['/things/bulk/parts', ['GET'], { id: 'bulk' }],
  ])('%s has %j, with %j', (path, methods, params) => {
    const match = route(path);
    expect([...(match?.methods.keys() ?? [])].sort()).toEqual(methods);
    expect(match?.params).toEqual(params);
  });

  test.each([
    '',
    '/',
    '/thing',
    '/Things',
    '/things/',
    '/things//parts',
    '/things/7/parts/',
    '/things/7/8',
    'things',
    '//things',
    '/totals',
    '/constructor',
  ])('%p does not match', (path) => {
    expect(route(path)).toBeUndefined();
  });
});
