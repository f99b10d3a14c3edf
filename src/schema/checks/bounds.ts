import { type FieldDefinitionNode, type InputValueDefinitionNode, Kind, print } from 'graphql';
import { isChange, isInPath } from '../declaredOperations';
import { IF_MATCH } from '../entityTags';
import { METADATA } from '../metadata';
import type { SchemaModel } from '../model';
import { type Constraint, directiveOf, isListType } from '../sdl';
import { namedType } from '../../sdl/nodes';
import { errorsAt, type SchemaError } from './errors';

/* Finds inputs of writes that take what the stored member of the same name excludes, by its type or its bounds. */

export function boundErrors(sdl: SchemaModel): SchemaError[] {
  return [
    ...sdl.upserts.flatMap(({ element, stored }) => inputErrors(sdl, element, stored.type)),
    ...sdl.roots.flatMap(({ kind, field }) => (kind === 'Mutation' ? memberArgumentErrors(sdl, field) : [])),
  ];
}

const LOWER = ['min', 'min_length', 'min_items'] as const;
const UPPER = ['max', 'max_length', 'max_items'] as const;
/** By the format of a stored member: the stricter formats that its inputs may have as well. */
const STRICTER_FORMATS: Readonly<Record<string, readonly string[]>> = { 'known-currency': ['currency'] };

/**
 * The bounds of a stored member (`wanted`) that an input (`given`) lacks, so that it takes too much, as they are written in @constraint. With
 * `isAmended`, lower bounds and patterns do not count, since the resolver replaces a value that is blank.
 */
function looserBounds(given: Constraint, wanted: Constraint, isAmended: boolean): string[] {
  const { pattern, format, one_of: values } = wanted;
  const below = LOWER.filter((name) => wanted[name] !== undefined && !((given[name] ?? -Infinity) >= wanted[name]));
  const above = UPPER.filter((name) => wanted[name] !== undefined && !((given[name] ?? Infinity) <= wanted[name]));
  const isOfFormat = given.format === format || (STRICTER_FORMATS[format ?? ''] ?? []).includes(given.format ?? '');
  const isListed = given.one_of?.every((value) => values?.includes(value)) ?? false;
  return [
    ...[...(isAmended ? [] : below), ...above].map((name) => `${name}: ${String(wanted[name])}`),
    ...(!isAmended && pattern !== undefined && given.pattern !== pattern ? [`pattern: ${pattern}`] : []),
    ...(format !== undefined && !isOfFormat ? [`format: "${format}"`] : []),
    ...(values !== undefined && !isListed ? [`one_of: ${JSON.stringify(values)}`] : []),
  ];
}

/** Finds what an input takes but the stored field of the same name excludes; `place` is the input's name in messages, `type` has the field. */
function valueErrors(
  sdl: SchemaModel,
  place: string,
  input: InputValueDefinitionNode,
  type: string,
  field: FieldDefinitionNode,
  isAmended = false,
): SchemaError[] {
  const inputType = namedType(input.type);
  const fieldType = namedType(field.type);
  const stored = `${type}.${field.name.value}`;
  // an error of its own (inputs.ts)
  if (sdl.fieldsOf(inputType).length > 0) return [];
  const isObject = sdl.fieldsOf(fieldType).length > 0;
  const isSameType = isObject ? sdl.isInputObject(inputType) : inputType === fieldType;
  if (!isSameType || isListType(input.type) !== isListType(field.type))
    return errorsAt(
      input,
      `${place} is ${print(input.type)}, but ${stored} is ${print(field.type)}: use the same type`,
    );
  const bounds = looserBounds(
    directiveOf(input, 'constraint') ?? {},
    directiveOf(field, 'constraint') ?? {},
    isAmended,
  );
  return [
    ...errorsAt(
      input,
      ...bounds.map((bound) => `${place} takes what ${stored} excludes with ${bound}: write the same bound`),
    ),
    ...(isObject ? inputErrors(sdl, inputType, fieldType) : []),
  ];
}

/** The same of each field of an input type, by the fields of a stored type or an object inside one. */
function inputErrors(sdl: SchemaModel, input: string, type: string): SchemaError[] {
  return sdl.inputFieldsOf(input).flatMap((member) => {
    const field = sdl.fieldsOf(type).find(({ name }) => name.value === member.name.value);
    return field ? valueErrors(sdl, `${input}.${member.name.value}`, member, type, field) : [];
  });
}

/** Checks the arguments of a write that are members of the stored object that it returns. */
function memberArgumentErrors(sdl: SchemaModel, write: FieldDefinitionNode): SchemaError[] {
  const stored = sdl.stored.get(namedType(write.type));
  const { method = '', path = '' } = directiveOf(write, 'rest') ?? {};
  const isMerged = method === 'PATCH' && sdl.upserts.some((call) => call.stored === stored);
  return (write.arguments ?? []).flatMap((argument) => {
    const { value: name } = argument.name;
    const member = name === IF_MATCH ? undefined : stored?.members.find((candidate) => candidate.name === name);
    const field = member ? sdl.fieldsOf(stored?.type).find((candidate) => candidate.name.value === name) : undefined;
    if (!stored || !member || !field || isInPath(path, name)) return [];
    const place = `Mutation.${write.name.value}`;
    const { required = false, not_null: notNull = false } = directiveOf(argument, 'constraint') ?? {};
    const takesNull = argument.type.kind !== Kind.NON_NULL_TYPE && !required && !notNull;
    // where there is a bulk call, a PATCH merges as it does: what is cleared gets its default, or is an empty list
    const isCleared = isMerged && (member.isList || member.otherwise !== undefined);
    return [
      // a write that is no PATCH or PUT has a resolver of its own, such as open_request, which makes a blank subject the first line of the text
      ...valueErrors(sdl, `${place}(${name}:)`, argument, stored.type, field, !isChange(method)),
      ...errorsAt(
        argument,
        isChange(method) &&
          takesNull &&
          !isCleared &&
          field.type.kind === Kind.NON_NULL_TYPE &&
          // null removes all pairs
          name !== METADATA &&
          `${place} takes null for ${name}, but ${stored.type}.${name} is never null: add @constraint(not_null: true)`,
      ),
    ];
  });
}
