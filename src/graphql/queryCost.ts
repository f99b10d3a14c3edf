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
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';
import { AppError } from '../errors';
import { memberOf } from '../operations/build';
import { constraintOf } from '../schema/jsonSchema';
import type { TurnKind } from '../admission/requestQueue';
import { aggregates } from '../schema/declaredOperations';
import { directiveOf } from '../schema/sdl';
import { TOTALS_ROWS } from '../units';
import { countRootFields, fragmentsOf, rootFieldsOf } from './documentSize';
import { QUERY_LIMITS } from './queryLimits';

/*
 * The worst-case number of rows of an operation (contract, section 6; docs/decisions/query-cost.md): each list returns its
 * limit for every row of its parent, and all lists are added up, including those in aliases and fragments.
 */

/** Rows, and values worked out for rows, per point, in addition to the point per root field. */
const ROWS_A_POINT = 1000;
/** Levels of nested lists that make a query large; an aggregate counts as this many. */
const LARGE = 2;
/** Lists that a query may have side by side without taking a turn. */
const MAX_LISTS = 2;
/** Number of lists named in an error, those with the most rows first. */
const MAX_NAMED = 3;

/** The rows of totals that take no `limit`. */
const ALL_GROUPS: Bounds = { min: 1, max: TOTALS_ROWS, fallback: TOTALS_ROWS };

type Variables = Readonly<Record<string, unknown>>;

export interface Cost {
  /** Names of the root fields, including those in fragments. */
  readonly fields: readonly string[];
  /**
   * The turn that the operation has to wait for: `query` for aggregates and nested lists; `page` for rows with their own lists, such as
   * lines, and for several lists. Undefined for all other operations.
   */
  readonly turn: TurnKind | undefined;
  /** Points of the operation. @throws AppError invalid_request if they are over the row limit; it names the largest lists. */
  readonly points: (variables: Variables) => number;
}

export type CostOf = (document: DocumentNode, operation: OperationDefinitionNode) => Cost;

/** The allowed values of a list's `limit`, from its @constraint. */
interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly fallback: number;
}

/** A part of a selection that contains lists, aggregates or derived values: a field, or a fragment with its parts (one shared array for all spreads). */
interface Part {
  /** Response key of the field; undefined for a fragment. */
  readonly key?: string;
  /** Rows per parent row; undefined if it is not a list. */
  readonly limit?: (variables: Variables) => number;
  /** Whether it is computed from every row that matches: @totals and @aggregates. */
  readonly isAggregate?: boolean;
  /** Whether its own rows are groups of @totals, which cost nothing; what each of them has below it counts. */
  readonly isTotals?: boolean;
  /** Whether it is a list of objects without its own limit: a page's rows, or the lines of a row. */
  readonly isUnbounded?: boolean;
  /** Whether it is a value that is worked out for each row, such as an entity tag. */
  readonly isDerived?: boolean;
  readonly inner: readonly Part[];
}

/**
 * Computes the cost of operations; the part that does not depend on variables is computed once per operation. Documents
 * must be valid and within the limits.
 * @throws Error if a `limit` has no bounds or default, since its rows would be unknown.
 */
