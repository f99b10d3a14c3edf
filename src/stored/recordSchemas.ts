import { isCallerKey, normalised } from '../schema/callerKeys';
import { type JsonSchema, SCHEMA_ROOT } from '../schema/jsonSchema';
import { METADATA } from '../schema/metadata';
import { published } from '../schema/model';
import type { StoredMember } from '../schema/storedTypes';
import { isObject } from './elementFaults';

/* JSON Schemas of whole records, as import takes them, and the form in which their identifiers are stored. */

interface ObjectSchema extends JsonSchema {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
}

/** JSON Schemas by name: every type in the REST API, and in cli/records.ts also one for each record kind. */
export type RecordSchemas = Readonly<Record<string, JsonSchema>>;

/** The schema of a type, without the members in `omit` and with those in `more`. */
export function reshape(
  schemas: RecordSchemas,
  type: string,
  omit: readonly string[],
  more: RecordSchemas,
): ObjectSchema {
  const schema = schemas[type];
  if (!isObjectSchema(schema)) throw new Error(`the REST schema has no object type ${type}`);
  const stored = published.stored.get(type)?.members ?? [];
  const members = stored.flatMap(({ name, isRequired }) => {
    const property = schema.properties[name];
    return property && !omit.includes(name) ? [{ name, property, mayLack: !isRequired }] : [];
  });
  const properties = { ...Object.fromEntries(members.map(({ name, property }) => [name, property])), ...more };
  // a nullable member may be missing, as it is in exports made before it existed
  const required = Object.keys(properties).filter(
    (name) => !members.some((member) => member.name === name && member.mayLack),
  );
  return { ...schema, properties, required };
}

export function isObjectSchema(schema: JsonSchema | undefined): schema is ObjectSchema {
  return schema?.properties !== undefined;
}

/** Resolves `$ref` and `anyOf [type, null]` to the underlying schema. */
export function resolveSchema(schemas: RecordSchemas, schema: JsonSchema): JsonSchema {
  const [first] = (schema.anyOf as JsonSchema[] | undefined) ?? [schema];
  const reference = first?.$ref as string | undefined;
  return (reference === undefined ? first : schemas[reference.slice(SCHEMA_ROOT.length)]) ?? {};
}

type NamedMember = Pick<StoredMember, 'name' | 'type' | 'members'>;

/**
 * Normalises the identifiers in a record with these members, at any depth, to the form used for lookups: ids in lower case, callers' keys in NFC.
 * Files from other systems may have other forms.
 */
export function normaliseIdentifiers(record: object, members: readonly NamedMember[]): void {
  const values = record as Record<string, unknown>;
  for (const member of members) {
    const { name } = member;
    // the keys of metadata are a caller's own, whatever members they name
    if (name !== METADATA && Object.hasOwn(values, name)) values[name] = normalisedValue(values[name], member);
  }
}

/** A text in that form; lists and objects are changed in place. */
function normalisedValue(value: unknown, member: NamedMember): unknown {
  if (typeof value === 'string') {
    if (member.type === 'ID') return value.toLowerCase();
    return isCallerKey(member.name) ? normalised(value) : value;
  }
  if (Array.isArray(value)) for (const [at, element] of value.entries()) value[at] = normalisedValue(element, member);
  else if (isObject(value)) normaliseIdentifiers(value, member.members);
  return value;
}
