import {
  type GraphQLArgument,
  type GraphQLEnumValue,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLScalarType,
  type GraphQLSchema,
  GraphQLString,
  type GraphQLType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { CHANGES_SCALAR, PAIR, PAIRS_SCALAR } from './metadata';
import { published } from './model';
import { type Constraint, directiveOf } from './sdl';

/*
 * SDL → JSON Schema 2020-12: what checks the arguments of each API (operations/argumentChecks.ts), elements of bulk calls and lines of an import,
 * and what the OpenAPI documents publish.
 */

export type JsonSchema = Record<string, unknown>;

export interface JsonSchemaOptions {
  /**
   * Whether types in the elements of bulk calls have their bounds. False for the published document, by which a client would otherwise refuse a
   * whole call for one wrong element. Checks need true, since a PATCH may take the same types: theirs of a whole call use {@link elementSchemas}.
   */
  readonly elementBounds: boolean;
  /** Whether output objects reject unknown members; inputs always do. */
  readonly closed: boolean;
}

/** What has a description, a type and a @constraint. */
type Described = GraphQLArgument | GraphQLInputField | GraphQLField<unknown, never>;

const BUILT_IN: Record<string, JsonSchema> = {
  ID: { type: 'string', format: 'uuid' },
  String: { type: 'string' },
  Int: { type: 'integer', format: 'int32', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
};

/** The only query argument that may be an empty string, which means none: search boxes send it before the user types. */
export const MAY_BE_EMPTY = 'q';

export const SCHEMA_ROOT = '#/components/schemas/';

/** JSON Schemas of the object, input and enum types that are reachable from the root fields, by type name. */
export function componentSchemas(schema: GraphQLSchema, options: JsonSchemaOptions): Record<string, JsonSchema> {
  const elementTypes = options.elementBounds ? new Set<string>() : typesInElements(schema);
  const components: Record<string, JsonSchema> = {};
  const collect = (type: GraphQLNamedType): void => {
    if (components[type.name] !== undefined) return;
    if (isEnumType(type)) {
      const values = type.getValues();
      // a JSON Schema cannot mark single values as deprecated
      const described = values.map((value) => `- \`${value.name}\`: ${describedWith(value) ?? ''}`);
      components[type.name] = {
        type: 'string',
        enum: values.map((value) => value.name),
        description: [type.description, ...described].join('\n'),
      };
    } else if (isObjectType(type) || isInputObjectType(type)) {
      const isInput = isInputObjectType(type);
      components[type.name] = objectSchema(type.getFields(), {
        description: type.description ?? undefined,
        isInput,
        closed: options.closed || isInput,
        ...(elementTypes.has(type.name) && { boundsOf: () => undefined }),
      });
      for (const field of Object.values<Described>(type.getFields())) collect(getNamedType(field.type));
    }
  };
  for (const field of rootFields(schema)) {
    collect(getNamedType(field.type));
    for (const argument of field.args) collect(getNamedType(argument.type));
  }
  return components;
}

/** Where checks of whole calls have the schemas of {@link elementSchemas}. */
export const ELEMENT_ROOT = '#/elements/';

/** JSON Schemas of the input types in elements of bulk calls, without bounds, by type name; they refer to each other at {@link ELEMENT_ROOT}. */
export function elementSchemas(schema: GraphQLSchema): Record<string, JsonSchema> {
  const names = typesInElements(schema);
  const components = componentSchemas(schema, { elementBounds: false, closed: false });
  const schemas = Object.fromEntries(Object.entries(components).filter(([name]) => names.has(name)));
  return JSON.parse(JSON.stringify(schemas), (member, value: unknown) => {
    if (member !== '$ref' || typeof value !== 'string') return value;
    const name = value.slice(SCHEMA_ROOT.length);
    return names.has(name) ? ELEMENT_ROOT + name : value;
  }) as Record<string, JsonSchema>;
}

/**
 * JSON Schema of a field's arguments as one object. Types with a schema of their own are references ({@link SCHEMA_ROOT}): whether elements of bulk
 * calls have their bounds is up to the schemas there. With `queries`, arguments must not be empty.
 */
export function argumentsSchema(args: readonly GraphQLArgument[], { queries = false } = {}): JsonSchema {
  return objectSchema(Object.fromEntries(args.map((argument) => [argument.name, argument])), {
    isInput: true,
    closed: true,
    ...(queries && { boundsOf: queryConstraint }),
  });
}

/** JSON Schema of an argument as a parameter, which cannot be null. */
export function parameterSchema(argument: GraphQLArgument): JsonSchema {
  return valueSchema(argument.type, queryConstraint(argument), false);
}

/**
 * Bounds of a query argument. Filters must not be empty, or an empty variable in a caller's code would list everything
 * (contract, section 2).
 */
function queryConstraint(argument: Described): Constraint {
  const constraint = constraintOf(argument);
  const type = getNullableType(argument.type);
  if (isListType(type)) {
    const isOfStrings = getNullableType(type.ofType) === GraphQLString;
    return { min_items: 1, ...(isOfStrings && { min_length: 1 }), ...constraint };
  }
  const isFree = type === GraphQLString && constraint.one_of === undefined && argument.name !== MAY_BE_EMPTY;
  return isFree ? { min_length: 1, ...constraint } : constraint;
}

/** The description, with the reason of any deprecation. */
export function describedWith({
  description,
  deprecationReason: reason,
}: Pick<Described | GraphQLEnumValue, 'description' | 'deprecationReason'>): string | undefined {
  if (reason == null) return description ?? undefined;
  return [description, `Deprecated: ${reason}`].filter((part) => part != null).join(' ');
}

/** The @constraint of an argument or field; with @event_types its values are the event types, with @object_types the stored types. */
export function constraintOf({ astNode }: Described): Constraint {
  const constraint = directiveOf(astNode, 'constraint') ?? {};
  if (directiveOf(astNode, 'event_types'))
    return { ...constraint, one_of: published.eventTypes.map(({ name }) => name) };
  if (directiveOf(astNode, 'object_types')) return { ...constraint, one_of: published.objectTypes };
  return constraint;
}

export function rootFields(schema: GraphQLSchema): GraphQLField<unknown, never>[] {
  return [schema.getQueryType(), schema.getMutationType()].flatMap((type) => Object.values(type?.getFields() ?? {}));
}

/** A field of an object type, with the name of the type. */
export interface ObjectField {
  readonly type: string;
  readonly field: GraphQLField<unknown, never>;
}

/** The fields of all object types, those of introspection among them. */
export function objectFields(schema: GraphQLSchema): ObjectField[] {
  return Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) => Object.values(type.getFields()).map((field) => ({ type: type.name, field })));
}

