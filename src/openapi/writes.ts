import { makeExecutableSchema } from '@graphql-tools/schema';
import { componentSchemas, type JsonSchema, SCHEMA_ROOT } from '../schema/jsonSchema';
import type { SchemaModel } from '../schema/model';
import { writeName } from '../schema/openApiNames';
import { deriveRestDocument } from '../schema/restDocument';
import { scalars } from '../schema/scalars';
import type { StoredMember } from '../schema/storedTypes';
import { kindsOf, type Kinds } from '../writes';
import { MAX_PARTS } from '../writes/kinds';
import { collections } from '../resources';

/* The exact shapes of operators' writes: of each type that is stored, what it takes in put, patch and delete. */

/** A stored type that operators write. */
type Kind = Kinds['byName'] extends ReadonlyMap<string, infer T> ? T : never;

type ObjectSchema = JsonSchema & { readonly properties: Readonly<Record<string, JsonSchema>> };

const ELEMENT = 'WriteElement';
/** For `defaults`, of which only the names are used here. */
const ANY_CURRENCY = { currency: 'USD' };

/**
 * The component schemas of an API, in which WriteElement, if it has that, is one of a schema per stored type. `published` has the stored types.
 */
export function withWrites(
  schemas: Readonly<Record<string, JsonSchema>>,
  published: SchemaModel,
): Readonly<Record<string, JsonSchema>> {
  const element = schemas[ELEMENT];
  if (!element) return schemas;
  const schema = makeExecutableSchema({
    typeDefs: deriveRestDocument(published),
    resolvers: scalars,
    resolverValidationOptions: { requireResolversToMatchSchema: 'ignore' },
  });
  const all = componentSchemas(schema, { elementBounds: true, closed: true });
  const kinds = [...kindsOf(collections, schema).byName.values()];
  const addedSchemas: Record<string, JsonSchema> = {};
  for (const kind of kinds) Object.assign(addedSchemas, shapesOf(kind, all, element));
  const variants = kinds.map((kind) => ({ $ref: SCHEMA_ROOT + nameOf(kind, 'Write') }));
  const mapping = Object.fromEntries(kinds.map((kind) => [kind.name, SCHEMA_ROOT + nameOf(kind, 'Write')]));
  addedSchemas[ELEMENT] = {
    description: element.description,
    oneOf: variants,
    discriminator: { propertyName: 'type', mapping },
  };
  return { ...schemas, ...referredSchemas(addedSchemas, all), ...addedSchemas };
}

const nameOf = ({ resource }: Kind, what: Parameters<typeof writeName>[1]): string =>
  writeName(resource.stored.type, what);

