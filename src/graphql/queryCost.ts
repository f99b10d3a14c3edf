import {
  type DocumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { AppError } from '../errors';
import { constraintOf } from '../schema/jsonSchema';
import type { LargePart } from '../http/turns';
import type { Operation } from '../schema/operations';
import { countRootFields, fragmentsOf, QUERY_LIMITS } from './queryLimits';

/*
 * The worst number of rows of an operation (contract, section 6; docs/decisions/query-cost.md): each list gives as many as
 * its limit for every row that it stands below, and the rows of all lists are added, under whatever name and fragment.
 */

/** Rows that cost a point, beside the point of each root field. */
const ROWS_A_POINT = 1000;
/** Lists inside each other from which on a query is large; a total counts as that many. */
const LARGE = 2;
/** Lists that a refusal names, those with the most rows first. */
const MOST_NAMED = 3;

type Variables = Readonly<Record<string, unknown>>;

export interface Cost {
  /**
   * What its shape makes it wait for: totals and lists inside lists are large queries, rows with lists of their own, such
   * as lines, large pages. Undefined for all others.
   */
  readonly turn: LargePart | undefined;
  /** Points that the operation takes. @throws AppError invalid_request over the limit of rows, naming the lists. */
  points(variables: Variables): number;
}

export type CostOf = (document: DocumentNode, operation: OperationDefinitionNode) => Cost;

/** What a list's `limit` may be, by its @constraint. */
interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly fallback: number;
}

/** A part of a selection with lists or totals in it: a field, or a fragment with the parts that stand in it, one array however often it is spread. */
interface Part {
  /** Key of the field in the answer; a fragment has none. */
  readonly key?: string;
  /** Rows for each row above; undefined for what is no list. */
  readonly limit?: (variables: Variables) => number;
  readonly isTotal?: boolean;
  /** Whether it gives objects of no limited number: a page's rows, and the lines of a row. */
  readonly isBare?: boolean;
  readonly inner: readonly Part[];
}

/**
 * Reads the cost of operations of a schema; what does not depend on variables is read once from each operation's node.
 * Documents must be within the limits and valid.
 * @throws Error when a `limit` has no bounds or no default: its rows could not be told.
 */
export function createCostOf(schema: GraphQLSchema, operations: readonly Operation[] = []): CostOf {
  const counted: Counted = { lists: listsOf(schema), totals: totalsOf(schema, operations) };
  const known = new WeakMap<OperationDefinitionNode, Cost>();
  return (document, operation) => {
    let cost = known.get(operation);
    if (!cost) known.set(operation, (cost = readCost(document, operation, schema, counted)));
    return cost;
  };
}

interface Counted {
  readonly lists: ReadonlyMap<GraphQLField<unknown, unknown>, Bounds>;
  readonly totals: ReadonlySet<GraphQLField<unknown, unknown>>;
}

/** Queries that REST does not have, but for those of users: no list of names has to be kept. */
function totalsOf(schema: GraphQLSchema, operations: readonly Operation[]): Counted['totals'] {
  const queries = schema.getQueryType()?.getFields() ?? {};
  const names = operations.filter(({ kind, rest, role }) => kind === 'Query' && !rest && role === undefined);
  return new Set(names.flatMap(({ name }) => queries[name] ?? []));
}

function listsOf(schema: GraphQLSchema): Counted['lists'] {
  const lists = new Map<GraphQLField<unknown, unknown>, Bounds>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const argument = field.args.find(({ name }) => name === 'limit');
      if (argument) lists.set(field, boundsOf(schema, argument, `${type.name}.${field.name}`));
    }
  }
  return lists;
}

function boundsOf(schema: GraphQLSchema, argument: GraphQLArgument, place: string): Bounds {
  const { min, max, default: fallback } = constraintOf(schema, argument);
  if (min === undefined || max === undefined || fallback === undefined) {
    throw new Error(`the schema is not fit to serve: the limit of ${place} needs min, max and default in @constraint`);
  }
  return { min, max, fallback };
}

function readCost(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  schema: GraphQLSchema,
  counted: Counted,
): Cost {
  const rootFields = countRootFields(document, operation);
  const parts = partsOf(document, operation, schema, counted);
  return {
    turn: turnOf(parts),
    points(variables) {
      if (parts.length === 0) return rootFields;
      const rows = countRows(parts, variables, new Map());
      if (rows > QUERY_LIMITS.rows) throw tooManyRows(rows, parts, variables);
      return rootFields + Math.floor(rows / ROWS_A_POINT);
    },
  };
}

