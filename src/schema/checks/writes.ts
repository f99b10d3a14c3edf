import countCharacters from 'ajv/dist/runtime/ucs2length';
import {
  type FieldDefinitionNode,
  GRAPHQL_MAX_INT,
  GRAPHQL_MIN_INT,
  type InputValueDefinitionNode,
  Kind,
  print,
} from 'graphql';
import { isChange, isInPath } from '../declaredOperations';
import { IF_MATCH } from '../entityTags';
import { PAIR } from '../metadata';
import { type Constraint, directiveOf, isListType, type Sdl } from '../sdl';
import { namedType } from '../../sdl/nodes';
import { hasParts, POSITION, SET_BY_WRITES, type StoredMember, type StoredType } from '../storedTypes';
import type { BulkUpsert } from '../upserts';
import { type Checked, errorsAt, type SchemaError } from './errors';
import { isRegularExpression } from './inputs';

/* Finds writes that would lose what callers send. */

export function writeErrors({ sdl }: Checked): SchemaError[] {
  const ofUpserts = sdl.upserts.flatMap((upsert) => [
    ...inputErrors(sdl, upsert.element, upsert.stored.type, upsert.stored.members),
    ...sdl
      .inputFieldsOf(upsert.element)
      .flatMap((node) => replacingErrors(`${upsert.element}.${node.name.value}`, node, upsert.stored)),
    ...missingErrors(sdl, upsert),
  ]);
  const ofChanges = sdl.roots.flatMap(({ kind, field }) => {
    const stored = kind === 'Mutation' ? sdl.stored.get(namedType(field.type)) : undefined;
    return stored ? argumentErrors(sdl, field, stored) : [];
  });
  return [...ofUpserts, ...ofChanges, ...sdl.fields.flatMap(({ type, field }) => defaultErrors(sdl, type, field))];
}

/** Finds the default of an input whose member is to keep its value where it is left out. */
function replacingErrors(
  place: string,
  { name, defaultValue }: InputValueDefinitionNode,
  { type }: StoredType,
): SchemaError[] {
  return errorsAt(
    defaultValue,
    defaultValue &&
      `${place} has the default ${print(defaultValue)}, which would replace what is stored: remove it, or give ${type}.${name.value} @default`,
  );
}

/** Finds members that are never null, but that a new object of a bulk call could lack. */
function missingErrors(sdl: Sdl, { element, stored, set, key }: BulkUpsert): SchemaError[] {
  return stored.members.flatMap(({ name, isRequired, isList, otherwise }) => {
    if (!isRequired || isList || otherwise || name === key || SET_BY_WRITES.includes(name)) return [];
    const input = sdl.inputFieldsOf(element).find((candidate) => candidate.name.value === name);
    const place = `${stored.type}.${name}`;
    // then an element must have it for a new object (`needed` of upserts.ts); one that exists keeps its own
    const isNeeded = directiveOf(input, 'constraint')?.not_null === true;
    return errorsAt(
      input ?? sdl.fieldsOf(stored.type).find((member) => member.name.value === name),
      !set.includes(name) &&
        `${place} is never null, but ${element} does not set it: add it there, or @default to ${place}`,
      set.includes(name) &&
        !isNeeded &&
        !isAlwaysGiven(input) &&
        `${element}.${name} may be null, but ${place} is never null: add @constraint(not_null: true), or @default to ${place}`,
    );
  });
}

/** Whether every object of an input has the field. Not with a default, which only GraphQL fills in. */
function isAlwaysGiven(input: InputValueDefinitionNode | undefined): boolean {
  const isNonNull = input?.type.kind === Kind.NON_NULL_TYPE && input.defaultValue === undefined;
  return isNonNull || directiveOf(input, 'constraint')?.required === true;
}

/** Finds @default with a value of another type or outside its bounds, or with more or less than one of its arguments. */
function defaultErrors(sdl: Sdl, type: string, field: FieldDefinitionNode): SchemaError[] {
  const otherwise: { readonly value?: unknown; readonly from?: string } | undefined = directiveOf(field, 'default');
  if (!otherwise) return [];
  const place = `${type}.${field.name.value}`;
  const { value } = otherwise;
  const isOne = (value === undefined) !== (otherwise.from === undefined);
  const named = namedType(field.type);
  const values = sdl.enumValuesOf(named).map(({ name }) => name.value);
  const isEnum = values.length > 0;
  const fits = !isListType(field.type) && (isEnum ? values.some((name) => name === value) : isOfType(named, value));
  const text = `${place} has @default(value: ${JSON.stringify(value)}), which`;
  return errorsAt(
    field,
    !isOne && `${place} has @default with ${value === undefined ? 'neither' : 'both'} value and from: give one of them`,
    isOne &&
      value !== undefined &&
      !fits &&
      `${text} is not ${print(field.type)}${named === 'Int' ? ' of 32 bits' : ''}: correct it`,
    isOne &&
      value !== undefined &&
      fits &&
      !isWithin(directiveOf(field, 'constraint') ?? {}, value) &&
      `${text} its @constraint excludes: correct it`,
    isOne &&
      value === undefined &&
      (named !== 'String' || isListType(field.type)) &&
      `${place} has @default(from:), which gives the code of a currency, but is ${print(field.type)}: write String!`,
  );
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'Boolean') return typeof value === 'boolean';
  if (type === 'String') return typeof value === 'string';
  if (type === 'Float') return Number.isFinite(value);
  if (type === 'Int')
    return Number.isInteger(value) && Number(value) >= GRAPHQL_MIN_INT && Number(value) <= GRAPHQL_MAX_INT;
  return type === 'Minor' && Number.isSafeInteger(value);
}

