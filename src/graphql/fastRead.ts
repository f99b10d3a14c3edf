import {
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type FormattedExecutionResult,
  getArgumentValues,
  getNamedType,
  getVariableValues,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isObjectType,
  Kind,
  locatedError,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';
import type { RequestContext } from '../operations/context';
import { COMPILED_FROM, type Execution } from '../operations/execution';
import { type OnFastRead, type Run, runOf } from '../operations/run';
import type { Field, Selected } from '../operations/selection';

/*
 * Operations with one root field that are answered with text written from the database's bytes (docs/decisions/fast.md).
 */

/** The data of an answer as text: all of it, or that of its only root field. */
export class WrittenData {
  constructor(
    readonly text: Buffer,
    readonly key?: string,
  ) {}

  /** Apollo passes it on to stringifyAnswer as it is. */
  asData(): NonNullable<ExecutionResult['data']> {
    return this as unknown as NonNullable<ExecutionResult['data']>;
  }
}

/** Texts up to this many bytes are sent as a string, which is a little faster, with the headers in one write. */
const SMALL = 64 * 1024;

/** The text of an answer, as Apollo writes it; Apollo passes it on as it is, so bytes need not become a string and then bytes again. */
export function stringifyAnswer(answer: object): string | Buffer {
  const { data, errors, extensions } = answer as FormattedExecutionResult;
  if (!(data instanceof WrittenData)) return `${JSON.stringify(answer)}\n`;
  const { key, text } = data;
  const start = `{${errors ? `"errors":${JSON.stringify(errors)},` : ''}"data":${key === undefined ? '' : `{${JSON.stringify(key)}:`}`;
  const end = `${key === undefined ? '' : '}'}${extensions ? `,"extensions":${JSON.stringify(extensions)}` : ''}}\n`;
  if (!errors && text.length <= SMALL) return start + text.toString() + end;
  return Buffer.concat([Buffer.from(start), text, Buffer.from(end)]);
}

/** Answers an operation, or undefined if it has to be executed. */
export type AnswerWritten = (execution: Execution) => Promise<ExecutionResult | undefined>;

interface Known {
  uses: number;
  /** Undefined if it was not looked at yet; null if it has to be executed. */
  root?: Root | null;
}

interface Root {
  readonly key: string;
  readonly field: Field;
  readonly node: FieldNode;
  readonly run: Run;
}

export interface AnswerWrittenOptions {
  /** Whether an operation is small enough to be compiled. */
  readonly isWorthIt: (document: DocumentNode, operation: OperationDefinitionNode) => boolean;
  /** Called for each answer of an operation that can be written, with the reason if this one was not. */
  readonly onFastRead?: OnFastRead;
}

/** Operations are identified by their AST node, so callers must cache parsed documents. */
export function createAnswerWritten(
  schema: GraphQLSchema,
  { isWorthIt, onFastRead }: AnswerWrittenOptions,
): AnswerWritten {
  // kept as long as their documents are
  const known = new WeakMap<OperationDefinitionNode, Known>();

  function rootOf(document: DocumentNode, operation: OperationDefinitionNode): Root | undefined {
    const entry = known.get(operation) ?? { uses: 0 };
    if (entry.uses === 0) known.set(operation, entry);
    entry.uses += 1;
    if (entry.root === undefined && entry.uses >= COMPILED_FROM)
      entry.root = isWorthIt(document, operation) ? (compile(document, operation) ?? null) : null;
    return entry.root ?? undefined;
  }

  function compile(document: DocumentNode, operation: OperationDefinitionNode): Root | undefined {
    const root = onlyRoot(schema, document, operation);
    const run = root && runOf(root.field, root.selected, onFastRead);
    return run && { ...root, run };
  }

  return async ({ document, operation, contextValue, variableValues }) => {
    const root = rootOf(document, operation);
    if (!root) return undefined;
    const { key, field, node, run } = root;
    const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues ?? {});
    if (!coerced) return undefined;
    try {
      const args = getArgumentValues(field as GraphQLField<unknown, unknown>, node, coerced);
      const answer = await run(
        () => args,
        contextValue as RequestContext,
        () => Promise.resolve(undefined),
      );
      return answer && { data: new WrittenData(answer.text, key).asData() };
    } catch (error) {
      return { data: { [key]: null }, errors: [locatedError(error, [node], [key])] };
    }
  };
}

/** The only root field of a query and what it selects; undefined for other operations, and those with directives. */
export function onlyRoot(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): (Omit<Root, 'run'> & { readonly selected: readonly Selected[] }) | undefined {
  const query = schema.getQueryType();
  if (operation.operation !== OperationTypeNode.QUERY || operation.directives?.length || !query) return undefined;
  const roots = fieldsOf(document, query, [operation.selectionSet]);
  const [root, ...others] = [...(roots ?? [])];
  if (!root || others.length > 0) return undefined;
  const [key, { field, nodes }] = root;
  const [node] = nodes;
  const selected = field && selectedOf(document, field, nodes);
  return selected && node && { key, field, node, selected };
}

interface Found {
  /** Undefined for `__typename`. */
  readonly field: Field | undefined;
  readonly nodes: FieldNode[];
}

/** The fields of selections by the name they have in the answer; undefined if one has a directive or introspects. */
function fieldsOf(
  document: DocumentNode,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): ReadonlyMap<string, Found> | undefined {
  const found = new Map<string, Found>();
  const spread = new Set<string>();
  const add = (set: SelectionSetNode): boolean =>
    set.selections.every((selection) => {
      if (selection.directives?.length) return false;
      if (selection.kind === Kind.INLINE_FRAGMENT) return add(selection.selectionSet);
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const { value } = selection.name;
        // what it selects is there already
        if (spread.has(value)) return true;
        spread.add(value);
        const fragment = document.definitions.find(
          (node) => node.kind === Kind.FRAGMENT_DEFINITION && node.name.value === value,
        );
        return (
          fragment?.kind === Kind.FRAGMENT_DEFINITION && !fragment.directives?.length && add(fragment.selectionSet)
        );
      }
      const { value: name } = selection.name;
      const field = type.getFields()[name] as Field | undefined;
      if (!field && name !== '__typename') return false;
      const key = selection.alias?.value ?? name;
      const same = found.get(key);
      if (same) same.nodes.push(selection);
      else found.set(key, { field, nodes: [selection] });
      return true;
    });
  return sets.every(add) ? found : undefined;
}

/** What nodes of one field select of its objects. */
function selectedOf(
  document: DocumentNode,
  { type: outer }: Field,
  nodes: readonly FieldNode[],
): Selected[] | undefined {
  const type = getNamedType(outer);
  if (!isObjectType(type)) return [];
  const found = fieldsOf(
    document,
    type,
    nodes.flatMap(({ selectionSet }) => selectionSet ?? []),
  );
  if (!found) return undefined;
  const selected: Selected[] = [];
  for (const [key, { field, nodes: inner }] of found) {
    const below = field ? selectedOf(document, field, inner) : [];
    if (!below) return undefined;
    selected.push({ key, field, type, selected: below });
  }
  return selected;
}
