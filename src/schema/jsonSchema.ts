import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  GraphQLString,
  getDirectiveValues,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
} from 'graphql';

/*
 * SDL → JSON Schema 2020-12, the source of all validation: of REST requests (by the OpenAPI document), GraphQL arguments,
 * elements of bulk calls, and lines of an import.
 */

export type JsonSchema = Record<string, unknown>;

export interface Constraint {
  required?: boolean;
  not_null?: boolean;
  min?: number;
  max?: number;
  min_length?: number;
  max_length?: number;
  pattern?: string;
  format?: string;
  min_items?: number;
  max_items?: number;
  one_of?: string[];
  default?: number;
}

export interface JsonSchemaOptions {
  /** Whether types in the elements of bulk calls have their bounds. False for checking a whole call. */
  readonly elementBounds: boolean;
  /** Whether output objects reject unknown members. */
  readonly closed: boolean;
}

type Described = GraphQLArgument | GraphQLInputField | GraphQLField<unknown, unknown>;

const BUILT_IN: Record<string, JsonSchema> = {
  ID: { type: 'string', format: 'uuid' },
  String: { type: 'string' },
  Int: { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
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
    if (components[type.name] !== undefined || isScalarType(type)) return;
    if (isEnumType(type)) {
      const values = type.getValues();
      components[type.name] = {
        type: 'string',
        enum: values.map((value) => value.name),
        description: [
          type.description,
          ...values.map((value) => `- \`${value.name}\`: ${value.description ?? ''}`),
        ].join('\n'),
      };
      return;
    }
    if (!isObjectType(type) && !isInputObjectType(type)) return;
    components[type.name] = {};
    components[type.name] = objectSchema(schema, type.getFields(), {
      description: type.description ?? undefined,
      isInput: isInputObjectType(type),
      closed: options.closed || isInputObjectType(type),
      bounds: !elementTypes.has(type.name),
    });
    for (const { type: reached } of Object.values<{ type: GraphQLInputType | GraphQLOutputType }>(type.getFields())) {
      collect(getNamedType(reached as GraphQLOutputType));
    }
  };
  for (const field of rootFields(schema)) {
    collect(getNamedType(field.type));
    for (const argument of field.args) collect(getNamedType(argument.type));
  }
  return components;
}

/**
 * JSON Schema of a field's arguments as one object, without the bounds of elements. With `queries`, arguments must not be
 * empty.
 */
export function argumentsSchema(
  schema: GraphQLSchema,
  args: readonly GraphQLArgument[],
  { queries = false } = {},
): JsonSchema {
  return objectSchema(schema, Object.fromEntries(args.map((argument) => [argument.name, argument])), {
    isInput: true,
    closed: true,
    bounds: true,
    ...(queries && { constraintOf: (argument) => queryConstraint(schema, argument as GraphQLArgument) }),
  });
}

/** JSON Schema of an argument as a parameter, which cannot be null. */
export function parameterSchema(schema: GraphQLSchema, argument: GraphQLArgument): JsonSchema {
  const type = isNonNullType(argument.type) ? argument.type.ofType : argument.type;
  return valueSchema(type, queryConstraint(schema, argument), false);
}

/**
 * Bounds of a query argument. Filters must not be empty, or an empty variable in a caller's code would list everything
 * (contract, section 2).
 */
function queryConstraint(schema: GraphQLSchema, argument: GraphQLArgument): Constraint {
  const constraint = constraintOf(schema, argument);
  const type = getNullableType(argument.type);
  if (isListType(type)) {
    const isOfTexts = getNullableType(type.ofType) === GraphQLString;
    return { min_items: 1, ...(isOfTexts && { min_length: 1 }), ...constraint };
  }
  // an empty cursor is rejected as an invalid cursor
  const isJudgedElsewhere = argument.name === MAY_BE_EMPTY || argument.name === 'cursor';
  const isFree = type === GraphQLString && constraint.one_of === undefined && !isJudgedElsewhere;
  return isFree ? { min_length: 1, ...constraint } : constraint;
}

/** The @constraint of an argument or field. */
export function constraintOf(schema: GraphQLSchema, element: Described): Constraint {
  const directive = schema.getDirective('constraint');
  if (!directive || !element.astNode) return {};
  return getDirectiveValues(directive, element.astNode) ?? {};
}