export function createCostOf(schema: GraphQLSchema): CostOf {
  const lists = listsOf(schema);
  const queries = Object.values(schema.getQueryType()?.getFields() ?? {});
  const aggregateFields = new Set(queries.filter(({ astNode }) => aggregates(astNode)));

  /** Processes each fragment once, so this is linear in the document. */
  function partsOf(document: DocumentNode, operation: OperationDefinitionNode): readonly Part[] {
    const fragments = fragmentsOf(document);
    const partsByFragment = new Map<string, readonly Part[]>();

    function partsOfFragment(name: string): readonly Part[] {
      const knownParts = partsByFragment.get(name);
      if (knownParts) return knownParts;
      const fragment = fragments.get(name);
      const parts = fragment
        ? partsOfSet(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value))
        : [];
      partsByFragment.set(name, parts);
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
        const key = (selection.alias ?? selection.name).value;
        if (!selection.selectionSet) return memberOf(field) === undefined ? [{ key, isDerived: true, inner: [] }] : [];
        const bounds = lists.get(field);
        const inner = partsOfSet(selection.selectionSet, getNamedType(field.type));
        const isAggregate = aggregateFields.has(field);
        const isTotals = hasTotals(field);
        const isUnbounded = !bounds && isListType(getNullableType(field.type));
        if (!bounds && !isAggregate && !isUnbounded && inner.length === 0) return [];
        const limit = bounds && { limit: limitOf(selection, operation, bounds) };
        return [{ key, inner, isAggregate, isTotals, isUnbounded, ...limit }];
      });
    }

    return partsOfSet(operation.selectionSet, schema.getRootType(operation.operation) ?? undefined);
  }

  const costs = new WeakMap<OperationDefinitionNode, Cost>();
  return (document, operation) => {
    let cost = costs.get(operation);
    if (!cost) costs.set(operation, (cost = costOf(document, operation, partsOf(document, operation))));
    return cost;
  };
}

function costOf(document: DocumentNode, operation: OperationDefinitionNode, parts: readonly Part[]): Cost {
  const rootFields = countRootFields(document, operation);
  return {
    fields: rootFieldsOf(document, operation).map(({ name }) => name.value),
    turn: turnOf(parts, operation.operation === OperationTypeNode.MUTATION),
    points(variables) {
      if (parts.length === 0) return rootFields;
      const rows = countRows(parts, variables);
      if (rows > QUERY_LIMITS.rows) throw tooManyRows(rows, parts, variables);
      return rootFields + Math.floor((rows + countDerived(parts, variables)) / ROWS_A_POINT);
    },
  };
}

function listsOf(schema: GraphQLSchema): ReadonlyMap<GraphQLField<unknown, unknown>, Bounds> {
  const lists = new Map<GraphQLField<unknown, unknown>, Bounds>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const argument = field.args.find(({ name }) => name === 'limit');
      if (argument) lists.set(field, boundsOf(argument, `${type.name}.${field.name}`));
      else if (hasTotals(field)) lists.set(field, ALL_GROUPS);
    }
  }
  return lists;
}

const hasTotals = ({ astNode }: GraphQLField<unknown, unknown>): boolean =>
  directiveOf(astNode, 'totals') !== undefined;

function boundsOf(argument: GraphQLArgument, place: string): Bounds {
  const { min, max, default: fallback } = constraintOf(argument);
  if (min === undefined || max === undefined || fallback === undefined) {
    throw new Error(`invalid schema: the limit of ${place} needs min, max and default in @constraint`);
  }
  return { min, max, fallback };
}

/**
 * The `limit` of a list for given variables. A value that validation will reject later is clamped to the bounds, so that it
 * cannot make a query cheaper; a value that is not a whole number counts as the maximum.
 */
function limitOf(
  field: FieldNode,
  operation: OperationDefinitionNode,
  { min, max, fallback }: Bounds,
): (variables: Variables) => number {
  const within = (value: number): number => Math.min(max, Math.max(min, value));
  const limitValue = field.arguments?.find(({ name }) => name.value === 'limit')?.value;
  if (limitValue?.kind === Kind.INT) return () => within(Number(limitValue.value));
  if (limitValue?.kind !== Kind.VARIABLE) return () => fallback;
  const name = limitValue.name.value;
  const initial = operation.variableDefinitions?.find(({ variable }) => variable.name.value === name)?.defaultValue;
  const otherwise = initial?.kind === Kind.INT ? within(Number(initial.value)) : fallback;
  return (variables) => {
    if (!Object.hasOwn(variables, name)) return otherwise;
    const value = variables[name];
    if (value === null) return fallback;
    return typeof value === 'number' && Number.isInteger(value) ? within(value) : max;
  };
}

