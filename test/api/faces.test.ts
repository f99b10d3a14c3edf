import { callerOf } from '../support/factories';
import { late, served } from '../support/gateway';
import { argumentsOf, documentOf, facesOf, GRAPHQL, lasting, MCP, operations, REST } from '../support/operations';
import { IDS, makeStocked } from '../support/fixtures/contract';

const gateway = served();
const caller = late(() => callerOf(gateway, makeStocked(gateway)));

test.each(operations)('all APIs return the same data for $name', async (operation) => {
  const args = argumentsOf(operation, IDS);
  const values: object[] = [];
  for (const face of facesOf(operation)) {
    values.push(face.valueOf(await face.call(caller, operation, args), operation) as object);
  }
  const [first, ...others] = values;
  expect(others.length).toBeGreaterThan(0);
  for (const other of others) {
    expect(lasting(operation, other)).toEqual(lasting(operation, first));
    expect(Object.keys(other)).toEqual(Object.keys(first!));
  }
});

/** Values that all APIs reject, by argument. */
const BAD: Record<string, unknown> = {
  id: 'no-uuid',
  customer_id: 'no-uuid',
  limit: 101,
  sort: 'price',
  cursor: 'made-up',
  q: 'q'.repeat(201),
  products: [],
  customers: [],
  text: '',
  subject: 's'.repeat(201),
};

const FAULTS = operations.flatMap((operation) =>
  Object.entries(BAD)
    .filter(([argument]) => operation.rest && documentOf(operation).includes(`$${argument}:`))
    .map(([argument, value]) => ({ operation, argument, value })),
);

test.each(FAULTS)(
  'an invalid value for $argument of $operation.name is the same error in all APIs',
  async ({ operation, ...bad }) => {
    const args = argumentsOf(operation, IDS, { [bad.argument]: bad.value });
    const rest = await REST.call(caller, operation, args);
    const isParameter = operation.kind === 'Query' || operation.rest?.path.includes(`:${bad.argument}`);
    const expected = isParameter ? 'invalid_request' : 'validation_failed';
    expect(REST.errorOf(rest)).toMatchObject({ code: expected, status: rest.status });
    const { code, status, errors } = REST.errorOf(rest);
    for (const face of [GRAPHQL, MCP]) {
      const answer = await face.call(caller, operation, args);
      expect(answer.status).toBe(200);
      const problem = face.errorOf(answer)!;
      // a model is told how to find an id, too
      const found = JSON.stringify(problem.errors).replaceAll(/; [^;"]* finds it/g, '');
      expect({ ...problem, errors: JSON.parse(found) }).toMatchObject({ code, status, errors });
    }
    expect(JSON.stringify(errors)).toContain(bad.argument);
  },
);
