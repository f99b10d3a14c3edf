import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { getNamedType, type GraphQLField, type GraphQLObjectType, type OperationDefinitionNode, parse } from 'graphql';
import mongoose from 'mongoose';
import type { RequestContext } from '../../src/operations/context';
import { pageWriter, singleWriter } from '../../src/fastReads/answerWriter';
import { UnsupportedValue } from '../../src/database/rawRows';
import { onlyRoot } from '../../src/graphql/fastRead';
import { collections, resolvers } from '../../src/resources';
import { pageShape, shapeOf } from '../../src/fastReads/shapes';
import { restOperations } from '../../src/rest/routes';
import { createSofaRouter, sofaHandler } from '../../src/rest/sofa';
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

/** What the resolvers below return. */
let found: unknown;
const given = Object.fromEntries([...LISTS, ...TYPES].map((name) => [name, () => found]));
const schemas = buildSchemas(
  published,
  mergeResolvers(resolvers, settingsResolvers, {
    Query: given,
  }),
  collections,
);
const { rest, graphql } = schemas;
const operations = restOperations(schemas.operations);
const sofa = createSofaRouter(createRunner(schemas).routes, operations);
const context = { authorise: () => undefined } as unknown as RequestContext;

function rootField(name: string): GraphQLField<unknown, RequestContext> {
  return rest.getQueryType()!.getFields()[name]!;
}

/** Today's answer from objects; undefined if it is an error. */
async function fromObjects(
  name: string,
  args: Record<string, unknown>,
  value: () => unknown,
): Promise<string | undefined> {
  const handle = sofaHandler(
    sofa,
    operations.find((operation) => operation.name === name)!,
    rootField(name),
  );
  try {
    found = value();
    return String((await handle(args, { ...context })).body);
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
  const selected = everyField(type, included);
  const rowType = getNamedType(selected.find(({ key }) => key === 'data')!.field!.type) as GraphQLObjectType;
  const writer = pageWriter(pageShape(selected)!);
  const cursor = fc.option(fc.string());

  async function both(rows: readonly Uint8Array[], most: number, next: string | null): Promise<(string | undefined)[]> {
    const written = fromBytes(() => writer.write(rawRows(rows), most, next));
    const usual = await fromObjects(name, args, () => {
      const data = rows.map((row) => deserialize(row)).slice(0, most);
      return { data, has_more: rows.length > most, next_cursor: next };
    });
    return [written, usual];
  }

  test('ordinary rows are written from bytes, exactly as from objects', async () => {
    const rows = fc.array(objectOf(rowType, { oneOf: 0 }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(rows, fc.nat({ max: 4 }), cursor, async (page, most, next) => {
        const [written, usual] = await both(
          page.map((row) => serialize(row)),
          most,
          next,
        );
        expect(usual).toBeDefined();
        expect(written).toBe(usual);
      }),
      { numRuns: 60 },
    );
  });

  test('rows of any kind are written exactly as from objects, or not at all', async () => {
    const page = fc.array(objectOf(rowType, { oneOf: 25 }), { minLength: 1, maxLength: 2 });
    const outcomes = { written: 0, not: 0 };
    await fc.assert(
      fc.asyncProperty(page, fc.nat({ max: 2 }), damage, async (rows, most, changes) => {
        const [written, usual] = await both(
          damaged(
            rows.map((row) => serialize(row)),
            changes,
          ),
          most,
          null,
        );
        outcomes[written === undefined ? 'not' : 'written'] += 1;
        if (written !== undefined) expect(written).toBe(usual);
      }),
      { numRuns: 400 },
    );
    // both happen, or this shows nothing
    expect(outcomes.written).toBeGreaterThan(20);
    expect(outcomes.not).toBeGreaterThan(20);
  });
});

test('an object with a duplicate member is not written, since the driver would take the last value', async () => {
  const type = getNamedType(rootField('quote').type) as GraphQLObjectType;
  const writer = singleWriter(shapeOf(type, everyField(type))!);
  await fc.assert(
    fc.asyncProperty(
      objectOf(type, { oneOf: 0 }),
      fc.constantFrom('number', 'total_minor', 'lines'),
      async (row, member) => {
        const bytes = twice(serialize(row), serialize({ [member]: row[member] }));
        expect(await fromObjects('quote', { id: randomUUID() }, () => deserialize(bytes))).toBeDefined();
        expect(fromBytes(() => writer.write(Buffer.from(bytes)))).toBeUndefined();
      },
    ),
    { numRuns: 20 },
  );
});

describe.each(TYPES)('%s', (name) => {
  const type = getNamedType(rootField(name).type) as GraphQLObjectType;
  const writer = singleWriter(shapeOf(type, everyField(type))!);

  test('an object of any kind is written exactly as from objects, or not at all', async () => {
    const outcomes = { written: 0, not: 0 };
    await fc.assert(
      fc.asyncProperty(objectOf(type, { oneOf: 25 }), damage, async (row, changes) => {
        const [bytes] = damaged([serialize(row)], changes);
        const written = fromBytes(() => writer.write(Buffer.from(bytes!)));
        outcomes[written === undefined ? 'not' : 'written'] += 1;
        if (written === undefined) return;
        expect(written).toBe(await fromObjects(name, { id: randomUUID() }, () => deserialize(bytes!)));
      }),
      { numRuns: 400 },
    );
    expect(outcomes.written).toBeGreaterThan(20);
    expect(outcomes.not).toBeGreaterThan(20);
  });
});

describe.each(LISTS)('GraphQL: %s', (name) => {
  const pageType = getNamedType(graphql.getQueryType()!.getFields()[name]!.type) as GraphQLObjectType;
  const rowType = getNamedType(pageType.getFields().data!.type) as GraphQLObjectType;
  const execute = createExecutor(graphql, { compiledFrom: 1 });

  test('any selection is written exactly as from objects, or not at all', async () => {
    const page = fc.array(objectOf(rowType, { oneOf: 60 }), { maxLength: 2 });
    const order = fc.shuffledSubarray(['has_more', 'next_cursor', 'more: has_more', '__typename'], { minLength: 0 });
    const outcomes = { written: 0, not: 0 };
    await fc.assert(
      fc.asyncProperty(page, selectionOf(rowType), order, damage, async (rows, selection, parts, changes) => {
        const [before, ...after] = parts;
        const text = `{ root: ${name} { ${before ?? ''} data ${selection} ${after.join(' ')} } }`;
        const document = parse(text);
        const [operation] = document.definitions as [OperationDefinitionNode];
        const { key, selected } = onlyRoot(graphql, document, operation)!;
        const bytes = damaged(
          rows.map((row) => serialize(row)),
          changes,
        );
        const written = fromBytes(() => pageWriter(pageShape(selected)!).write(rawRows(bytes), 1, 'next'));
        outcomes[written === undefined ? 'not' : 'written'] += 1;
        if (written === undefined) return;
        found = {
          data: bytes.map((row) => deserialize(row)).slice(0, 1),
          has_more: bytes.length > 1,
          next_cursor: 'next',
        };
        const { data, errors } = await execute({
          document,
          operation,
          contextValue: { ...context },
          variableValues: {},
        });
        expect(errors).toBeUndefined();
        expect(`{"${key}":${written}}`).toBe(JSON.stringify(data));
      }),
      { numRuns: 150 },
    );
    expect(outcomes.written).toBeGreaterThan(20);
    expect(outcomes.not).toBeGreaterThan(5);
  });
});
