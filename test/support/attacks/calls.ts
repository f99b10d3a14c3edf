import {
  astFromValue,
  type FieldNode,
  type GraphQLObjectType,
  Kind,
  type NameNode,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionNode,
} from 'graphql';
import type { Operation } from '../../../src/schema/declaredOperations';
import type { Arguments } from '../faces';
import type { Answer, Client, Json } from '../client';
import { documentOf, type Face, GRAPHQL, graphqlSchema, MCP, REST } from '../operations';

/** The answer to a call, with the part that depends on the attacked value. */
export interface Called {
  readonly answer: Answer;
  readonly value: Json;
  /** Code, status and so on; undefined if there was no error. */
  readonly error: Json;
}

/** One way to pass arguments to an operation. */
export interface Way {
  readonly name: string;
  readonly face: Face;
  /** Calls with `args`; a way that also sends a regular call uses `beside` for that. */
  call(caller: Client, operation: Operation, args: Arguments, beside: Arguments): Promise<Called>;
}

/** Calls an operation in the usual way of an API. */
export async function callOver(
  face: Face,
  caller: Client,
  operation: Operation,
  args: Arguments,
  headers: Record<string, string> = {},
): Promise<Called> {
  const answer = await face.call(caller, operation, args, headers);
  const error = face.errorOf(answer);
  return { answer, value: error ? undefined : face.valueOf(answer, operation), error };
}

export const OVER_REST: Way = {
  name: 'REST',
  face: REST,
  call: (caller, operation, args) => callOver(REST, caller, operation, args),
};

export const OVER_MCP: Way = {
  name: 'MCP argument',
  face: MCP,
  call: (caller, operation, args) => callOver(MCP, caller, operation, args),
};

export const OVER_GRAPHQL: readonly Way[] = [
  {
    name: 'GraphQL argument',
    face: GRAPHQL,
    call: (caller, operation, args) => ask(caller, documentOf(operation), args, [operation.name]),
  },
  {
    name: 'GraphQL alias',
    face: GRAPHQL,
    call: (caller, operation, args, beside) => ask(caller, aliased(operation, beside), args, ['attacked']),
  },
  {
    name: 'GraphQL fragment',
    face: GRAPHQL,
    call: (caller, operation, args) => ask(caller, spread(operation), args, [operation.name]),
  },
];

/** Sends a document and returns the value and error at a path of its answer. */
export async function ask(
  caller: Client,
  document: string,
  variables: Arguments,
  path: readonly string[],
  headers: Record<string, string> = {},
): Promise<Called> {
  const answer = await caller.graphql(document, variables, headers);
  const errors = (answer.body.errors ?? []) as Json[];
  const concerns = (error: Json): boolean => (error.path ?? []).every((step: Json, at: number) => step === path[at]);
  const value = path.reduce((inner: Json, step) => inner?.[step], answer.body.data);
  return { answer, value, error: errors.find(concerns)?.extensions };
}

/** The operation twice: a regular call with literals, and the attack with variables. */
function aliased(operation: Operation, beside: Arguments): string {
  const { definition, field } = partsOf(operation);
  const { args } = (graphqlSchema.getType(operation.kind) as GraphQLObjectType).getFields()[operation.name]!;
  const literals = args
    .filter(({ name }) => name in beside)
    .map(({ name, type }) => ({
      kind: Kind.ARGUMENT as const,
      name: named(name),
      value: astFromValue(beside[name], type)!,
    }));
  const own: FieldNode = { ...field, alias: named('own'), arguments: literals };
  return print(withSelections(definition, [own, { ...field, alias: named('attacked') }]));
}

/** The operation inside a named fragment. */
function spread(operation: Operation): string {
  const { definition, field } = partsOf(operation);
  const spreads = withSelections(definition, [{ kind: Kind.FRAGMENT_SPREAD, name: named('F') }]);
  const fragment = print({
    kind: Kind.FRAGMENT_DEFINITION,
    name: named('F'),
    typeCondition: { kind: Kind.NAMED_TYPE, name: named(operation.kind) },
    selectionSet: { kind: Kind.SELECTION_SET, selections: [field] },
  });
  return `${print(spreads)}\n${fragment}`;
}

function partsOf(operation: Operation): { definition: OperationDefinitionNode; field: FieldNode } {
  const [definition] = parse(documentOf(operation)).definitions as [OperationDefinitionNode];
  return { definition, field: definition.selectionSet.selections[0] as FieldNode };
}

function withSelections(definition: OperationDefinitionNode, selections: SelectionNode[]): OperationDefinitionNode {
  return { ...definition, selectionSet: { kind: Kind.SELECTION_SET, selections } };
}

function named(value: string): NameNode {
  return { kind: Kind.NAME, value };
}
