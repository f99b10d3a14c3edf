import { GraphQLScalarType, Kind, type ValueNode, valueFromASTUntyped, visit } from 'graphql';
import { GraphQLDateTimeISO, GraphQLLocalDate, GraphQLSafeInt } from 'graphql-scalars';
import { PLAN_NAME } from '../auth/plans';
import { EARLIEST, LATEST } from '../units';
import { seemsWhole } from './inexactNumbers';
import { CHANGES_SCALAR, metadataObject, PAIRS_SCALAR } from './metadata';

/*
 * Input values stay strings after parsing, so that both APIs pass the same shape to resolvers. `serialize` also accepts valid
 * input, because Sofa serialises every argument before graphql parses it.
 */

const DateTime = new GraphQLScalarType<string, string>({
  name: 'DateTime',
  serialize: (value) => (value instanceof Date ? value.toISOString() : toIso(value)),
  parseValue: toIso,
  parseLiteral: (node) => toIso(node.kind === Kind.STRING ? node.value : undefined),
  extensions: { jsonSchema: { type: 'string', format: 'date-time' } },
});

/**
 * Converts RFC 3339, or a day (its midnight UTC), to ISO 8601 UTC with milliseconds, in the years 0001 to 9999. Finer fractions round up to
 * the next millisecond: stored times have none, so the same rows are at or after both times.
 */
function toIso(value: unknown): string {
  const date =
    typeof value === 'string' && value.length <= LONGEST_TIME
      ? instantOf(DAY.test(value) ? `${value}T00:00:00Z` : value)
      : undefined;
  if (date === undefined) throw new TypeError('must be a valid date-time string (RFC 3339)');
  // a UTC offset can lead to a year without four digits, which databases and other scalars do not support
  if (date.getTime() < EARLIEST || date.getTime() > LATEST) throw new TypeError('must be in the years 0001 to 9999');
  if (FINER_THAN_MILLISECONDS.test(value as string) && date.getTime() < LATEST) date.setTime(date.getTime() + 1);
  return date.toISOString();
}

/** The time; undefined if it is malformed, since the library's own errors would be reported without the place in the document. */
function instantOf(text: string): Date | undefined {
  try {
    // V8 rounds further digits wrongly if the fraction begins with zeros
    const date = GraphQLDateTimeISO.parseValue(text.replace(/(\.\d{3})\d+/, '$1'));
    return Number.isNaN(date.getTime()) ? undefined : date;
  } catch {
    return undefined;
  }
}

/** Whether a scalar takes a value as input. */
export function accepts(scalar: Pick<GraphQLScalarType, 'parseValue'>, value: unknown): boolean {
  try {
    scalar.parseValue(value);
    return true;
  } catch {
    return false;
  }
}

/** A time has some 30 characters; a fraction may have any number of digits. */
const LONGEST_TIME = 64;
/** The form of a day. */
export const DAY = /^\d{4}-\d{2}-\d{2}$/;
/** A fraction of a second that is not a whole number of milliseconds. */
const FINER_THAN_MILLISECONDS = /\.\d{3}\d*[1-9]/;

const DateOnly = new GraphQLScalarType<string, string>({
  name: 'Date',
  // stored dates were validated when written, so do not check the calendar again for each row
  serialize: (value) => (typeof value === 'string' && DAY.test(value) ? value : GraphQLLocalDate.serialize(value)),
  parseValue: (value) => GraphQLLocalDate.parseValue(value),
  parseLiteral: (node) => GraphQLLocalDate.parseLiteral(node, {}),
  extensions: { jsonSchema: { type: 'string', format: 'date' } },
});

const Minor = new GraphQLScalarType<number, number>({
  name: 'Minor',
  serialize: (value) => (Number.isSafeInteger(value) ? (value as number) : GraphQLSafeInt.serialize(value)),
  parseValue: safeInteger,
  // 1.0 and 1e2 are integers, as in JSON
  parseLiteral: (node) =>
    safeInteger(
      node.kind === Kind.INT || (node.kind === Kind.FLOAT && !seemsWhole(node.value)) ? Number(node.value) : undefined,
    ),
  extensions: {
    jsonSchema: {
      type: 'integer',
      format: 'int64',
      minimum: Number.MIN_SAFE_INTEGER,
      maximum: Number.MAX_SAFE_INTEGER,
    },
  },
});

function safeInteger(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw new TypeError('must be an integer in minor units between -(2^53-1) and 2^53-1');
}

/** A value in a directive, which graphql-js has read already. */
const Value = new GraphQLScalarType<unknown, unknown>({ name: 'Value' });

/** The version that an operator gives an object in a write. */
const Version = new GraphQLScalarType<number, number>({
  name: 'Version',
  serialize: version,
  parseValue: version,
  parseLiteral: (node) => version(node.kind === Kind.INT ? Number(node.value) : undefined),
  extensions: { jsonSchema: { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } },
});

function version(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new TypeError('must be an integer between 0 and 2^53-1');
}

/** The name of a plan: a text, and in GraphQL also written as a value of an enum, which it was once (docs/decisions/plans.md). */
const PlanName = new GraphQLScalarType<string, string>({
  name: 'Plan',
  serialize: (value) => value as string,
  parseValue: planName,
  parseLiteral: (node) => planName(node.kind === Kind.STRING || node.kind === Kind.ENUM ? node.value : undefined),
  extensions: { jsonSchema: { type: 'string', pattern: PLAN_NAME.source } },
});

function planName(value: unknown): string {
  if (typeof value === 'string' && PLAN_NAME.test(value)) return value;
  throw new TypeError('must be the name of a plan: 1 to 40 of a-z, 0-9 and _, a letter first');
}

/** A number of bytes in an answer. */
const Bytes = new GraphQLScalarType<number, number>({
  name: 'Bytes',
  serialize: (value) => value as number,
  extensions: { jsonSchema: { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } },
});

/** An object of a stored type in a write of an operator, which is checked by its type later. */
const ObjectMembers = new GraphQLScalarType<object, object>({
  name: 'ObjectMembers',
  serialize: members,
  parseValue: members,
  parseLiteral: (node, variables) => {
    requireFractions(node);
    return members(valueFromASTUntyped(node, variables));
  },
  extensions: { jsonSchema: { type: 'object' } },
});

function members(value: unknown): object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new TypeError('must be an object');
}

/** @throws TypeError for a number with a fraction that would be parsed as whole, as in JSON (inexactNumbers.ts) */
function requireFractions(node: ValueNode): void {
  visit(node, {
    FloatValue: ({ value }) => {
      if (seemsWhole(value)) throw new TypeError('must have no number with more digits than can be held');
    },
  });
}

/** An object of any shape, as JSON. */
const JSONObject = new GraphQLScalarType<object, object>({
  name: 'JSONObject',
  serialize: (value) => value as object,
  extensions: { jsonSchema: { type: 'object', additionalProperties: true } },
});

/** Metadata on REST; jsonSchema.ts has its JSON Schema. */
const Metadata = new GraphQLScalarType<unknown, object>({ name: PAIRS_SCALAR, serialize: metadataObject });

/** A change of metadata on REST, which is checked before it is parsed. */
const MetadataChanges = new GraphQLScalarType<unknown, unknown>({ name: CHANGES_SCALAR });

/** Resolvers of the scalars in schema/base.graphql and schema/admin.graphql, and of those that REST has in place of other types. */
export const scalars = {
  Value,
  DateTime,
  Date: DateOnly,
  Minor,
  Plan: PlanName,
  Bytes,
  Version,
  ObjectMembers,
  JSONObject,
  Metadata,
  MetadataChanges,
};
