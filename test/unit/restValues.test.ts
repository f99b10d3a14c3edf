import { parse } from 'graphql';
import type { CallContext } from '../../src/operations/context';
import type { Exchange } from '../../src/http/exchange';
import { argumentReader, restOperations } from '../../src/rest/routes';
import { sofaHandlers } from '../../src/rest/sofa';
import { SchemaModel } from '../../src/schema/model';
import { buildSchemas } from '../../src/operations/build';
import { createRunner } from '../../src/operations/runner';
import { everyField } from '../../src/operations/selection';
import { buildOpenApi } from '../../src/openapi';
import { read } from '../docs/markdown';

/* Types of values in paths and queries that no public operation has yet. */

const BASE = read('schema/base.graphql');
const SDL = `${BASE}
  enum Unit { mm inch }
  type Found { name: String }
  extend type Query {
    "Find by numbers."
    found(year: Int!, ratio: Float, sizes: [Int!] @constraint(max_items: 20), price: Minor, exact: Boolean!, unit: Unit, most: Int! = 7): Found
      @rest(path: "/found/:year") @access
    "Returns long names."
    many: Many @rest(path: "/many") @access
  }
  type Many { all: [Found!]! }
  extend type Mutation { make: Found @access(scope: PRODUCTS_WRITE) }`;

const schemas = buildSchemas(new SchemaModel(parse(SDL)), {
  Query: {
    found: (_: unknown, args: unknown) => ({ name: JSON.stringify(args) }),
    many: () => ({ all: Array.from({ length: 10 }, () => ({ name: 'n'.repeat(100_000) })) }),
  },
  Mutation: { make: () => null },
});
const document = buildOpenApi(new SchemaModel(parse(SDL)));
const runner = createRunner(schemas);
const operations = restOperations(schemas.operations);
const [operation, many] = operations;
const { field, checks, runOf } = runner.of(operation!)!;
const run = runOf(everyField(field.type));
const check = argumentReader(operation!, field, checks);
const handlerOf = sofaHandlers(runner.routes, operations);
const handle = handlerOf(operation!, field);
const context = { authorise: () => undefined } as unknown as CallContext;

async function call(year: string, query: string): Promise<unknown> {
  const args = await check({ search: `?${query}`, request: { headers: {} } } as Exchange, { year });
  return JSON.parse((JSON.parse(String((await handle(run, args, context)).text)) as { name: string }).name);
}

test('numbers, flags and enums reach the operation as what they are, from path and query', async () => {
  const query = 'ratio=-1.25&sizes=3&sizes=4&price=9007199254740991&exact=true&unit=mm';
  expect(await call('2026', query)).toEqual({
    year: 2026,
    ratio: -1.25,
    sizes: [3, 4],
    price: 9_007_199_254_740_991,
    exact: true,
    unit: 'mm',
    most: 7,
  });
});

test.each([
  ['soon', 'exact=true', 'year'],
  ['2026.5', 'exact=true', 'year'],
  ['2026', 'exact=true&ratio=1e3', 'ratio'],
  ['2026', 'exact=true&sizes=3&sizes=x', 'sizes'],
  ['2026', 'exact=yes', 'exact'],
  ['2026', 'exact=true&unit=km', 'unit'],
  ['2026', '', 'exact'],
])('the path %s with the query %j is refused, naming %s', async (year, query, parameter) => {
  await expect(call(year, query)).rejects.toMatchObject({
    code: 'invalid_request',
    extras: { errors: [{ parameter }] },
  });
});

test('the document says which parameters must be sent: all that are non-null and have no default', () => {
  const { parameters } = document.paths['/found/{year}']!.get!;
  expect(parameters.filter(({ required }) => required).map(({ name }) => name)).toEqual(['year', 'exact']);
});

test('a list repeated thousands of times is refused for its length, without a copy for each time', async () => {
  const { [Symbol.iterator]: iterate } = Array.prototype;
  let iterated = 0;
  const counting = function (this: unknown[]): ReturnType<typeof iterate> {
    iterated += this.length;
    return iterate.call(this);
  };
  const set = (value: typeof iterate): unknown => Object.assign(Array.prototype, { [Symbol.iterator]: value });
  await call('2026', 'exact=true');
  set(counting);
  const refused = call('2026', `exact=true${'&sizes'.repeat(3000)}`).catch((error: unknown) => error);
  set(iterate);
  expect(await refused).toMatchObject({ extras: { errors: [{ parameter: 'sizes', code: 'length' }] } });
  expect(iterated).toBeLessThan(100_000);
});

test('a long answer is written in pieces, between which others have their turn', async () => {
  const yieldToOthers = jest.fn(() => Promise.resolve());
  const pauses = { yieldToOthers, budget: () => undefined };
  const longContext = { ...context, pauses } as unknown as CallContext;
  const { field: all, runOf: runAll } = runner.of(many!)!;
  const { text } = await handlerOf(many!, all)(runAll(everyField(all.type)), {}, longContext);
  expect(JSON.parse(String(text))).toMatchObject({ all: { length: 10 } });
  expect(yieldToOthers.mock.calls.length).toBeGreaterThan(1);
});
