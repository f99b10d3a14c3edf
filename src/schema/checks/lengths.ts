import { type InputValueDefinitionNode, Kind } from 'graphql';
import { LONGEST_KEY } from '../callerKeys';
import type { SchemaModel } from '../model';
import { type Constraint, directiveOf, isObjectNode } from '../sdl';
import { namedType } from '../../sdl/nodes';
import { errorsAt, type SchemaError } from './errors';

/*
 * Finds strings that callers may send at any length; only with a bound does validation refuse a long one before anything else is done with it.
 * Ids, times and days have a length of their own.
 */

/** The most characters of a key: objects are found by one of up to {@link LONGEST_KEY} code units, of which a character has one or two. */
const KEY_CHARACTERS = LONGEST_KEY / 2;

/** Formats whose values are a closed list, and so bounded. */
const LISTED_FORMATS: readonly string[] = ['currency', 'known-currency'];

export function lengthErrors(sdl: SchemaModel): SchemaError[] {
  const ofInputs = sdl.document.definitions.flatMap((node) => {
    if (node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION || node.kind === Kind.INPUT_OBJECT_TYPE_EXTENSION)
      return (node.fields ?? []).flatMap((input) => errorsOfInput(`${node.name.value}.${input.name.value}`, input));
    if (!isObjectNode(node)) return [];
    return (node.fields ?? []).flatMap(({ name, arguments: args = [] }) =>
      args.flatMap((input) => errorsOfInput(`${node.name.value}.${name.value}(${input.name.value}:)`, input)),
    );
  });
  return [...ofInputs, ...keyErrors(sdl)];
}

/** Finds unique members with values by which their objects would not be found, so that a write of one makes it again; the bounds of inputs follow (bounds.ts). */
function keyErrors(sdl: SchemaModel): SchemaError[] {
  return [...sdl.stored.values()].flatMap(({ type, unique }) => {
    const field = sdl.fieldsOf(type).find(({ name }) => name.value === unique);
    if (!field) return [];
    const constraint = directiveOf(field, 'constraint') ?? {};
    const { max_length: most } = constraint;
    const isFound = most === undefined ? isListed(constraint) : most <= KEY_CHARACTERS;
    return errorsAt(
      field,
      !isFound &&
        `${type}.${field.name.value} is unique, and objects are found by at most ${String(KEY_CHARACTERS)} characters, but it has ${most === undefined ? 'no max_length' : `max_length: ${String(most)}`}: write @constraint(max_length: ${String(KEY_CHARACTERS)}) or less, there and in its inputs`,
    );
  });
}

/** Whether a text has one of a closed list of values. */
const isListed = ({ one_of: listed, format = '' }: Constraint): boolean =>
  listed !== undefined || LISTED_FORMATS.includes(format);

function errorsOfInput(place: string, input: InputValueDefinitionNode): SchemaError[] {
  const constraint = directiveOf(input, 'constraint') ?? {};
  const isBounded =
    constraint.max_length !== undefined ||
    isListed(constraint) ||
    (directiveOf(input, 'event_types') ?? directiveOf(input, 'object_types')) !== undefined;
  return errorsAt(
    input,
    namedType(input.type) === 'String' &&
      !isBounded &&
      `${place} takes a string of any length: add @constraint(max_length: …)`,
  );
}
