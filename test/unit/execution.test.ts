import { buildSchema, getOperationAST, parse } from 'graphql';
import * as jit from 'graphql-jit';
import { createExecutor } from '../../src/operations/execution';

jest.mock('graphql-jit', () => {
  const actual = jest.requireActual<typeof jit>('graphql-jit');
  return { ...actual, compileQuery: jest.fn(actual.compileQuery) };
});

const SCHEMA = buildSchema('type Query { a: Int }');

test.each([
  ['compiled when it is repeated', true, 1],
  ['never compiled if it is too large', false, 0],
])('an operation is %s', async (_title, isWorthIt, times) => {
  jest.mocked(jit.compileQuery).mockClear();
  const execute = createExecutor(SCHEMA, { isWorthCompiling: () => isWorthIt });
  const document = parse('{ a }');
  const operation = getOperationAST(document)!;
  for (let time = 0; time < 5; time += 1) {
    const { data } = await execute({ document, operation, contextValue: {}, variableValues: {} });
    expect(data).toEqual({ a: null });
  }
  expect(jit.compileQuery).toHaveBeenCalledTimes(times);
});
