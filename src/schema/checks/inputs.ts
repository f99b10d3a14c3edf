import {
  buildASTSchema,
  type DocumentNode,
  type FieldDefinitionNode,
  type GraphQLSchema,
  type InputValueDefinitionNode,
  isInputType,
  isScalarType,
  Kind,
  print,
  typeFromAST,
  valueFromAST,
} from 'graphql';
import type { SchemaModel } from '../model';
import { scalars } from '../scalars';
import { type Constraint, directiveOf, FORMATS, isListType } from '../sdl';
import { namedType } from '../../sdl/nodes';
import { notRegularExpression } from '../storedTypes';
import { errorsAt, type SchemaError } from './errors';

/* Finds inputs and members with constraints, and inputs with defaults, that would have no effect, lists of what no list may have, and types in the place of input types. */

export function inputErrors(sdl: SchemaModel): SchemaError[] {
  const members = sdl.fields.map(({ type, field }) => [`${type}.${field.name.value}`, field] as const);
  return [
    ...[...inputs(sdl), ...members].flatMap(([place, node]) => [
      ...constraintErrors(place, node),
      ...elementErrors(place, node),
    ]),
    ...defaultErrors(sdl),
    ...inputs(sdl).flatMap((input) => inputTypeErrors(sdl, input)),
    ...members.flatMap((member) => memberTypeErrors(sdl, member)),
  ];
}

/** The name of an argument or input field in messages, with its node. */
type Place = readonly [name: string, node: InputValueDefinitionNode];

/** All arguments, and all fields of input types. */
function inputs({ document, fields }: SchemaModel): Place[] {
  return [
    ...fields.flatMap(({ type, field: { name, arguments: args = [] } }) =>
      args.map((node): Place => [`${type}.${name.value}(${node.name.value}:)`, node]),
    ),
    ...document.definitions.flatMap((node) =>
      node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION
        ? (node.fields ?? []).map((field): Place => [`${node.name.value}.${field.name.value}`, field])
        : [],
    ),
  ];
}

/** Scalars that are strings in JSON, and numbers. */
const TEXTS: readonly string[] = ['String', 'ID', 'DateTime', 'Date', 'Plan'];
const NUMBERS: readonly string[] = ['Int', 'Float', 'Minor', 'Version', 'Bytes'];

/** The types that bounds are for; the other arguments of @constraint are for all types. */
const BOUNDED: Partial<Record<keyof Constraint, readonly string[]>> = {
  min: NUMBERS,
  max: NUMBERS,
  min_length: TEXTS,
  max_length: TEXTS,
  pattern: TEXTS,
  format: TEXTS,
  one_of: TEXTS,
};

/** Finds constraints that the validator would ignore or not compile. */
function constraintErrors(place: string, node: InputValueDefinitionNode | FieldDefinitionNode): SchemaError[] {
  const constraint = directiveOf(node, 'constraint') ?? {};
  const { pattern, format } = constraint;
  const ignored = Object.keys(constraint).filter((name) =>
    name === 'min_items' || name === 'max_items'
      ? !isListType(node.type)
      : BOUNDED[name as keyof Constraint]?.includes(namedType(node.type)) === false,
  );
  return errorsAt(
    node,
    ...ignored.map(
      (name) => `${place} has @constraint(${name}:), which does nothing for ${print(node.type)}: remove it`,
    ),
    pattern !== undefined && !isRegularExpression(pattern) && `${place} has ${notRegularExpression(pattern)}`,
    format !== undefined &&
      !FORMATS.includes(format) &&
      `${place} has @constraint(format: "${format}"), which nothing checks: use ${FORMATS.join(', ')}`,
  );
}

/** Finds lists with elements that are null or lists, which the database's check of rows refuses (stored/storedSchema.ts). */
function elementErrors(place: string, node: InputValueDefinitionNode | FieldDefinitionNode): SchemaError[] {
  const list = node.type.kind === Kind.NON_NULL_TYPE ? node.type.type : node.type;
  if (list.kind !== Kind.LIST_TYPE) return [];
  const flat = `[${namedType(node.type)}!]${list === node.type ? '' : '!'}`;
  return errorsAt(
    node,
    isListType(list.type)
      ? `${place} is ${print(node.type)}, but a list has no lists in it: write ${flat}, or a list of objects with a list each`
      : list.type.kind !== Kind.NON_NULL_TYPE &&
          `${place} is ${print(node.type)}, but no element of a list is null: write ${flat}`,
  );
}

/** Whether the validator can compile a pattern. */
export function isRegularExpression(pattern: string): boolean {
  try {
    // as the validator reads it
    return new RegExp(pattern, 'u').unicode;
  } catch {
    return false;
  }
}

/** Finds a type of answers in an input, which GraphQL does not check in a document that is not yet a schema. */
function inputTypeErrors(sdl: SchemaModel, [place, node]: Place): SchemaError[] {
  const type = namedType(node.type);
  const text = print(node.type);
  return errorsAt(
    node,
    sdl.fieldsOf(type).length > 0 &&
      `${place} is ${text}, but ${type} is no input type: write ${text.replace(type, `${type}Input`)}, and an input ${type}Input with the members that callers send`,
  );
}

/** Finds an input type in an answer. */
function memberTypeErrors(sdl: SchemaModel, [place, node]: readonly [string, FieldDefinitionNode]): SchemaError[] {
  const type = namedType(node.type);
  return errorsAt(
    node,
    sdl.isInputObject(type) &&
      `${place} is ${print(node.type)}, but ${type} is an input type: write a type with its members`,
  );
}

/** Finds defaults of another type, which graphql-js drops without a word. */
function defaultErrors(sdl: SchemaModel): SchemaError[] {
  const schema = schemaOf(sdl.document);
  return inputs(sdl).flatMap(([place, node]) => {
    const { defaultValue } = node;
    if (!defaultValue) return [];
    const type = typeFromAST(schema, node.type);
    const isLost = isInputType(type) && valueFromAST(defaultValue, type) === undefined;
    return errorsAt(
      node,
      isLost &&
        `${place} has the default ${print(defaultValue)}, which is not ${print(node.type)}: change or remove it`,
    );
  });
}

/** The schema of a document, whose scalars read values as those that are served do: those of buildASTSchema take any. */
function schemaOf(document: DocumentNode): GraphQLSchema {
  const schema = buildASTSchema(document, { assumeValidSDL: true, assumeValid: true });
  for (const [name, { parseLiteral }] of Object.entries(scalars)) {
    const type = schema.getType(name);
    if (isScalarType(type)) type.parseLiteral = parseLiteral;
  }
  return schema;
}