interface ObjectOptions {
  readonly description?: string | undefined;
  readonly isInput: boolean;
  readonly closed: boolean;
  /** Returns the bounds of a field, by default its @constraint; undefined for none at all, not even those of the pairs of metadata. */
  readonly boundsOf?: (field: Described) => Constraint | undefined;
}

function objectSchema(fields: Readonly<Record<string, Described>>, options: ObjectOptions): JsonSchema {
  const { description, isInput, closed, boundsOf = constraintOf } = options;
  const required: string[] = [];
  const properties: Record<string, JsonSchema> = {};
  for (const [name, field] of Object.entries(fields)) {
    const constraint = boundsOf(field);
    const isOptional = 'defaultValue' in field && field.defaultValue !== undefined;
    const needed = (isNonNullType(field.type) && !isOptional) || constraint?.required === true;
    const text = describedWith(field);
    properties[name] = {
      ...valueSchema(field.type, constraint, !needed && constraint?.not_null !== true),
      ...(text ? { description: text } : {}),
      ...(field.deprecationReason != null && { deprecated: true }),
    };
    // responses have every field, even if null; inputs only need the required ones
    if (needed || !isInput) required.push(name);
  }
  return {
    type: 'object',
    ...(description ? { description } : {}),
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...(closed ? { additionalProperties: false } : {}),
  };
}

/** The JSON Schema of a type with bounds, if any; `nullable` unless the type is non-null. */
function valueSchema(type: GraphQLType, constraint: Constraint | undefined, nullable: boolean): JsonSchema {
  if (isNonNullType(type)) return valueSchema(type.ofType, constraint, false);
  if (isListType(type)) {
    const { min_items: minItems, max_items: maxItems, default: _ofList, ...ofEach } = constraint ?? {};
    return {
      type: nullable ? ['array', 'null'] : 'array',
      items: valueSchema(type.ofType, ofEach, true),
      ...defined({ minItems, maxItems }),
    };
  }
  if (isScalarType(type)) {
    if (type.name === PAIRS_SCALAR || type.name === CHANGES_SCALAR) return metadataSchema(type, constraint, nullable);
    const base = BUILT_IN[type.name] ?? (type.extensions.jsonSchema as JsonSchema | undefined);
    if (!base) throw new Error(`scalar ${type.name} has no JSON Schema`);
    const { min, max, min_length, max_length, pattern, format, one_of, default: otherwise } = constraint ?? {};
    return {
      ...base,
      ...(nullable && { type: [base.type, 'null'] }),
      ...defined({ minimum: min, maximum: max, minLength: min_length, maxLength: max_length, pattern, format }),
      ...defined({ enum: one_of && nullable ? [...one_of, null] : one_of, default: otherwise }),
    };
  }
  const reference = { $ref: SCHEMA_ROOT + type.name };
  return nullable ? { anyOf: [reference, { type: 'null' }] } : reference;
}

/** An object, with the bounds that the pairs have in the SDL if there is a constraint; in a change a value may be null. */
function metadataSchema(
  { name }: GraphQLScalarType,
  constraint: Constraint | undefined,
  nullable: boolean,
): JsonSchema {
  const boundsOf = (member: string): JsonSchema => {
    const field = published.fieldsOf(PAIR).find((candidate) => candidate.name.value === member);
    const { min_length, max_length, pattern } = directiveOf(field, 'constraint') ?? {};
    return defined({ minLength: min_length, maxLength: max_length, pattern });
  };
  const isBounded = constraint !== undefined;
  return {
    type: nullable ? ['object', 'null'] : 'object',
    ...(isBounded && { propertyNames: boundsOf('key') }),
    additionalProperties: {
      type: name === CHANGES_SCALAR ? ['string', 'null'] : 'string',
      ...(isBounded && boundsOf('value')),
    },
    ...defined({ maxProperties: constraint?.max_items }),
  };
}

/** The members that are not undefined. */
function defined<T extends object>(members: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof T]: Exclude<T[Name], undefined> };
}

/** Names of the input types inside arguments with @per_element. */
function typesInElements(schema: GraphQLSchema): Set<string> {
  const names = new Set<string>();
  const walk = (type: GraphQLNamedType): void => {
    if (!isInputObjectType(type) || names.has(type.name)) return;
    names.add(type.name);
    for (const field of Object.values(type.getFields())) walk(getNamedType(field.type));
  };
  for (const { astNode, type } of rootFields(schema).flatMap((field) => field.args)) {
    if (directiveOf(astNode, 'per_element')) walk(getNamedType(type));
  }
  return names;
}
