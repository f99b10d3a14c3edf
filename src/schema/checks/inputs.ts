import {
  type GraphQLSchema,
  type InputValueDefinitionNode,
  isInputType,
  Kind,
  print,
  typeFromAST,
  valueFromAST,
} from 'graphql';
import type { SchemaModel } from '../model';
import { directiveOf, FORMATS } from '../sdl';
import { notRegularExpression } from '../storedTypes';
import { errorsAt, type SchemaError } from './errors';

/* Finds inputs with constraints or defaults that would have no effect. */

export function inputErrors(sdl: SchemaModel, schema: GraphQLSchema): SchemaError[] {
  return [...inputs(sdl).flatMap(([place, input]) => constraintErrors(place, input)), ...defaultErrors(sdl, schema)];
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

/** Finds patterns and formats that the validator would ignore or not compile. */
function constraintErrors(place: string, node: InputValueDefinitionNode): SchemaError[] {
  const { pattern, format } = directiveOf(node, 'constraint') ?? {};
  return errorsAt(
    node,
    pattern !== undefined && !isRegularExpression(pattern) && `${place} has ${notRegularExpression(pattern)}`,
    format !== undefined &&
      !FORMATS.includes(format) &&
      `${place} has @constraint(format: "${format}"), which nothing checks: use ${FORMATS.join(', ')}`,
  );
}

function isRegularExpression(pattern: string): boolean {
  try {
    // as the validator reads it
    return new RegExp(pattern, 'u').unicode;
  } catch {
    return false;
  }
}

/** Finds defaults of another type, which graphql-js drops without a word. */
function defaultErrors(sdl: SchemaModel, schema: GraphQLSchema): SchemaError[] {
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
