import { type DocumentNode, type FieldDefinitionNode, Kind } from 'graphql';
import { isMethod, METHODS, operationId } from '../declaredOperations';
import { requestGaps, type Route } from './requestGaps';
import { omittedFrom } from '../restDocument';
import { directiveOf, fieldsOf, namedType, rootFieldNodes } from '../sdl';
import { sentences } from './sentences';

/* Finds routes that REST could not serve as the schema says. */

/** One message per gap, with what to change where. */
export function restGaps(document: DocumentNode): string[] {
  const routes = rootFieldNodes(document).flatMap(({ kind: root, field }): Route[] => {
    const rest = directiveOf(field, 'rest');
    return rest ? [{ place: `${root}.${field.name.value}`, root, field, ...rest }] : [];
  });
  const conflictsOf = conflicts(document);
  return routes.flatMap((route) =>
    [
      ...routeGaps(route),
      ...conflictsOf(route),
      ...createdGaps(document, route, routes),
      ...requestGaps(document, route, routes),
    ].map((gap) => `${route.place} ${gap}`),
  );
}

const SUCCESS = [200, 201, 202];

function routeGaps({ method, path, status, root, field }: Route): string[] {
  const known = isMethod(method) ? METHODS[method] : undefined;
  return sentences(
    !known && `has @rest(method: ${method}): REST has ${Object.keys(METHODS).join(', ')}`,
    known && known.root !== root && `has @rest(method: ${method}), which is for fields of ${known.root}`,
    ...pathGaps(path, field),
    !SUCCESS.includes(status) && `has @rest(status: ${String(status)}): use one of ${SUCCESS.join(', ')}`,
  );
}

function pathGaps(path: string, { arguments: args = [] }: FieldDefinitionNode): string[] {
  if (!/^(\/([a-z][\w-]*|:[a-z]\w*))+$/.test(path))
    return [`has @rest(path: "${path}"): use /words and /:arguments, without a trailing /`];
  const named = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const repeated = named.filter((name, index) => named.indexOf(name) < index);
  return [
    ...sentences(
      /^\/docs(\/|$)/.test(path) && `has @rest(path: "${path}"), where the reference is served: use another path`,
      ...repeated.map((name) => `has :${name} in its path more than once: give each its own argument`),
    ),
    ...[...new Set(named)].flatMap((name) => {
      const argument = args.find((one) => one.name.value === name);
      return sentences(
        !argument && `has :${name} in its path but no argument ${name}`,
        argument &&
          argument.type.kind !== Kind.NON_NULL_TYPE &&
          `takes ${name} from its path, so it must be non-null: add !`,
      );
    }),
  ];
}

/** A path without the names of its parameters. */
function patternOf(path: string): string {
  return path.replaceAll(/:\w+/g, ':');
}

/** Finds routes that are one. */
function conflicts(document: DocumentNode): (route: Route) => string[] {
  const [places, paths, ids] = [new Map<string, string>(), new Map<string, Route>(), new Map<string, string>()];
  return (route) => {
    const { place, method, path } = route;
    const [pattern, id] = [patternOf(path), idOf(document, route)];
    const [same, first, other] = [places.get(`${method} ${pattern}`), paths.get(pattern) ?? route, ids.get(id)];
    places.set(`${method} ${pattern}`, place);
    paths.set(pattern, first);
    ids.set(id, place);
    return sentences(
      same !== undefined && `has the same route as ${same}: change its path or method`,
      same === undefined &&
        first.path !== path &&
        `has @rest(path: "${path}"), but ${first.place} has "${first.path}": use the same names, since a path has one set of parameters`,
      other !== undefined && `is ${id} in the OpenAPI document, as ${other} is: rename one of them`,
    );
  };
}

function idOf(document: DocumentNode, { field, method }: Route): string {
  const members = fieldsOf(document, namedType(field.type)).map(({ name }) => name.value);
  return operationId(field.name.value, method, members);
}

/** Finds a 201 whose `Location` would name nothing: it is the path of the request and the id in the answer. */
function createdGaps(
  document: DocumentNode,
  { field, method, path, status }: Route,
  routes: readonly Route[],
): string[] {
  if (status !== 201) return [];
  if (method !== 'POST') return [`has @rest(status: 201) with ${method}, but only a POST creates: use 200`];
  const type = namedType(field.type);
  const id = fieldsOf(document, type).find(({ name }) => name.value === 'id');
  const isNamed = id !== undefined && omittedFrom(id) !== 'EVERYWHERE';
  const isRead = routes.some(
    (one) =>
      one.method === 'GET' && namedType(one.field.type) === type && patternOf(one.path) === `${patternOf(path)}/:`,
  );
  return sentences(
    !isNamed && `has @rest(status: 201), but ${type} has no id on REST for its Location: add id: ID!, or use 200`,
    isNamed &&
      !isRead &&
      `has @rest(status: 201), but no GET of ${path}/:id returns the ${type} at its Location: add one, or use 200`,
  );
}
