import type { GraphQLSchema } from 'graphql';
import { componentSchemas, type JsonSchema, SCHEMA_ROOT } from '../../schema/jsonSchema';
import type { RecordKind } from '../../stored/records';

export interface ObjectSchema extends JsonSchema {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
}

/** JSON Schemas by name: every type in the REST API, and one per record kind under `recordName(kind)`. */
export type RecordSchemas = Readonly<Record<string, JsonSchema>>;

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

export function isObjectSchema(schema: JsonSchema | undefined): schema is ObjectSchema {
  return schema?.properties !== undefined;
}

/** Resolves `$ref` and `anyOf [type, null]` to the underlying schema. */
export function resolveSchema(schemas: RecordSchemas, schema: JsonSchema): JsonSchema {
  const [first] = (schema.anyOf as JsonSchema[] | undefined) ?? [schema];
  const reference = first?.$ref as string | undefined;
  return (reference === undefined ? first : schemas[reference.slice(SCHEMA_ROOT.length)]) ?? {};
}
