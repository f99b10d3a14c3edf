import {
  type DefinitionNode,
  type FieldDefinitionNode,
  type GraphQLSchema,
  type InputValueDefinitionNode,
  isInputType,
  Kind,
  print,
  typeFromAST,
  valueFromAST,
} from 'graphql';
import { isChange, isInPath } from '../declaredOperations';
import { IF_MATCH } from '../entityTags';
import { filterOf } from '../filters';
import { METADATA, PAIR } from '../metadata';
import { omittedFrom } from '../restDocument';
import { type Constraint, directiveOf, FORMATS, isListType, isRootType, rowName, SUBSCRIPTION } from '../sdl';
import { namedType } from '../../sdl/nodes';
import type { SchemaModel } from '../model';
import { notRegularExpression, ownersOf, type StoredMember, type StoredType, typeOf, typesIn } from '../storedTypes';
import { attachmentErrors } from './attachables';
import { errorsAt, nodeOf, type SchemaError } from './errors';

/* Finds parts of the SDL that contradict each other, so that an API would not do what the schema says. */

export function agreementErrors(sdl: SchemaModel, schema: GraphQLSchema): SchemaError[] {
  const inner = new Set([...sdl.stored.values()].flatMap(({ members }) => members.flatMap(typesIn)));
  return [
    ...[...sdl.stored.values()].flatMap((stored) => storedErrors(sdl, stored)),
    ...sdl.fields.flatMap(({ type, field }) => memberErrors(sdl, type, field, inner)),
    ...sdl.document.definitions.flatMap((node) => emptyErrors(sdl, node)),
    ...attachmentErrors(sdl),
    ...inputs(sdl).flatMap(([place, input]) => constraintErrors(place, input)),
    ...defaultErrors(sdl, schema),
    ...sdl.roots.flatMap(({ kind, field }) => pathErrors(`${kind}.${field.name.value}`, field)),
    ...sdl.upserts.flatMap(({ element, stored }) => inputErrors(sdl, element, stored.type)),
    ...sdl.roots.flatMap(({ kind, field }) => (kind === 'Mutation' ? memberArgumentErrors(sdl, field) : [])),
  ];
}

/** Checks what lists and the search need of a stored type, and that what it refers to is stored. */
function storedErrors(sdl: SchemaModel, stored: StoredType): SchemaError[] {
  const { type, collection, members, relations } = stored;
  const has = (name: string, wanted: string): boolean =>
    members.some((member) => member.name === name && member.type === wanted && member.isRequired);
  const list = sdl.rootField(collection);
  // a list with another name is an error of its own
  const isMisnamed = !list && sdl.roots.some(({ field }) => rowName(field) === type);
  const search = list?.arguments?.find((argument) => filterOf(argument)?.by === 'WORDS');
  const isSearchable = searchableIn(members).length > 0;
  const [owner, other] = ownersOf(stored, sdl.stored.values());
  return [
    ...errorsAt(
      nodeOf(sdl, type),
      !has('id', 'ID') && `${type} is @stored but has no id: add id: ID!`,
      !has('created_at', 'DateTime') &&
        `${type} is @stored but has no created_at, which lists are sorted by: add created_at: DateTime!`,
      search &&
        !isSearchable &&
        `${type} is searched by Query.${collection}(${search.name.value}:), but no member of ${type} is @searchable`,
      !search &&
        isSearchable &&
        !isMisnamed &&
        `${type} has members that are @searchable, but no argument of Query.${collection} has @filter(by: WORDS)`,
      // whose scope is that of its events and attachments, too
      !list &&
        !isMisnamed &&
        !owner &&
        `${type} is @stored but nothing says which scope reads it: add ${collection}: ${type}Page with @access(scope:) to Query`,
      other &&
        `${type} lacks updated_at, so it would be part of both ${String(owner?.type)} and ${other.type}: add updated_at: DateTime!, or refer to one of them`,
    ),
    ...relations.flatMap(({ field, type: other, member, isList }) =>
      errorsAt(
        field,
        !isListType(field.type) &&
          typeOf(isList ? sdl.stored.get(other) : stored, member) !== 'ID' &&
          `${type}.${field.name.value} needs a member ${member} of type ID in ${isList ? other : type}: add it`,
      ),
    ),
  ];
}

function searchableIn(members: readonly StoredMember[]): StoredMember[] {
  return members.flatMap((member) => [...(member.isSearchable ? [member] : []), ...searchableIn(member.members)]);
}

/**
 * Checks whether REST and exports may have a field of an object type, and its metadata and search. `inner` are the types of which stored objects
 * consist.
 */
