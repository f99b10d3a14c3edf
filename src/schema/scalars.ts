import { GraphQLScalarType, Kind } from 'graphql';
import { GraphQLDateTimeISO, GraphQLLocalDate, GraphQLSafeInt } from 'graphql-scalars';

/*
 * Input values stay texts after parsing, so that both faces hand the same shape to the rules. `serialize` lets valid
 * input text pass too, because Sofa sends every argument through it before graphql parses it.
 */

const DateTime = new GraphQLScalarType<string, string>({
  name: 'DateTime',
  serialize: (value) => (value instanceof Date ? value.toISOString() : toIso(value)),
  parseValue: toIso,
  parseLiteral: (node) => toIso(node.kind === Kind.STRING ? node.value : undefined),
  extensions: { jsonSchema: { type: 'string', format: 'date-time' } },
});

/**
 * RFC 3339 text → ISO 8601 UTC with milliseconds, of the years 0001 to 9999. Finer parts of a second lead to the next
 * millisecond: what is stored has none, and so the same rows are on or after the one as the other.
 */
function toIso(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('must be a date-time text (RFC 3339)');
  const date = GraphQLDateTimeISO.parseValue(value);
  if (Number.isNaN(date.getTime())) throw new TypeError('must be a date-time text (RFC 3339)');
  // an offset can lead out of the years that four digits write; no database and no other scalar knows those
  if (date.getTime() < EARLIEST || date.getTime() > LATEST) throw new TypeError('must be of the years 0001 to 9999');
  if (FINER.test(value) && date.getTime() < LATEST) date.setTime(date.getTime() + 1);
  return date.toISOString();
}

/** A part of a second that is no whole number of milliseconds. */
const FINER = /\.\d{3}\d*[1-9]/;
const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

const DAY = /^\d{4}-\d{2}-\d{2}$/;

const DateOnly = new GraphQLScalarType<string, string>({
  name: 'Date',
  // what is stored was checked when it was written; a list of 50 checks no calendar again
  serialize: (value) => (typeof value === 'string' && DAY.test(value) ? value : GraphQLLocalDate.serialize(value)),
  parseValue: (value) => GraphQLLocalDate.parseValue(value),
  parseLiteral: (node) => GraphQLLocalDate.parseLiteral(node, {}),
  extensions: { jsonSchema: { type: 'string', format: 'date' } },
});

const Minor = new GraphQLScalarType<number, number>({
  name: 'Minor',
  serialize: (value) => (Number.isSafeInteger(value) ? (value as number) : GraphQLSafeInt.serialize(value)),
  parseValue: safeInteger,
  parseLiteral: (node) => safeInteger(node.kind === Kind.INT ? Number(node.value) : undefined),
  extensions: {
    jsonSchema: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
  },
});

function safeInteger(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw new TypeError('must be an integer of minor units between -(2^53-1) and 2^53-1');
}

/** Resolvers of the scalars in schema/base.graphql. */
export const scalars = { DateTime, Date: DateOnly, Minor };