/** Whether a value is within the bounds of its member. */
function isWithin(constraint: Constraint, value: unknown): boolean {
  const { min = -Infinity, max = Infinity, pattern, one_of: values } = constraint;
  if (typeof value === 'number') return value >= min && value <= max;
  if (typeof value !== 'string') return true;
  const length = countCharacters(value);
  return (
    length >= (constraint.min_length ?? 0) &&
    length <= (constraint.max_length ?? Infinity) &&
    // one that cannot be compiled is an error of its own
    (pattern === undefined || !isRegularExpression(pattern) || new RegExp(pattern, 'u').test(value)) &&
    values?.includes(value) !== false
  );
}

/** Finds members of an input that the stored type lacks. */
function inputErrors(sdl: Sdl, input: string, type: string, members: readonly StoredMember[]): SchemaError[] {
  return sdl.inputFieldsOf(input).flatMap((node) => {
    const { value: name } = node.name;
    const member = members.find((candidate) => candidate.name === name);
    const isLost = `${input}.${name} is no member of ${type}, so it would be lost: add it there, or remove it`;
    return member ? nestedErrors(sdl, node, member) : errorsAt(node, isLost);
  });
}

/** The same inside an object that an input sets: members that it lacks, and those that it would leave null. */
function nestedErrors(sdl: Sdl, node: InputValueDefinitionNode, member: StoredMember): SchemaError[] {
  const input = namedType(node.type);
  if (!sdl.isInputObject(input) || member.members.length === 0) return [];
  return [
    ...inputErrors(sdl, input, member.type, member.members),
    ...(directiveOf(node, 'ignored') ? [] : missingInside(sdl, input, member)),
  ];
}

/** Finds members that are never null, but that an object inside another could lack; such an object is always written as a whole. */
function missingInside(sdl: Sdl, input: string, member: StoredMember): SchemaError[] {
  // a null for a pair of metadata removes it
  if (member.type === PAIR) return [];
  return member.members.flatMap(({ name, isRequired, isList, otherwise }) => {
    // the gateway fills these in
    const isMade = name === 'id' || (name === POSITION && hasParts(member));
    if (!isRequired || isList || otherwise || isMade) return [];
    const node = sdl.inputFieldsOf(input).find((candidate) => candidate.name.value === name);
    const place = `${member.type}.${name}`;
    return errorsAt(
      node ?? sdl.fieldsOf(member.type).find((field) => field.name.value === name),
      !node && `${place} is never null, but ${input} does not set it: add it there, or @default to ${place}`,
      node &&
        !isAlwaysGiven(node) &&
        `${input}.${name} may be left out, but ${place} is never null: add @constraint(required: true), or @default to ${place}`,
    );
  });
}

/** Finds arguments that are not members of the object that a write changes; all arguments of a PATCH or PUT must be members. */
function argumentErrors(sdl: Sdl, field: FieldDefinitionNode, stored: StoredType): SchemaError[] {
  const { method = '', path = '' } = directiveOf(field, 'rest') ?? {};
  return (field.arguments ?? []).flatMap((argument) => {
    const { value: name } = argument.name;
    const member = stored.members.find((candidate) => candidate.name === name);
    if (member)
      return [
        ...(isChange(method) ? replacingErrors(`Mutation.${field.name.value}(${name}:)`, argument, stored) : []),
        ...nestedErrors(sdl, argument, member),
      ];
    const isVersionRequired = name === IF_MATCH && argument.type.kind === Kind.NON_NULL_TYPE;
    const isLost = isChange(method) && name !== IF_MATCH && !isInPath(path, name);
    return errorsAt(
      argument,
      isLost &&
        `Mutation.${field.name.value}(${name}:) is no member of ${stored.type}, which a ${method} sets: add it there, or use POST`,
      isVersionRequired &&
        `Mutation.${field.name.value}(${name}:) is never null, but tools have no tag to send: make it nullable`,
    );
  });
}
