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
