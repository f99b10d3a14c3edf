import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { getNamedType, type GraphQLField, type GraphQLObjectType, type OperationDefinitionNode, parse } from 'graphql';
import mongoose from 'mongoose';
import type { CallContext, DataContext } from '../../src/operations/context';
import { createPageWriter, createSingleWriter } from '../../src/fastReads/answerWriter';
import { UnsupportedValue } from '../../src/mongo/bson';
import { onlyRoot } from '../../src/graphql/fastRead';
import { resolvers } from '../../src/resources';
import { pageShape, shapeOf } from '../../src/fastReads/shapes';
import { restOperations } from '../../src/rest/routes';
import { sofaHandlers } from '../../src/rest/sofa';
import { buildSchemas } from '../../src/operations/build';
import { createExecutor } from '../../src/operations/execution';
import { createRunner } from '../../src/operations/runner';
import { mergeResolvers } from '../../src/operations/run';
import { published } from '../../src/schema/model';
import { everyField } from '../../src/operations/selection';
import { settingsResolvers } from '../../src/settings/resolvers';
import { damage, damaged, objectOf, rawRows, selectionOf, twice } from '../support/arbitraryRows';

/*
 * Answers written from the database's bytes are byte for byte those that are made from objects, or are not written at all
 * (docs/decisions/fast.md).
 */

// the same cases on every machine; a failure prints how to reproduce it
fc.configureGlobal({ seed: 20261122 });

const { serialize, deserialize } = mongoose.mongo.BSON;

const LISTS = ['products', 'customers', 'quotes', 'orders', 'requests'];
const TYPES = ['product', 'customer', 'quote', 'order', 'request'];

let found: unknown;
const given = Object.fromEntries([...LISTS, ...TYPES].map((name) => [name, () => found]));
const schemas = buildSchemas(
  published,
  mergeResolvers(resolvers, settingsResolvers, {
    Query: given,
  }),
);
const { rest, graphql } = schemas;
const operations = restOperations(schemas.operations);
const runner = createRunner(schemas);
const sofa = sofaHandlers(runner.routes, operations);
const turn = (): Promise<void> => Promise.resolve();
const context = {
  authorise: () => undefined,
  pauses: { yieldToOthers: turn, yieldTurn: turn, budget: () => undefined },
} as unknown as DataContext;

function rootField(name: string): GraphQLField<unknown, CallContext> {
  return rest.getQueryType()!.getFields()[name]!;
}

/** The handler of a read, with what is included. */
function handlerOf(name: string, included: readonly string[] = []) {
  const operation = operations.find((operation) => operation.name === name)!;
  const { field, runOf } = runner.of(operation)!;
  return sofa(operation, field).bind(undefined, runOf(everyField(field.type, included)));
}

/** Today's answer from objects; undefined if it is an error. */
async function fromObjects(
  handle: ReturnType<typeof handlerOf>,
  args: Record<string, unknown>,
  value: () => unknown,
): Promise<string | undefined> {
  try {
    found = value();
    return String((await handle(args, { ...context })).text);
  } catch {
    return undefined;
  }
}

/** The answer from bytes; undefined if it is not written. */
function fromBytes(write: () => Buffer): string | undefined {
  try {
    return write().toString();
  } catch (error) {
    if (error instanceof UnsupportedValue) return undefined;
    throw error;
  }
}

/** Expects that cases are written exactly as from objects, or not at all; both must happen, or this shows nothing. */
async function expectSame<T>(
  all: fc.Arbitrary<T>,
  answers: (one: T) => { readonly written: string | undefined; readonly usual: () => Promise<string | undefined> },
  { numRuns = 400, unwritten = 20 } = {},
): Promise<void> {
  const outcomes = { written: 0, not: 0 };
  await fc.assert(
    fc.asyncProperty(all, async (one) => {
      const { written, usual } = answers(one);
      outcomes[written === undefined ? 'not' : 'written'] += 1;
      if (written !== undefined) expect(written).toBe(await usual());
    }),
    { numRuns },
  );
  expect(outcomes.written).toBeGreaterThan(20);
  expect(outcomes.not).toBeGreaterThan(unwritten);
}

const serialized = (rows: readonly object[]): Uint8Array[] => rows.map((row) => serialize(row));

interface Case {
  readonly name: string;
  readonly include?: string;
}

const cases: Case[] = [
  ...LISTS.map((name) => ({ name })),
  ...['quotes', 'orders'].map((name) => ({ name, include: 'lines' })),
];

