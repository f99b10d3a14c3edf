import { createRouter } from '../../src/rest/routes';
import type { Operation } from '../../src/schema/declaredOperations';

function operation(method: 'GET' | 'POST', path: string): Operation {
  return {
    name: `${method} ${path}`,
    kind: 'Query',
    scope: undefined,
    role: undefined,
    rest: { method, path, status: 200, omits: [], includes: [] },
  };
}

const route = createRouter([
  operation('GET', '/things/:id'),
  operation('GET', '/things'),
  operation('POST', '/things'),
  operation('POST', '/things/bulk'),
  operation('GET', '/things/:id/parts'),
  operation('GET', '/things/:id/:part'),
  operation('GET', '/things/bulk/:part'),
  { name: 'totals', kind: 'Query', scope: undefined, role: undefined, rest: undefined },
]);

test('words of a path win over parameters, from the left, in whatever order the operations stand', () => {
  const paths = ['/things/:id/:part', '/things/:id/parts', '/things/bulk/:part', '/things/bulk/parts'];
  const found = (order: readonly string[], path: string): string[] =>
    [...(createRouter(order.map((one) => operation('GET', one)))(path)?.methods.values() ?? [])].map(
      ({ rest }) => rest.path,
    );
  for (const order of [paths, [...paths].reverse()]) {
    expect(found(order, '/things/bulk/parts')).toEqual(['/things/bulk/parts']);
    expect(found(order, '/things/bulk/8')).toEqual(['/things/bulk/:part']);
    expect(found(order, '/things/7/parts')).toEqual(['/things/:id/parts']);
    expect(found(order, '/things/7/8')).toEqual(['/things/:id/:part']);
  }
});

describe('a path', () => {
  test.each([
    ['/things', ['GET', 'POST'], {}],
    ['/things/bulk', ['POST'], {}],
    ['/things/7', ['GET'], { id: '7' }],
    ['/things/Bulk', ['GET'], { id: 'Bulk' }],
    ['/things/a%2Fb', ['GET'], { id: 'a%2Fb' }],
    ['/things/:id', ['GET'], { id: ':id' }],
    ['/things/7/parts', ['GET'], { id: '7' }],
    ['/things/bulk/parts', ['GET'], { part: 'parts' }],
    ['/things/bulk/8', ['GET'], { part: '8' }],
    ['/things/7/8', ['GET'], { id: '7', part: '8' }],
  ])('%s has %j, with %j', (path, methods, params) => {
    const match = route(path);
    expect([...(match?.methods.keys() ?? [])].sort()).toEqual(methods);
    expect(match?.params).toEqual(params);
  });

  test.each(['', '/thing', '/things//parts', '/things/7/parts/', 'things', '/totals', '/constructor'])(
    '%p does not match',
    (path) => {
      expect(route(path)).toBeUndefined();
    },
  );
});