export function rootFields(schema: GraphQLSchema): GraphQLField<unknown, unknown>[] {
  return [schema.getQueryType(), schema.getMutationType()].flatMap((type) => Object.values(type?.getFields() ?? {}));
}

interface ObjectOptions {
  readonly description?: string | undefined;
  readonly isInput: boolean;
  readonly closed: boolean;
  readonly bounds: boolean;
  /** Returns the bounds of a field; defaults to its @constraint. */
  readonly constraintOf?: (field: Described) => Constraint;
}

function objectSchema(schema: GraphQLSchema, fields: Record<string, Described>, options: ObjectOptions): JsonSchema {
  const required: string[] = [];
  const properties: Record<string, JsonSchema> = {};
  for (const [name, field] of Object.entries(fields)) {
    const bounds = options.constraintOf ?? ((described) => constraintOf(schema, described));
    const constraint = options.bounds ? bounds(field) : {};
    const needed = isNonNullType(field.type) || constraint.required === true;
    const nonNull = needed || constraint.not_null === true;
    const type = isNonNullType(field.type) ? field.type.ofType : field.type;
    properties[name] = {
      ...valueSchema(type, constraint, !nonNull),
      ...(field.description ? { description: field.description } : {}),
    };
    // responses have every field, even if null; inputs only need the required ones
    if (options.isInput ? needed : true) required.push(name);
  }
  return {
    type: 'object',
    ...(options.description ? { description: options.description } : {}),
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...(options.closed ? { additionalProperties: false } : {}),
  };
}

function valueSchema(
  type: GraphQLInputType | GraphQLOutputType,
  constraint: Constraint,
  nullable: boolean,
): JsonSchema {
  if (isNonNullType(type)) return valueSchema(type.ofType as GraphQLInputType, constraint, false);
  if (isListType(type)) {
    const item = type.ofType as GraphQLInputType;
    // length bounds apply to each string in a list
    const { min_length, max_length } = constraint;
    const ofItem = { ...(min_length !== undefined && { min_length }), ...(max_length !== undefined && { max_length }) };
    const items = isNonNullType(item) ? valueSchema(item.ofType, ofItem, false) : valueSchema(item, ofItem, true);
    return {
      type: nullable ? ['array', 'null'] : 'array',
      items,
      ...(constraint.min_items === undefined ? {} : { minItems: constraint.min_items }),
      ...(constraint.max_items === undefined ? {} : { maxItems: constraint.max_items }),
    };
  }
  if (isScalarType(type)) {
    const base = BUILT_IN[type.name] ?? (type.extensions.jsonSchema as JsonSchema | undefined);
    if (!base) throw new Error(`scalar ${type.name} has no JSON Schema`);
    return { ...base, ...(nullable ? { type: [base.type, 'null'] } : {}), ...bounds(constraint, nullable) };
  }
  const reference = { $ref: SCHEMA_ROOT + (type as GraphQLNamedType).name };
  return nullable ? { anyOf: [reference, { type: 'null' }] } : reference;
}

function bounds(constraint: Constraint, nullable: boolean): JsonSchema {
  const { min, max, min_length, max_length, pattern, format, one_of } = constraint;
  return {
    ...(min === undefined ? {} : { minimum: min }),
    ...(max === undefined ? {} : { maximum: max }),
    ...(min_length === undefined ? {} : { minLength: min_length }),
    ...(max_length === undefined ? {} : { maxLength: max_length }),
    ...(pattern === undefined ? {} : { pattern }),
    ...(format === undefined ? {} : { format }),
    ...(one_of === undefined ? {} : { enum: nullable ? [...one_of, null] : one_of }),
    ...(constraint.default === undefined ? {} : { default: constraint.default }),
  };
}

/** Names of the input types inside arguments with @per_element. */
function typesInElements(schema: GraphQLSchema): Set<string> {
  const names = new Set<string>();
  const walk = (type: GraphQLNamedType): void => {
    if (!isInputObjectType(type) || names.has(type.name)) return;
    names.add(type.name);
    for (const field of Object.values(type.getFields())) walk(getNamedType(field.type));
  };
  const directive = schema.getDirective('per_element');
  for (const argument of rootFields(schema).flatMap((field) => field.args)) {
    if (directive && argument.astNode && getDirectiveValues(directive, argument.astNode))
      walk(getNamedType(argument.type));
  }
  return names;
}
