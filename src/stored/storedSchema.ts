import type { StoredMember, StoredType } from '../schema/storedTypes';
import { NOT_BLANK } from '../schema/validation';
import { numberType } from './invalidRows';

/*
 * What MongoDB can check of the rows of a stored type, as its $jsonSchema (docs/decisions/stored-validation.md). It asks nothing that
 * `faultsOf` does not ask, so MongoDB refuses no row that can be served.
 */

/** A schema in the form of MongoDB: JSON Schema draft 4 with `bsonType`, and without `$ref`, `format` and `default`. */
export type BsonSchema = Readonly<Record<string, unknown>>;

/** Without `decimal`: rows with one are not served. */
const NUMBERS = ['int', 'long', 'double'];
/** What GraphQL answers as a Boolean, and as a String. */
const BOOLEANS = ['bool', ...NUMBERS];
export const STRINGS = ['string', ...BOOLEANS];

/** How the title of a schema begins; `doctor` tells by the title which validators are of another program. */
const TITLE = 'Scopegate: ';

/** The schema of a type's rows. `computed` are members that the gateway fills in, so that other programs may leave them out. */
export function storedSchema({ type, members }: StoredType, computed: readonly string[] = []): BsonSchema {
  const rowMembers = members.map((member) => (member.name === 'id' ? { ...member, name: '_id' } : member));
  return { title: TITLE + type, ...objectSchema(rowMembers, computed) };
}

function objectSchema(members: readonly StoredMember[], computed: readonly string[] = []): BsonSchema {
  const required = members.filter(({ name, isRequired }) => isRequired && !computed.includes(name));
  return {
    bsonType: 'object',
    ...(required.length > 0 && { required: required.map(({ name }) => name) }),
    properties: Object.fromEntries(members.map((member) => [member.name, memberSchema(member)])),
  };
}

function memberSchema(member: StoredMember): BsonSchema {
  const valueType = valueSchema(member);
  const schema = member.isList ? { bsonType: 'array', items: valueType } : valueType;
  return member.isRequired ? schema : orNull(schema);
}

function orNull({ bsonType, enum: values, ...others }: BsonSchema): BsonSchema {
  if (values) return { enum: [...(values as readonly string[]), null] };
  return { bsonType: [bsonType as string | string[], 'null'].flat(), ...others };
}

function valueSchema({ name, kind, type, values, pattern, members }: StoredMember): BsonSchema {
  switch (kind) {
    case 'object':
      return objectSchema(members);
    case 'number': {
      const { range, isWhole } = numberType(type);
      return { bsonType: NUMBERS, minimum: range[0], maximum: range[1], ...(isWhole && { multipleOf: 1 }) };
    }
    case 'boolean':
      return { bsonType: BOOLEANS };
    case 'dateTime':
      return { bsonType: 'date' };
    case 'string':
      break;
  }
  if (values) return { enum: [...values] };
  return { bsonType: type === 'String' ? STRINGS : 'string', ...lengthOf(name, type, pattern) };
}

/**
 * Of the form of a text only the length is checked: patterns mean other things in MongoDB's regular expressions than in JavaScript's, and are slow
 * in SecantusDB (embedded/).
 */
function lengthOf(name: string, type: string, pattern: RegExp | undefined): BsonSchema {
  const length =
    name === '_id' ? 'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx'.length : type === 'Date' ? 'YYYY-MM-DD'.length : 0;
  if (length > 0) return { minLength: length, maxLength: length };
  return pattern?.source === NOT_BLANK ? { minLength: 1 } : {};
}