/** Derived values ({@link Part.isDerived}) of parts, per parent row. */
function countDerived(parts: readonly Part[], variables: Variables): number {
  const valuesOf = ({ limit, isDerived }: Part, below: number): number =>
    (isDerived ? 1 : 0) + (limit ? limit(variables) : 1) * below;
  return fold(parts, valuesOf, (values, more) => values + more);
}

/** Rows of parts per parent row. */
function countRows(parts: readonly Part[], variables: Variables): number {
  const rowsOf = ({ limit, isTotals }: Part, below: number): number =>
    limit ? limit(variables) * ((isTotals ? 0 : 1) + below) : below;
  return fold(parts, rowsOf, (rows, more) => rows + more);
}

/** See {@link Cost.turn}. In the answer to a write, which is never refused for want of memory, lists without their own limit count too. */
function turnOf(parts: readonly Part[], isWrite: boolean): TurnKind | undefined {
  const levels = fold(
    parts,
    ({ limit, isAggregate }, below) => below + (isAggregate ? LARGE : limit ? 1 : 0),
    Math.max,
  );
  if (levels >= LARGE) return 'query';
  // two levels are a page's rows, and a list in each row
  const unboundedLevels =
    levels === 0 ? 0 : fold(parts, ({ isUnbounded }, below) => below + (isUnbounded ? 1 : 0), Math.max);
  if (unboundedLevels >= LARGE) return 'page';
  const listCount = fold(
    parts,
    ({ limit, isUnbounded }, below) => below + (limit || (isWrite && isUnbounded) ? 1 : 0),
    (left, right) => left + right,
  );
  return listCount > MAX_LISTS ? 'page' : undefined;
}

/** Folds the values of parts from 0; a part's value depends on that of the parts inside it. Memoised by array, so that each fragment is walked once. */
function fold(
  parts: readonly Part[],
  valueOf: (part: Part, below: number) => number,
  join: (left: number, right: number) => number,
): number {
  const values = new Map<readonly Part[], number>();
  const walk = (some: readonly Part[]): number => {
    const knownValue = values.get(some);
    if (knownValue !== undefined) return knownValue;
    let value = 0;
    for (const part of some) value = join(value, valueOf(part, part.inner.length === 0 ? 0 : walk(part.inner)));
    values.set(some, value);
    return value;
  };
  return walk(parts);
}

function tooManyRows(rows: number, parts: readonly Part[], variables: Variables): AppError {
  const heaviest = [...rowsByPath(parts, variables)].sort(([, a], [, b]) => b - a);
  const largest = heaviest.slice(0, MAX_NAMED).map(([path, count]) => `${path} (${count.toLocaleString('en')})`);
  const others = heaviest.length - largest.length;
  const more = others > 0 ? ` and ${others.toLocaleString('en')} more` : '';
  return new AppError(
    'invalid_request',
    `The query can return ${rows.toLocaleString('en')} rows; the limit is ${QUERY_LIMITS.rows.toLocaleString('en')}. ` +
      `The rows of nested lists multiply: ${largest.join(', ')}${more}. Lower the \`limit\` of these lists, or split the query.`,
  );
}

/** Rows of each list by its path in the answer. Walks every fragment spread; QUERY_LIMITS bounds their number. */
function rowsByPath(parts: readonly Part[], variables: Variables): Map<string, number> {
  const rows = new Map<string, number>();
  const walk = (some: readonly Part[], path: string, above: number): void => {
    for (const { key, limit, isTotals, inner } of some) {
      const place = key === undefined ? path : path === '' ? key : `${path}.${key}`;
      const count = limit ? above * limit(variables) : above;
      if (limit && !isTotals) rows.set(place, (rows.get(place) ?? 0) + count);
      walk(inner, place, count);
    }
  };
  walk(parts, '', 1);
  return rows;
}
