import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import {
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  type OperationDefinitionNode,
  parse,
} from 'graphql';
import mongoose from 'mongoose';
import type { RequestContext } from '../../src/context';
import { pageWriter, singleWriter } from '../../src/database/answerWriter';
import { Unforeseen } from '../../src/database/bson';
import type { RawRows } from '../../src/database/rawRows';
import { onlyRoot } from '../../src/graphql/written';
import { collections, resolvers } from '../../src/resources';
import { pageShape, shapeOf } from '../../src/resources/common/shapes';
import { restOperations } from '../../src/rest/routes/routes';
import { sofaRoutes } from '../../src/rest/sofa';
import { buildSchemas, memberOf } from '../../src/schema/build';
import { createExecutor } from '../../src/schema/execution';
import { mergeResolvers } from '../../src/schema/guard';
import { listWith } from '../../src/schema/restDocument';
import { loadDocument } from '../../src/schema/sdl';
import { everyField } from '../../src/schema/written';
import { settingsResolvers } from '../../src/settings/resolvers';

/*
 * Answers written from the database's bytes are byte for byte those that are made from objects, or are not written at all
 * (docs/decisions/fast.md).
 */

// the same cases on every machine; a failure prints how to reproduce it
fc.configureGlobal({ seed: 20261122 });

const { BSON, Long, Decimal128, ObjectId, Binary, Timestamp } = mongoose.mongo;
const { serialize, deserialize } = BSON;

const LISTS = ['products', 'customers', 'quotes', 'orders', 'requests'];
const TYPES = ['product', 'customer', 'quote', 'order', 'request'];

/** What the resolvers below return. */
let found: unknown;
const given = Object.fromEntries([...LISTS, ...TYPES].map((name) => [name, () => found]));
const { rest, graphql, operations } = buildSchemas(
  loadDocument(),
  mergeResolvers(resolvers, settingsResolvers, { Query: given }),
  collections,
);
const routes = sofaRoutes(rest, operations);
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
  const handle = routes(restOperations(operations).find((operation) => operation.name === name)!);
  try {
    found = value();
    return (await handle(args, { ...context })).body;
  } catch {
    return undefined;
  }
}

/** The answer from bytes; undefined if it is not written. */
function fromBytes(write: () => Buffer): string | undefined {
  try {
    return write().toString();
  } catch (error) {
    if (error instanceof Unforeseen) return undefined;
    throw error;
  }
}

/** Values that a member should not have, or seldom has. */
const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    undefined,
    NaN,
    Infinity,
    -0,
    2 ** 53,
    -(2 ** 53),
    1e21,
    0.1,
    5e-324,
    true,
    '',
    'sent',
  ),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => Long.fromBigInt(value)),
  fc.integer().map((value) => Long.fromNumber(value)),
  fc.double(),
  fc.string({ unit: 'binary' }),
  fc.date({ noInvalidDate: true }),
  fc.constantFrom<unknown>(
    ...[Decimal128.fromString('1.5'), new ObjectId(), new Binary(Buffer.from('x')), new Timestamp({ t: 1, i: 1 })],
    ...[{}, [], [null], [{}], [1], { $ref: 'a', $id: 1 }, { $id: 2, name: 'x' }, { _id: 'x', id: 'y' }, /x/],
    ...[new Date('0000-12-31T23:59:59.999Z'), new Date('+010000-01-01T00:00:00Z'), new Date('0001-01-01T00:00:00Z')],
    new Date('9999-12-31T23:59:59.999Z'),
  ),
);

const scalars: Record<string, fc.Arbitrary<unknown>> = {
  ID: fc.uuid(),
  String: fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.string({ maxLength: 40 }),
    fc.constantFrom('\u2028"\\', '\ud83d\ude00'),
  ),
  Date: fc
    .date({ min: new Date('1900-01-01'), max: new Date('2200-01-01'), noInvalidDate: true })
    .map((day) => day.toISOString().slice(0, 10)),
  DateTime: fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  }),
  Minor: fc.oneof(fc.integer(), fc.maxSafeInteger()),
  Int: fc.integer(),
  Float: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
  Boolean: fc.boolean(),
};

/** How ordinary the objects are. */
interface Oddness {
  /** Of how many members one is odd; 0 for none. */
  readonly oneOf: number;
}

function objectOf(type: GraphQLObjectType, oddness: Oddness): fc.Arbitrary<Record<string, unknown>> {
  const members = Object.values(type.getFields()).flatMap((field) => {
    const member = memberOf(field);
    return member === undefined ? [] : [[member, maybe(valueOf(field.type, oddness), oddness)] as const];
  });
  const whole = fc.record(Object.fromEntries(members));
  if (oddness.oneOf === 0) return whole;
  const more = fc.oneof(
    { weight: 9, arbitrary: fc.dictionary(fc.constantFrom('id', 'search', '$x', '__proto', 'é'), odd, { maxKeys: 2 }) },
    // which the driver makes an object of its own kind
    { weight: 1, arbitrary: fc.constant({ $ref: 'a', $id: 1 }) },
  );
  // some members in another order, and some that the schema does not have
  return fc.tuple(whole, fc.nat({ max: members.length }), fc.boolean(), more).map(([row, first, isTurned, others]) => {
    const entries = Object.entries(row);
    return Object.fromEntries(
      isTurned ? [...entries.slice(first), ...Object.entries(others), ...entries.slice(0, first)] : entries,
    );
  });
}

