import {
  type ConstArgumentNode,
  type DocumentNode,
  getNamedType,
  getNullableType,
  type GraphQLSchema,
  type InputValueDefinitionNode,
  isEnumType,
  isInputType,
  isListType,
  Kind,
  print,
  specifiedDirectives,
  typeFromAST,
  valueFromAST,
} from 'graphql';
import { type Place, placesOf } from './places';
import { omittedFrom } from '../restDocument';
import { directiveOf, rootFieldNodes, rowName } from '../sdl';
import { sentences } from './sentences';

/* Finds directives with values that they do not take, and where they have no effect. */

interface Effect {
  readonly kinds: readonly string[];
  /** In words. */
  readonly where: string;
}

const ROOTS: Effect = { kinds: ['query', 'mutation'], where: 'fields of Query and Mutation' };
const MEMBERS: Effect = { kinds: ['member'], where: 'fields of other types than Query, Mutation and Subscription' };
const ARGUMENTS: Effect = { kinds: ['argument'], where: 'arguments of fields' };

/** Where each directive has an effect. */
const EFFECTS: ReadonlyMap<string, Effect> = new Map([
  ['rest', ROOTS],
  ['mcp', { ...ROOTS, where: 'root fields' }],
  ['sunset', ROOTS],
  ['totals', { kinds: ['query'], where: 'fields of Query' }],
  ['aggregates', { kinds: ['query'], where: 'fields of Query' }],
  ['access', { kinds: ['query', 'mutation', 'stream', 'member'], where: 'fields of object types' }],
  ['graphql_only', MEMBERS],
  ['searchable', MEMBERS],
  ['untrusted', MEMBERS],
  ['constraint', { kinds: ['argument', 'input', 'member'], where: 'arguments, and fields of input and object types' }],
  ['filter', ARGUMENTS],
  ['per_element', ARGUMENTS],
  ['event_types', ARGUMENTS],
  ['personal', MEMBERS],
  ['stored', { kinds: ['type'], where: 'object types' }],
]);

/** Finds values that directives do not take. Checked before all else, which reads them. */
export function valueGaps(document: DocumentNode, schema: GraphQLSchema): string[] {
  return placesOf(document).all.flatMap((place) => valuesAt(place, schema));
}

/** One message per gap, with what to change where. */
export function directiveGaps(document: DocumentNode, schema: GraphQLSchema): string[] {
  const { all, inputs } = placesOf(document);
  return [
    ...unknownDirectives(document),
    ...all.flatMap(effectGaps),
    ...inputs.flatMap(({ name, node }) => defaultGaps(node, schema).map((gap) => `${name} ${gap}`)),
    ...rowGaps(document),
  ];
}

function unknownDirectives(document: DocumentNode): string[] {
  return document.definitions.flatMap((node) =>
    node.kind === Kind.DIRECTIVE_DEFINITION && !EFFECTS.has(node.name.value) && !isSpecified(node.name.value)
      ? [`@${node.name.value} is defined, but nothing reads it: remove it`]
      : [],
  );
}

function isSpecified(name: string): boolean {
  return specifiedDirectives.some((one) => one.name === name);
}

function effectGaps({ name: place, kind, node }: Place): string[] {
  return (node.directives ?? []).flatMap(({ name: { value: name } }) => {
    const effect = EFFECTS.get(name);
    return sentences(
      effect && !effect.kinds.includes(kind) && `${place} has @${name}, which is for ${effect.where}: remove it`,
      name === 'oneOf' && `${place} has @oneOf, which REST would not check: remove it`,
    );
  });
}

/** Values that have sentences of their own, since they come from src/auth/ and src/schema/declaredOperations.ts. */
const JUDGED_ELSEWHERE = ['rest.method', 'access.scope', 'access.any_of', 'access.role'];

function valuesAt({ name: place, node }: Place, schema: GraphQLSchema): string[] {
  return (node.directives ?? []).flatMap(({ name: { value: name }, arguments: args = [] }) =>
    args
      .filter((given) => !JUDGED_ELSEWHERE.includes(`${name}.${given.name.value}`))
      .filter((given) => !isTaken(given, name, schema))
      .map(({ name: { value: argument }, value }) => {
        const type = typeOf(schema, name, argument);
        const named = type && getNamedType(type);
        const wanted = isEnumType(named)
          ? named
              .getValues()
              .map((one) => one.name)
              .join(', ')
          : String(type);
        const one = isEnumType(named) ? 'one of ' : '';
        return `${place} has @${name}(${argument}: ${print(value)}): write ${one}${wanted}`;
      }),
  );
}

function typeOf(schema: GraphQLSchema, directive: string, argument: string) {
  return schema.getDirective(directive)?.args.find(({ name }) => name === argument)?.type;
}

/** Whether a directive takes a value. None means anything by null, and a list is read as it stands. */
function isTaken({ name, value }: ConstArgumentNode, directive: string, schema: GraphQLSchema): boolean {
  const type = typeOf(schema, directive, name.value);
  if (type === undefined) return true;
  const isOne = isListType(getNullableType(type)) && value.kind !== Kind.LIST;
  return !isOne && value.kind !== Kind.NULL && valueFromAST(value, type) !== undefined;
}

/** Finds defaults of the wrong type, which graphql-js leaves out without a word. */
function defaultGaps({ type: node, defaultValue }: InputValueDefinitionNode, schema: GraphQLSchema): string[] {
  if (!defaultValue) return [];
  const type = typeFromAST(schema, node);
  if (!isInputType(type) || valueFromAST(defaultValue, type) !== undefined) return [];
  return [`has the default ${print(defaultValue)}, which is not ${print(node)}: change or remove it`];
}

/** Finds fields that only lists omit, of types that no list returns. */
function rowGaps(document: DocumentNode): string[] {
  const listed = new Set(
    rootFieldNodes(document).flatMap(({ field }) => (directiveOf(field, 'rest') ? (rowName(field) ?? []) : [])),
  );
  const held = placesOf(document).fields.filter(({ kind, node }) => kind === 'member' && omittedFrom(node) === 'LISTS');
  const first = new Map([...held].reverse().map(({ owner, name }) => [owner, name]));
  return held.flatMap(({ name, owner }) =>
    sentences(
      !listed.has(owner) &&
        `${name} has @graphql_only(on: LISTS), but no list on REST has rows of ${owner}: remove (on: LISTS), or all of it`,
      first.get(owner) !== name &&
        `${name} has @graphql_only(on: LISTS) beside ${String(first.get(owner))}: a list includes only one field`,
    ),
  );
}