describe.each(cases)('$name, include $include', ({ name, include }) => {
  const { type } = rootField(name);
  const included = include === undefined ? [] : [include];
  const args = { include: included };
  const handle = handlerOf(name, included);
  const selected = everyField(type, included);
  const rowType = getNamedType(selected.find(({ key }) => key === 'data')!.field!.type) as GraphQLObjectType;
  const writer = createPageWriter(pageShape(selected)!);
  const cursor = fc.option(fc.string());

  const answers = (rows: readonly Uint8Array[], most: number, next: string | null) => ({
    written: fromBytes(() => writer.write(rawRows(rows), most, next)),
    usual: () =>
      fromObjects(handle, args, () => {
        const data = rows.map((row) => deserialize(row)).slice(0, most);
        return { data, has_more: rows.length > most, next_cursor: next };
      }),
  });

  test('ordinary rows are written from bytes, exactly as from objects', async () => {
    const rows = fc.array(objectOf(rowType, { oneOf: 0 }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(rows, fc.nat({ max: 4 }), cursor, async (page, most, next) => {
        const { written, usual } = answers(serialized(page), most, next);
        expect(written).toBeDefined();
        expect(written).toBe(await usual());
      }),
      { numRuns: 60 },
    );
  });

  test('rows of any kind are written exactly as from objects, or not at all', async () => {
    const page = fc.array(objectOf(rowType, { oneOf: 25 }), { minLength: 1, maxLength: 2 });
    await expectSame(fc.tuple(page, fc.nat({ max: 2 }), damage), ([rows, most, changes]) =>
      answers(damaged(serialized(rows), changes), most, null),
    );
  });
});

test('an object with a duplicate member is not written, since the driver would take the last value', async () => {
  const type = getNamedType(rootField('quote').type) as GraphQLObjectType;
  const writer = createSingleWriter(shapeOf(type, everyField(type))!);
  await fc.assert(
    fc.asyncProperty(
      objectOf(type, { oneOf: 0 }),
      fc.constantFrom('number', 'total_minor', 'lines'),
      async (row, member) => {
        const bytes = twice(serialize(row), serialize({ [member]: row[member] }));
        expect(await fromObjects(handlerOf('quote'), { id: randomUUID() }, () => deserialize(bytes))).toBeDefined();
        expect(fromBytes(() => writer.write(Buffer.from(bytes)))).toBeUndefined();
      },
    ),
    { numRuns: 20 },
  );
});

describe.each(TYPES)('%s', (name) => {
  const type = getNamedType(rootField(name).type) as GraphQLObjectType;
  const writer = createSingleWriter(shapeOf(type, everyField(type))!);

  test('an object of any kind is written exactly as from objects, or not at all', async () => {
    await expectSame(fc.tuple(objectOf(type, { oneOf: 25 }), damage), ([row, changes]) => {
      const [bytes] = damaged([serialize(row)], changes) as [Uint8Array];
      return {
        written: fromBytes(() => writer.write(Buffer.from(bytes))),
        usual: () => fromObjects(handlerOf(name), { id: randomUUID() }, () => deserialize(bytes)),
      };
    });
  });
});

describe.each(LISTS)('GraphQL: %s', (name) => {
  const pageType = getNamedType(graphql.getQueryType()!.getFields()[name]!.type) as GraphQLObjectType;
  const rowType = getNamedType(pageType.getFields().data!.type) as GraphQLObjectType;
  const execute = createExecutor(graphql);

  test('any selection is written exactly as from objects, or not at all', async () => {
    const page = fc.array(objectOf(rowType, { oneOf: 60 }), { maxLength: 2 });
    const order = fc.shuffledSubarray(['has_more', 'next_cursor', 'more: has_more', '__typename'], { minLength: 0 });
    const all = fc.tuple(page, selectionOf(rowType), order, damage);
    await expectSame(
      all,
      ([rows, selection, [before = '', ...after], changes]) => {
        const document = parse(`{ root: ${name} { ${before} data ${selection} ${after.join(' ')} } }`);
        const [operation] = document.definitions as [OperationDefinitionNode];
        const { key, selected } = onlyRoot(graphql, document, operation)!;
        const bytes = damaged(serialized(rows), changes);
        const written = fromBytes(() => createPageWriter(pageShape(selected)!).write(rawRows(bytes), 1, 'next'));
        return {
          written: written === undefined ? undefined : `{"${key}":${written}}`,
          usual: async () => {
            const data = bytes.map((row) => deserialize(row)).slice(0, 1);
            found = { data, has_more: bytes.length > 1, next_cursor: 'next' };
            const answer = await execute({ document, operation, contextValue: { ...context }, variableValues: {} });
            expect(answer.errors).toBeUndefined();
            return JSON.stringify(answer.data);
          },
        };
      },
      { numRuns: 150, unwritten: 5 },
    );
  });
});