/** Each fragment is read once, so this is linear in the document. */
function partsOf(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  schema: GraphQLSchema,
  { lists, totals }: Counted,
): readonly Part[] {
  const fragments = fragmentsOf(document);
  const known = new Map<string, readonly Part[]>();

  function partsOfFragment(name: string): readonly Part[] {
    const found = known.get(name);
    if (found) return found;
    const fragment = fragments.get(name);
    const parts = fragment ? partsOfSet(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value)) : [];
    known.set(name, parts);
    return parts;
  }

  function partsOfSet(set: SelectionSetNode | undefined, type: GraphQLNamedType | undefined): readonly Part[] {
    return (set?.selections ?? []).flatMap((selection): readonly Part[] => {
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const name = selection.typeCondition?.name.value;
        return partsOfSet(selection.selectionSet, name === undefined ? type : schema.getType(name));
      }
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const inner = partsOfFragment(selection.name.value);
        return inner.length === 0 ? [] : [{ inner }];
      }
      const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[selection.name.value] : undefined;
      if (!field) return [];
      const bounds = lists.get(field);
      const inner = partsOfSet(selection.selectionSet, getNamedType(field.type));
      const isTotal = totals.has(field);
      const isBare = !bounds && isListType(getNullableType(field.type)) && selection.selectionSet !== undefined;
      if (!bounds && !isTotal && !isBare && inner.length === 0) return [];
      const key = (selection.alias ?? selection.name).value;
      return [{ key, inner, isTotal, isBare, ...(bounds && { limit: limitOf(selection, operation, bounds) }) }];
    });
  }

  const root = schema.getRootType(operation.operation);
  return partsOfSet(operation.selectionSet, root ?? undefined);
}

/**
 * What the `limit` of a list is with some variables. A value that its check will refuse counts as the nearest that it would
 * not, so that none makes a query cheaper; one that is no whole number as the most.
 */
function limitOf(
  field: FieldNode,
  operation: OperationDefinitionNode,
  { min, max, fallback }: Bounds,
): (variables: Variables) => number {
  const within = (value: number): number => Math.min(max, Math.max(min, value));
  const given = field.arguments?.find(({ name }) => name.value === 'limit')?.value;
  if (given?.kind === Kind.INT) return () => within(Number(given.value));
  if (given?.kind !== Kind.VARIABLE) return () => fallback;
  const name = given.name.value;
  const initial = operation.variableDefinitions?.find(({ variable }) => variable.name.value === name)?.defaultValue;
  const otherwise = initial?.kind === Kind.INT ? within(Number(initial.value)) : fallback;
  return (variables) => {
    if (!Object.hasOwn(variables, name)) return otherwise;
    const value = variables[name];
    if (value === null) return fallback;
    return typeof value === 'number' && Number.isInteger(value) ? within(value) : max;
  };
}

/** Rows of some parts for each row above them. Arrays are the fragments' own, so each is counted once. */
function countRows(parts: readonly Part[], variables: Variables, known: Map<readonly Part[], number>): number {
  const found = known.get(parts);
  if (found !== undefined) return found;
  let rows = 0;
  for (const { limit, inner } of parts) {
    const below = inner.length === 0 ? 0 : countRows(inner, variables, known);
    rows += limit ? limit(variables) * (1 + below) : below;
  }
  known.set(parts, rows);
  return rows;
}

function turnOf(parts: readonly Part[]): LargePart | undefined {
  const lists = deepest(parts, ({ limit, isTotal }) => (isTotal ? LARGE : limit ? 1 : 0), new Map());
  if (lists >= LARGE) return 'query';
  // of a page: its rows, and what stands in each
  const bare = lists === 0 ? 0 : deepest(parts, ({ isBare }) => (isBare ? 1 : 0), new Map());
  return bare >= LARGE ? 'page' : undefined;
}

/** The most that parts inside each other weigh together. Each array is looked at once, as rows are counted. */
function deepest(
  parts: readonly Part[],
  weightOf: (part: Part) => number,
  known: Map<readonly Part[], number>,
): number {
  const found = known.get(parts);
  if (found !== undefined) return found;
  const most = Math.max(0, ...parts.map((part) => weightOf(part) + deepest(part.inner, weightOf, known)));
  known.set(parts, most);
  return most;
}

function tooManyRows(rows: number, parts: readonly Part[], variables: Variables): AppError {
  const heaviest = [...rowsByPath(parts, variables)].sort(([, a], [, b]) => b - a);
  const named = heaviest.slice(0, MOST_NAMED).map(([path, count]) => `${path} (${count.toLocaleString('en')})`);
  const others = heaviest.length - named.length;
  const more = others > 0 ? ` and ${others.toLocaleString('en')} more` : '';
  return new AppError(
    'invalid_request',
    `The query can return ${rows.toLocaleString('en')} rows; the limit is ${QUERY_LIMITS.rows.toLocaleString('en')}. ` +
      `The rows of nested lists multiply: ${named.join(', ')}${more}. Lower the \`limit\` of these lists, or ask for less at a time.`,
  );
}

/** Rows of each list by its path in the answer; walks fragments wherever they are spread, which the limits bound. */
function rowsByPath(parts: readonly Part[], variables: Variables): Map<string, number> {
  const rows = new Map<string, number>();
  const walk = (some: readonly Part[], path: string, above: number): void => {
    for (const { key, limit, inner } of some) {
      const place = key === undefined ? path : path === '' ? key : `${path}.${key}`;
      const count = limit ? above * limit(variables) : above;
      if (limit) rows.set(place, (rows.get(place) ?? 0) + count);
      walk(inner, place, count);
    }
  };
  walk(parts, '', 1);
  return rows;
}
