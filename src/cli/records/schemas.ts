import type { GraphQLSchema } from 'graphql';
import { componentSchemas, type JsonSchema, SCHEMA_ROOT } from '../../schema/jsonSchema';
import { comparable, isCompared } from '../../schema/callerKeys';
import { isObject } from '../../stored/elementFaults';
import type { RecordKind } from '../../stored/records';

/** Files of an export beside those with records. */
export const ORGANISATION_FILE = 'organisation.json';
export const KEYS_FILE = 'keys.ndjson';

interface ObjectSchema extends JsonSchema {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
}

/** JSON Schemas by name: every type in the REST API, and one per record kind under `recordName(kind)`. */
type RecordSchemas = Readonly<Record<string, JsonSchema>>;

/** The schemas for reading and writing records: the SDL's types without `omit`, plus `lists`. */
export function recordSchemas(schema: GraphQLSchema, kinds: readonly RecordKind[]): RecordSchemas {
  const schemas = componentSchemas(schema, { elementBounds: true, closed: true });
  for (const kind of kinds) {
    const lists = Object.entries(kind.lists ?? {}).map(([member, { type, omit }]) => {
      const name = `${recordName(kind)}.${member}`;
      schemas[name] = reshape(schemas, type, omit, {});
      return [member, { type: 'array', items: { $ref: SCHEMA_ROOT + name } }] as const;
    });
    schemas[recordName(kind)] = reshape(schemas, kind.type, kind.omit ?? [], Object.fromEntries(lists));
  }
  return schemas;
}

/** Name of a kind's file. */
export function fileName(kind: RecordKind): string {
  return `${kind.file}.ndjson`;
}

/** Name of a kind's schema; the dot keeps it distinct from SDL types. */
export function recordName(kind: RecordKind): string {
  return `record.${kind.file}`;
}

function reshape(
  schemas: RecordSchemas,
  type: string,
  omit: readonly string[],
  more: Record<string, JsonSchema>,
): ObjectSchema {
  const schema = schemas[type];
  if (!isObjectSchema(schema)) throw new Error(`the REST schema has no object type ${type}`);
  const kept = Object.entries(schema.properties).filter(([member]) => !omit.includes(member));
  const properties = { ...Object.fromEntries(kept), ...more };
  return { ...schema, properties, required: Object.keys(properties) };
}

function isObjectSchema(schema: JsonSchema | undefined): schema is ObjectSchema {
  return schema?.properties !== undefined;
}

/** Resolves `$ref` and `anyOf [type, null]` to the underlying schema. */
export function resolveSchema(schemas: RecordSchemas, schema: JsonSchema): JsonSchema {
  const [first] = (schema.anyOf as JsonSchema[] | undefined) ?? [schema];
  const reference = first?.$ref as string | undefined;
  return (reference === undefined ? first : schemas[reference.slice(SCHEMA_ROOT.length)]) ?? {};
}

/** Changes a record in place; values whose type does not match the schema are left alone. */
type Amend = (value: Record<string, unknown>) => void;

/**
 * Normalises the identifiers in a record to the form used for lookups: UUIDs in lower case, unique keys in NFC. Exports
 * from other systems may differ.
 */
export function respellNames(schemas: RecordSchemas, schema: JsonSchema): Amend {
  const steps: Amend[] = [];
  for (const [member, declared] of Object.entries(isObjectSchema(schema) ? schema.properties : {})) {
    const target = resolveSchema(schemas, declared);
    if (target.format === 'uuid') steps.push(respell(member, (id) => id.toLowerCase()));
    else if (isCompared(member)) steps.push(respell(member, comparable));
    else if (isObjectSchema(target)) {
      const amend = respellNames(schemas, target);
      steps.push((value) => {
        if (isObject(value[member])) amend(value[member]);
      });
    } else if (target.items !== undefined) {
      const amend = respellNames(schemas, resolveSchema(schemas, target.items as JsonSchema));
      steps.push((value) => {
        const items = value[member];
        if (Array.isArray(items)) items.filter(isObject).forEach(amend);
      });
    }
  }
  return (value) => {
    for (const step of steps) step(value);
  };
}

function respell(member: string, spelling: (text: string) => string): Amend {
  return (value) => {
    const text = value[member];
    if (typeof text === 'string') value[member] = spelling(text);
  };
}

/** Writes a value as JSON text. */
export type Write = (value: unknown) => string;

/**
 * A writer of records formatted like the example files: members in SDL order, `, ` and `: ` as separators, non-ASCII
 * unescaped. `decimals` are members written with a decimal point even if whole.
 */
export function recordWriter(schemas: RecordSchemas, schema: JsonSchema, decimals: readonly string[] = []): Write {
  const target = resolveSchema(schemas, schema);
  if (isObjectSchema(target)) {
    const members = Object.entries(target.properties).map(([name, declared]) => {
      const write = decimals.includes(name) ? writeDecimal : recordWriter(schemas, declared, decimals);
      return { name, prefix: `${JSON.stringify(name)}: `, write };
    });
    return (value) => {
      if (value === null || value === undefined) return 'null';
      const row = value as Record<string, unknown>;
      return `{${members.map(({ name, prefix, write }) => prefix + write(row[name])).join(', ')}}`;
    };
  }
  if (target.items !== undefined) {
    const write = recordWriter(schemas, target.items as JsonSchema, decimals);
    return (value) => (Array.isArray(value) ? `[${value.map(write).join(', ')}]` : 'null');
  }
  // a Date serialises as ISO 8601; a missing member becomes null
  return (value) => JSON.stringify(value ?? null);
}

function writeDecimal(value: unknown): string {
  return typeof value === 'number' && Number.isInteger(value) ? value.toFixed(1) : JSON.stringify(value ?? null);
}
