import fc from 'fast-check';
import {
  getNamedType,
  getNullableType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import mongoose from 'mongoose';
import type { RawRows } from '../../src/mongo/rawRows';
import { memberOf } from '../../src/operations/build';
import { isMetadataType } from '../../src/schema/metadata';
import { patternOf } from '../../src/schema/storedTypes';

/* Arbitrary rows of stored types, ordinary and odd, and selections of their fields. */

const { Long, Decimal128, ObjectId, Binary, Timestamp } = mongoose.mongo;

/** Values that a member should not have, or rarely has. */
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

/** Texts of each form that a pattern of the schema asks for. */
const FORMS = ['EUR', 'USD', 'application/pdf', '0'.repeat(64)];

/** How ordinary the objects are. */
interface Oddness {
  /** One member in this many is odd; 0 for none. */
  readonly oneOf: number;
}

export function objectOf(type: GraphQLObjectType, oddness: Oddness): fc.Arbitrary<Record<string, unknown>> {
  const members = Object.values(type.getFields()).flatMap((field) => {
    const member = memberOf(field);
    if (member === undefined) return [];
    const pattern = patternOf(field.astNode);
    const value = pattern
      ? fc.constantFrom(...FORMS.filter((text) => pattern.test(text)).slice(0, 2))
      : valueOf(field.type, oddness);
    return [[member, maybe(value, oddness)] as const];
  });
  const whole = fc.record(Object.fromEntries(members));
  if (oddness.oneOf === 0) return whole;
  const more = fc.oneof(
    { weight: 9, arbitrary: fc.dictionary(fc.constantFrom('id', 'search', '$x', '__proto', 'é'), odd, { maxKeys: 2 }) },
    // for which the driver creates an object of its own kind
    { weight: 1, arbitrary: fc.constant({ $ref: 'a', $id: 1 }) },
  );
  // some members in another order, and some unknown to the schema
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

/** Pairs, whose keys come in another order in an object, or would be its prototype. */
function metadataOf(oddness: Oddness): fc.Arbitrary<unknown> {
  const key = fc.constantFrom('b', 'a.b', '10', '2', '__proto__', 'constructor');
  const pair = fc.record({ key: maybe(key, oddness), value: maybe(scalars.String!, oddness) });
  const pairs = fc.uniqueArray(pair, { maxLength: 4, selector: ({ key: one }) => one });
  return fc.option(oddness.oneOf === 0 ? pairs : fc.oneof(pairs, fc.array(maybe(pair, oddness), { maxLength: 4 })));
}

function valueOf(outer: GraphQLOutputType, oddness: Oddness): fc.Arbitrary<unknown> {
  if (isMetadataType(outer)) return metadataOf(oddness);
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

/** The rows of one reply of the database. */
export function rawRows(rows: readonly Uint8Array[]): RawRows {
  const places: number[] = [];
  let at = 0;
  for (const { length } of rows) places.push(at, (at += length));
  return { bytes: Buffer.concat(rows), places, isWhole: true };
}

/** A row that also has the members of another one, some of them duplicated. */
export function twice(row: Uint8Array, other: Uint8Array): Uint8Array {
  const whole = Buffer.concat([row.subarray(0, -1), other.subarray(4)]);
  whole.writeInt32LE(whole.length, 0);
  return whole;
}

/** BSON with a byte changed here and there. */
export function damaged(rows: readonly Uint8Array[], damage: readonly (readonly [number, number])[]): Uint8Array[] {
  const copies = rows.map((row) => Uint8Array.from(row));
  for (const [place, byte] of damage) {
    const row = copies[place % Math.max(1, copies.length)];
    // its length is kept, since it says where the next row starts, and a wrong one would make the rest unreadable
    if (row && row.length > 5) row[4 + (place % (row.length - 4))] = byte;
  }
  return copies;
}

export const damage = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 2 });

/** The text of a random selection of a type's stored fields: some of them, aliased, twice, in fragments. */
export function selectionOf(type: GraphQLObjectType): fc.Arbitrary<string> {
  const fields = Object.values(type.getFields()).filter((field) => memberOf(field) !== undefined);
  const one = fc.tuple(fc.constantFrom(...fields), fc.constantFrom('', 'a: ', 'b: ')).chain(([field, alias]) => {
    const inner = getNamedType(field.type);
    // the same alias for two fields would be rejected, so it contains the field's name
    const name = alias === '' ? field.name : `${alias.slice(0, 1)}_${field.name}: ${field.name}`;
    return isObjectType(inner) ? selectionOf(inner).map((text) => `${name} ${text}`) : fc.constant(name);
  });
  const wrapped = fc.tuple(one, fc.constantFrom('plain', 'typename', 'fragment')).map(([text, how]) => {
    if (how === 'typename') return `t: __typename ${text}`;
    return how === 'fragment' ? `... on ${type.name} { ${text} }` : text;
  });
  return fc.array(wrapped, { minLength: 1, maxLength: 5 }).map((texts) => `{ ${texts.join(' ')} }`);
}