function memberErrors(
  sdl: SchemaModel,
  type: string,
  field: FieldDefinitionNode,
  inner: ReadonlySet<string>,
): SchemaError[] {
  if (isRootType(type) || type === SUBSCRIPTION) return [];
  const place = `${type}.${field.name.value}`;
  const from = omittedFrom(field);
  const stored = sdl.stored.get(type);
  const isStored = stored ? typeOf(stored, field.name.value) !== undefined : inner.has(type);
  const isRelation = stored?.relations.some((relation) => relation.field === field) ?? false;
  return errorsAt(
    field,
    isStored &&
      (field.name.value === METADATA || namedType(field.type) === PAIR) &&
      !(stored && field.name.value === METADATA && print(field.type) === `[${PAIR}!]!`) &&
      `${place} is ${print(field.type)}: metadata is ${METADATA}: [${PAIR}!]! of a type with @stored`,
    isStored &&
      namedType(field.type) === PAIR &&
      directiveOf(field, 'constraint')?.max_items === undefined &&
      `${place} takes any number of pairs: add @constraint(max_items: 50)`,
    isRelation &&
      (from === undefined || from === 'LISTS') &&
      `${place} leads to another object, which REST has only if \`include\` names it: add @graphql_only, or @graphql_only(on: UNLESS_INCLUDED)`,
    !isRelation &&
      from === undefined &&
      directiveOf(field, 'access') &&
      `${place} has its own @access, but REST returns every field to all who may call it: add @graphql_only`,
    isStored &&
      from === 'EVERYWHERE' &&
      `${place} is stored but has @graphql_only, so exports would lose it: remove @graphql_only`,
    directiveOf(field, 'searchable') &&
      namedType(field.type) !== 'String' &&
      `${place} is ${print(field.type)}, but the search finds words of a String only: remove @searchable`,
  );
}

/** Checks that REST has a field of each object type, since GraphQL has no type without any. */
function emptyErrors(sdl: SchemaModel, node: DefinitionNode): SchemaError[] {
  if (node.kind !== Kind.OBJECT_TYPE_DEFINITION) return [];
  const { value: name } = node.name;
  if (isRootType(name) || name === SUBSCRIPTION) return [];
  const isEmpty = sdl.fieldsOf(name).every((field) => omittedFrom(field) === 'EVERYWHERE');
  return errorsAt(node, isEmpty && `${name} has no field in REST: remove @graphql_only from one`);
}

/** The name of an argument or input field in messages, with its node. */
type Place = readonly [name: string, node: InputValueDefinitionNode];

/** Arguments and fields of input types. */
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

/** Finds constraints that nothing checks. */
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

/** A path of words in lower case, and of parameters as :name. */
const PATH = /^(?:\/(?:[a-z0-9_-]+|:[a-z0-9_]+))+$/;

function pathErrors(place: string, field: FieldDefinitionNode): SchemaError[] {
  const { path } = directiveOf(field, 'rest') ?? {};
  if (path === undefined) return [];
  if (!PATH.test(path)) {
    const wanted = path.replaceAll(/\{(\w+)\}/g, ':$1');
    const correction = PATH.test(wanted) ? `write ${wanted}` : 'write one like /invoices/:id';
    return errorsAt(field, `${place} has the path ${path}, which matches no request: ${correction}`);
  }
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
  return names.flatMap((name) => {
    const argument = field.arguments?.find((candidate) => candidate.name.value === name);
    return errorsAt(
      field,
      !argument && `${place} has :${String(name)} in its path but no argument ${String(name)}: add it`,
      argument &&
        argument.type.kind !== Kind.NON_NULL_TYPE &&
        `${place} takes ${String(name)} from its path, so it must be non-null: add !`,
    );
  });
}

const LOWER = ['min', 'min_length', 'min_items'] as const;
const UPPER = ['max', 'max_length', 'max_items'] as const;
/** By the format of a stored member: other formats of inputs, all of whose values are of it. */
const SUBSETS: Readonly<Record<string, readonly string[]>> = { 'known-currency': ['currency'] };

/**
 * The bounds of a stored member (`wanted`) that an input (`given`) lacks, so that it takes too much. With `isAmended`, lower bounds and patterns
 * do not count, since the resolver replaces a value that is blank.
 */
function looserBounds(given: Constraint, wanted: Constraint, isAmended: boolean): string[] {
  const { pattern, format, one_of: values } = wanted;
  const below = LOWER.filter((name) => wanted[name] !== undefined && !((given[name] ?? -Infinity) >= wanted[name]));
  const above = UPPER.filter((name) => wanted[name] !== undefined && !((given[name] ?? Infinity) <= wanted[name]));
  const isOfFormat = given.format === format || (SUBSETS[format ?? ''] ?? []).includes(given.format ?? '');
  const isListed = given.one_of?.every((value) => values?.includes(value)) ?? false;
  return [
    ...[...(isAmended ? [] : below), ...above].map((name) => `${name}: ${String(wanted[name])}`),
    ...(!isAmended && pattern !== undefined && given.pattern !== pattern ? [`pattern: ${pattern}`] : []),
    ...(format !== undefined && !isOfFormat ? [`format: "${format}"`] : []),
    ...(values !== undefined && !isListed ? [`one_of: ${JSON.stringify(values)}`] : []),
  ];
}

/** Finds what an input takes but the stored field of the same name excludes. */
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
    // the merge of a bulk call, which changes the type's objects in a PATCH, too, gives what is cleared its default, or makes it an empty list
    const isCleared = isMerged && (member.isList || member.otherwise !== undefined);
    return [
      // any other write has a resolver of its own, as open_request, which makes a blank subject the first line of the text
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
