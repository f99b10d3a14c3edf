import { type InputValueDefinitionNode, Kind } from 'graphql';
import { directiveOf, isObjectNode, type Sdl } from '../sdl';
import { namedType } from '../../sdl/nodes';
import { errorsAt, type SchemaError } from './errors';

/*
 * Finds strings that callers may send at any length; only with a bound does validation refuse a long one before anything else is done with it.
 * Ids, times and days have a length of their own.
 */

/** Formats whose values are a closed list, and so bounded. */
const LISTED_FORMATS: readonly string[] = ['currency', 'known-currency'];

export function lengthErrors({ document }: Sdl): SchemaError[] {
  return document.definitions.flatMap((node) => {
    if (node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION || node.kind === Kind.INPUT_OBJECT_TYPE_EXTENSION)
      return (node.fields ?? []).flatMap((input) => errorsOfInput(`${node.name.value}.${input.name.value}`, input));
    if (!isObjectNode(node)) return [];
    return (node.fields ?? []).flatMap(({ name, arguments: args = [] }) =>
      args.flatMap((input) => errorsOfInput(`${node.name.value}.${name.value}(${input.name.value}:)`, input)),
    );
  });
}

function errorsOfInput(place: string, input: InputValueDefinitionNode): SchemaError[] {
  const { max_length: most, one_of: listed, format = '' } = directiveOf(input, 'constraint') ?? {};
  const isBounded =
    most !== undefined ||
    listed !== undefined ||
    LISTED_FORMATS.includes(format) ||
    (directiveOf(input, 'event_types') ?? directiveOf(input, 'object_types')) !== undefined;
  return errorsAt(
    input,
    namedType(input.type) === 'String' &&
      !isBounded &&
      `${place} takes a string of any length: add @constraint(max_length: …)`,
  );
}