/** The schemas of a type's elements, by name: TypePut, TypePatch, TypeName (for delete), TypeWrite, and those of the parts in its lists. */
function shapesOf(
  kind: Kind,
  all: Readonly<Record<string, JsonSchema>>,
  element: JsonSchema,
): Record<string, JsonSchema> {
  const { stored, defaults } = kind.resource;
  const whole = all[stored.type] as ObjectSchema;
  const addedSchemas: Record<string, JsonSchema> = {};
  const withDefault = new Set(Object.keys(defaults(ANY_CURRENCY)));
  /**
   * Whether the member may be null, or left out of a put, since the gateway then has a value for it (writes/record.ts). The gateway's own members
   * (`kind.own`) are taken, too, so that an object can be sent as it was read; what is sent for them is ignored.
   */
  const hasFallback = ({ name, isRequired, isList, kind: of }: StoredMember): boolean =>
    withDefault.has(name) || kind.gatewayOwn.has(name) || isList || (isRequired && of === 'dateTime');
  const properties = Object.fromEntries(
    stored.members.map((member): [string, JsonSchema] => {
      const { name, type } = member;
      const property = whole.properties[name] ?? {};
      if (kind.lists.some((list) => list.name === name)) {
        addedSchemas[writeName(type, 'Write')] ??= partOf(all[type] ?? {});
        const items = { $ref: SCHEMA_ROOT + writeName(type, 'Write') };
        const maxItems = Math.min(MAX_PARTS, (property.maxItems as number | undefined) ?? Infinity);
        return [name, { ...property, type: ['array', 'null'], items, maxItems }];
      }
      return [name, hasFallback(member) ? nullable(property) : property];
    }),
  );
  const refs = kind.references.flatMap(({ member, refMember, to }) => {
    const ref = (all[to.resource.stored.type] as ObjectSchema).properties.external_ref;
    const description = `The external_ref of the ${to.name}, instead of \`${member}\`.`;
    return ref ? [[refMember, { ...nullable(ref), description }]] : [];
  });
  const members = { ...properties, ...(Object.fromEntries(refs) as Record<string, JsonSchema>) };
  const required = stored.members.flatMap((member) => {
    const { name, isRequired } = member;
    const isReference = kind.references.some((reference) => reference.member === name);
    return !isRequired || name === 'id' || hasFallback(member) || isReference ? [] : [name];
  });
  const common = { type: 'object', additionalProperties: false } as const;
  const { version } = (element as { properties: Record<string, JsonSchema> }).properties;
  const described = (action: string): string =>
    String((element as { properties: Record<string, JsonSchema> }).properties[action]?.description);
  const names = Object.fromEntries(kind.identities.map((name) => [name, properties[name] ?? {}]));
  return {
    ...addedSchemas,
    [nameOf(kind, 'Put')]: { ...common, description: described('put'), properties: members, required },
    [nameOf(kind, 'Patch')]: { ...common, description: described('patch'), properties: members },
    [nameOf(kind, 'Name')]: { ...common, description: described('delete'), properties: names, minProperties: 1 },
    [nameOf(kind, 'Write')]: {
      ...common,
      description: `A write of a ${kind.name}: exactly one of \`put\`, \`patch\` and \`delete\`.`,
      properties: {
        type: { type: 'string', const: kind.name },
        put: { $ref: SCHEMA_ROOT + nameOf(kind, 'Put') },
        patch: { $ref: SCHEMA_ROOT + nameOf(kind, 'Patch') },
        delete: { $ref: SCHEMA_ROOT + nameOf(kind, 'Name') },
        version,
      },
      required: ['type'],
      oneOf: [{ required: ['put'] }, { required: ['patch'] }, { required: ['delete'] }],
    },
  };
}

/** A part may leave out its id, its position and whatever can be null. */
function partOf(schema: JsonSchema): JsonSchema {
  const { properties, required } = schema as { properties: Record<string, JsonSchema>; required: readonly string[] };
  const isFree = (name: string): boolean =>
    ['id', 'position'].includes(name) || [properties[name]?.type].flat().includes('null');
  return { ...schema, required: required.filter((name) => !isFree(name)) };
}

function nullable(schema: JsonSchema): JsonSchema {
  const types = [schema.type].flat();
  if (schema.$ref !== undefined) return { anyOf: [schema, { type: 'null' }] };
  if (types.includes('null')) return schema;
  return {
    ...schema,
    type: [...types, 'null'],
    ...(Array.isArray(schema.enum) && { enum: [...(schema.enum as unknown[]), null] }),
  };
}

/** Those of `all` that the added schemas refer to, directly or through others: the operator API's own components lack the organisations' types. */
function referredSchemas(
  addedSchemas: Readonly<Record<string, JsonSchema>>,
  all: Readonly<Record<string, JsonSchema>>,
): Record<string, JsonSchema> {
  const schemas: Record<string, JsonSchema> = {};
  const collect = (schema: JsonSchema): void => {
    for (const [, name = ''] of JSON.stringify(schema).matchAll(/#\/components\/schemas\/(\w+)"/g)) {
      const reached = all[name];
      if (!reached || name in schemas || name in addedSchemas) continue;
      schemas[name] = reached;
      collect(reached);
    }
  };
  Object.values(addedSchemas).forEach(collect);
  return schemas;
}