function maybe(value: fc.Arbitrary<unknown>, { oneOf }: Oddness): fc.Arbitrary<unknown> {
  return oneOf === 0 ? value : fc.oneof({ weight: oneOf, arbitrary: value }, { weight: 1, arbitrary: odd });
}

function valueOf(outer: GraphQLOutputType, oddness: Oddness): fc.Arbitrary<unknown> {
  const type = getNullableType(outer);
  const value = isListType(type)
    ? fc.array(maybe(objectOf(getNamedType(outer) as GraphQLObjectType, oddness), oddness), { maxLength: 3 })
    : isObjectType(type)
      ? objectOf(type, oddness)
      : isEnumType(type)
        ? fc.constantFrom(...type.getValues().map(({ name }) => name))
        : scalars[getNamedType(outer).name]!;
  return isNonNullType(outer) ? value : fc.option(value);
}

/** The rows of one answer of the database. */
function rawRows(rows: readonly Uint8Array[]): RawRows {
  const places: number[] = [];
  let at = 0;
  for (const { length } of rows) places.push(at, (at += length));
  return { bytes: Buffer.concat(rows), places };
}

/** A row that has the members of another one too, some of them for the second time. */
function twice(row: Uint8Array, other: Uint8Array): Uint8Array {
  const whole = Buffer.concat([row.subarray(0, -1), other.subarray(4)]);
  whole.writeInt32LE(whole.length, 0);
  return whole;
}

/** BSON with a byte changed here and there. */
function damaged(rows: readonly Uint8Array[], damage: readonly (readonly [number, number])[]): Uint8Array[] {
  const copies = rows.map((row) => Uint8Array.from(row));
  for (const [place, byte] of damage) {
    const row = copies[place % Math.max(1, copies.length)];
    // the length of a row says where the next one starts, so a server that sends another cannot be read at all
    if (row && row.length > 5) row[4 + (place % (row.length - 4))] = byte;
  }
  return copies;
}

const damage = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 2 });

interface Case {
  readonly name: string;
  /** The list in the REST schema. */
  readonly list: string;
  readonly args: Record<string, unknown>;
}

const cases: Case[] = [
  ...LISTS.map((name) => ({ name, list: name, args: {} })),
  ...['quotes', 'orders'].map((name) => ({ name, list: listWith(name, 'lines'), args: { include: 'lines' } })),
];

describe.each(cases)('$list', ({ name, list, args }) => {
  const { type } = rootField(list);
  const selected = everyField(type);
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

  test('ordinary rows are written, and as they are from objects', async () => {
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

  test('rows of any kind are written as they are from objects, or not at all', async () => {
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

  test('a cursor is made of the same values', () => {
    const sorts = ['created_at', 'updated_at', '_id'];
    fc.assert(
      fc.property(objectOf(rowType, { oneOf: 0 }), fc.constantFrom(...sorts), (row, sort) => {
        const [value, id] = writer.positionOf(rawRows([serialize(row)]), 0, sort);
        expect([value, id]).toEqual([row[sort], row._id]);
      }),
      { numRuns: 30 },
    );
  });
});

test('an object with two values of one member is not written, since the driver takes the last', async () => {
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

  test('an object of any kind is written as it is from objects, or not at all', async () => {
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

/** The text of a random selection of a type's stored fields: some of them, aliased, twice, in fragments. */
function selectionOf(type: GraphQLObjectType): fc.Arbitrary<string> {
  const fields = Object.values(type.getFields()).filter((field) => memberOf(field) !== undefined);
  const one = fc.tuple(fc.constantFrom(...fields), fc.constantFrom('', 'a: ', 'b: ')).chain(([field, alias]) => {
    const inner = getNamedType(field.type);
    // the same alias of two fields would be refused, so it has the name of its field
    const name = alias === '' ? field.name : `${alias.slice(0, 1)}_${field.name}: ${field.name}`;
    return isObjectType(inner) ? selectionOf(inner).map((text) => `${name} ${text}`) : fc.constant(name);
  });
  const wrapped = fc.tuple(one, fc.constantFrom('plain', 'typename', 'fragment')).map(([text, how]) => {
    if (how === 'typename') return `t: __typename ${text}`;
    return how === 'fragment' ? `... on ${type.name} { ${text} }` : text;
  });
  return fc.array(wrapped, { minLength: 1, maxLength: 5 }).map((texts) => `{ ${texts.join(' ')} }`);
}

describe.each(LISTS)('GraphQL: %s', (name) => {
  const pageType = getNamedType(graphql.getQueryType()!.getFields()[name]!.type) as GraphQLObjectType;
  const rowType = getNamedType(pageType.getFields().data!.type) as GraphQLObjectType;
  const execute = createExecutor(graphql, { compiledFrom: 1 });

  test('any selection is written as it is from objects, or not at all', async () => {
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
