import {
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type FormattedExecutionResult,
  type FragmentDefinitionNode,
  getArgumentValues,
  getNamedType,
  getVariableValues,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isObjectType,
  locatedError,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionNode,
} from 'graphql';
import type { CallContext } from '../operations/context';
import type { Execution } from '../operations/execution';
import { type OnFastRead, type Read, readOf } from '../operations/run';
import { type Field, fieldsIn, type Selected } from '../operations/selection';
import { fragmentsOf } from './documentSize';

/*
 * Operations with one root field that are answered with text written from the database's bytes (docs/decisions/fast.md).
 */

/** The data of an answer as text: all of it, or only the value of its one root field, `key`. */
export class WrittenData {
  constructor(
    readonly text: Buffer,
    readonly key?: string,
  ) {}

  /** Apollo passes it on to stringifyAnswer unchanged. */
  asData(): NonNullable<ExecutionResult['data']> {
    return this as unknown as NonNullable<ExecutionResult['data']>;
  }
}

/** Texts up to this many bytes are sent as a string: it goes out in one write with the headers, which is a little faster. */
const SMALL = 64 * 1024;

/** Writes an answer the way Apollo does. Apollo passes the result on unchanged, so bytes are not converted to a string and back. */
export function stringifyAnswer(answer: object): string | Buffer {
  const { data, errors, extensions } = answer as FormattedExecutionResult;
  if (!(data instanceof WrittenData)) return `${JSON.stringify(answer)}\n`;
  const { key, text } = data;
  const start = `{${errors ? `"errors":${JSON.stringify(errors)},` : ''}"data":${key === undefined ? '' : `{${JSON.stringify(key)}:`}`;
  const end = `${key === undefined ? '' : '}'}${extensions ? `,"extensions":${JSON.stringify(extensions)}` : ''}}\n`;
  if (!errors && text.length <= SMALL) return start + text.toString() + end;
  return Buffer.concat([Buffer.from(start), text, Buffer.from(end)]);
}

interface Root {
  readonly key: string;
  readonly field: Field;
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  readonly read: Read;
}

/** From which run on an operation is answered so: to prepare it takes as long as several runs, but most that run three times run a thousand times. */
const FAST_FROM = 3;

interface Options {
  /** Whether an operation is small enough to be prepared. */
  readonly isSmall: (document: DocumentNode, operation: OperationDefinitionNode) => boolean;
  /** Called for each answer of an operation that can be written from bytes, with the reason if this one was not. */
  readonly onFastRead: OnFastRead;
}

/**
 * Returns a function that answers operations, or resolves with undefined if one has to be executed. Operations are identified by AST
 * node, so callers must cache parsed documents.
 */
export function createFastAnswers(
  schema: GraphQLSchema,
  { isSmall, onFastRead }: Options,
): (execution: Execution) => Promise<ExecutionResult | undefined> {
  // how often an operation ran, then how to read it, or false if it has to be executed; lives as long as its document
  const cache = new WeakMap<OperationDefinitionNode, number | Root | false>();

  function rootOf(document: DocumentNode, operation: OperationDefinitionNode): Root | false {
    const before = cache.get(operation) ?? 0;
    if (typeof before !== 'number') return before;
    const root = before + 1 >= FAST_FROM && isSmall(document, operation) && prepare(document, operation);
    cache.set(operation, before + 1 < FAST_FROM ? before + 1 : root);
    return root;
  }

  function prepare(document: DocumentNode, operation: OperationDefinitionNode): Root | false {
    const root = onlyRoot(schema, document, operation);
    const read = root && readOf(root.field, root.selected, onFastRead);
    return read ? { ...root, read } : false;
  }

  return async ({ document, operation, contextValue, variableValues }) => {
    const root = rootOf(document, operation);
    if (!root) return undefined;
    const { key, field, nodes, read } = root;
    const [node] = nodes;
    const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues ?? {});
    if (!coerced) return undefined;
    try {
      const args = getArgumentValues(field as GraphQLField<unknown, unknown>, node, coerced);
      const answer = await read(args, contextValue as CallContext);
      return answer && { data: new WrittenData(answer.text, key).asData() };
    } catch (error) {
      return { data: { [key]: null }, errors: [locatedError(error, nodes, [key])] };
    }
  };
}

/** The only root field of a query and what it selects; undefined for other operations, and those with directives. */
export function onlyRoot(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): (Omit<Root, 'read'> & { readonly selected: readonly Selected[] }) | undefined {
  const query = schema.getQueryType();
  if (operation.operation !== OperationTypeNode.QUERY || operation.directives?.length || !query) return undefined;
  const fragments = fragmentsOf(document);
  const [root, ...others] = fieldsOf(query, [operation], fragments) ?? [];
  if (!root || others.length > 0) return undefined;
  const [key, { field, nodes }] = root;
  const selected = field && selectedOf(field, nodes, fragments);
  return selected && { key, field, nodes, selected };
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

interface FieldNodes {
  /** Undefined for `__typename`. */
  readonly field: Field | undefined;
  readonly nodes: [FieldNode, ...FieldNode[]];
}

/** The fields below nodes by the name they have in the answer; undefined if one has a directive or introspects. */
function fieldsOf(
  type: GraphQLObjectType,
  nodes: Parameters<typeof fieldsIn>[0],
  fragments: Fragments,
): ReadonlyMap<string, FieldNodes> | undefined {
  const conditional: SelectionNode[] = [];
  const fields = fieldsIn(
    nodes,
    (name) => fragments.get(name),
    (selection) => Boolean(selection.directives?.length && conditional.push(selection)),
  );
  if (conditional.length > 0) return undefined;
  const byKey = new Map<string, FieldNodes>();
  for (const node of fields) {
    const { value: name } = node.name;
    const field = type.getFields()[name] as Field | undefined;
    if (!field && name !== '__typename') return undefined;
    const key = node.alias?.value ?? name;
    const same = byKey.get(key);
    if (same) same.nodes.push(node);
    else byKey.set(key, { field, nodes: [node] });
  }
  return byKey;
}

/** What the nodes of one field select from its objects; undefined as for {@link fieldsOf}. */
function selectedOf({ type: outer }: Field, nodes: readonly FieldNode[], fragments: Fragments): Selected[] | undefined {
  const type = getNamedType(outer);
  if (!isObjectType(type)) return [];
  const fields = fieldsOf(type, nodes, fragments);
  if (!fields) return undefined;
  const selected: Selected[] = [];
  for (const [key, { field, nodes: inner }] of fields) {
    const below = field ? selectedOf(field, inner, fragments) : [];
    if (!below) return undefined;
    selected.push({ key, field, type, selected: below });
  }
  return selected;
}
