import { getNamedType, type GraphQLField } from 'graphql';
import type { Operation } from '../schema/declaredOperations';
import { PAGE } from '../schema/sdl';

/** An operation with its route. */
export type RestOperation = Operation & { readonly rest: NonNullable<Operation['rest']> };

/** Validated arguments of an operation. */
export type Arguments = Record<string, unknown>;

export interface RouteMatch {
  /** Operations at the path, by method. */
  readonly methods: ReadonlyMap<string, RestOperation>;
  /** Path parameters, as sent. */
  readonly params: Readonly<Record<string, string>>;
}

/** Matches a path below /api/v1; undefined if unknown. */
export type Router = (path: string) => RouteMatch | undefined;

interface Route {
  readonly segments: readonly string[];
  readonly methods: Map<string, RestOperation>;
}

/**
 * Creates a router. Words win over parameters, from the left, in whatever order the schema has them: /products/bulk is never a
 * product's id, and /products/bulk/:id never a part of one.
 */
export function createRouter(operations: readonly Operation[]): Router {
  const routes = new Map<string, Route>();
  for (const operation of restOperations(operations)) {
    const { path, method } = operation.rest;
    const route = routes.get(path) ?? { segments: path.split('/'), methods: new Map<string, RestOperation>() };
    route.methods.set(method, operation);
    routes.set(path, route);
  }
  const patterns = [...routes.values()]
    .filter((route) => route.segments.some(isParameter))
    .sort((one, other) => shapeOf(one).localeCompare(shapeOf(other)));
  return (path) => {
    const literal = routes.get(path);
    if (literal && !literal.segments.some(isParameter)) return { methods: literal.methods, params: {} };
    const segments = path.split('/');
    for (const route of patterns) {
      const params = matchSegments(route.segments, segments);
      if (params) return { methods: route.methods, params };
    }
    return undefined;
  };
}

/** Whether the answer has the entity tag of the object: not to a PUT, for which it would mean "stored as sent" (RFC 9110, section 9.3.4). */
export function hasEntityTag(operation: RestOperation): boolean {
  return readsOneObject(operation) || (operation.rest.method === 'PATCH' && operation.takesIfMatch === true);
}

/** Whether an operation reads one object by id. */
export function readsOneObject({ rest }: RestOperation): boolean {
  return rest.method === 'GET' && rest.path.endsWith('/:id');
}

/** Whether an operation returns a page of a list. */
export function answersPage({ type }: Pick<GraphQLField<unknown, unknown>, 'type'>): boolean {
  return getNamedType(type).name.endsWith(PAGE);
}

export function restOperations(operations: readonly Operation[]): RestOperation[] {
  return operations.filter((operation): operation is RestOperation => operation.rest !== undefined);
}

/** Where a route has parameters, so that those with words further left are first. */
function shapeOf({ segments }: Route): string {
  return segments.map((segment) => (isParameter(segment) ? '1' : '0')).join('');
}

function matchSegments(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const found = segments[index] ?? '';
    if (isParameter(expected)) {
      if (found === '') return undefined;
      params[expected.slice(1)] = found;
    } else if (expected !== found) return undefined;
  }
  return params;
}

function isParameter(segment: string): boolean {
  return segment.startsWith(':');
}
