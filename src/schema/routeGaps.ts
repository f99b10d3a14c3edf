import { type DocumentNode, type FieldDefinitionNode, Kind } from 'graphql';
import { IF_MATCH } from './entityTags';
import { isMethod, METHODS } from './methods';
import { directiveOf, enumArgument, intArgument, rootFieldNodes, stringArgument } from './sdl';
import { namedType } from './stored';

/* Finds invalid or conflicting REST routes. */

const SUCCESS = [200, 201, 202] as const;

/** One message per gap, with what to change where. */
export function routeGaps(document: DocumentNode): string[] {
  const routes = new Map<string, string>();
  return rootFieldNodes(document).flatMap(({ kind, field }) => {
    const rest = directiveOf(field, 'rest');
    if (!rest) return [];
    const name = `${kind}.${field.name.value}`;
    const method = enumArgument(rest, 'method') ?? 'GET';
    const path = stringArgument(rest, 'path');
    const status = intArgument(rest, 'status') ?? 200;
    const gaps = [...methodGaps(method, kind), ...pathGaps(path, field), ...versionGaps(document, path, field)];
    if (!SUCCESS.some((known) => known === status))
      gaps.push(`has @rest(status: ${String(status)}): use one of ${SUCCESS.join(', ')}`);
    const route = `${method} ${path.replaceAll(/:\w+/g, ':')}`;
    const other = routes.get(route);
    if (other !== undefined) gaps.push(`has the same route as ${other}: change its path or method`);
    routes.set(route, name);
    return gaps.map((gap) => `${name} ${gap}`);
  });
}

function methodGaps(method: string, kind: 'Query' | 'Mutation'): string[] {
  if (!isMethod(method)) return [`has @rest(method: ${method}): REST has ${Object.keys(METHODS).join(', ')}`];
  const { root } = METHODS[method];
  return root === kind ? [] : [`has @rest(method: ${method}), which is for fields of ${root}`];
}

function pathGaps(path: string, { arguments: args = [] }: FieldDefinitionNode): string[] {
  if (!/^(\/(:?[a-z][\w-]*))+$/.test(path))
    return [`has @rest(path: "${path}"): use /words and /:arguments, without a trailing /`];
  const named = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  return named.flatMap((name) => {
    const argument = args.find((one) => one.name.value === name);
    if (!argument) return [`has :${name} in its path but no argument ${name}`];
    return argument.type.kind === Kind.NON_NULL_TYPE
      ? []
      : [`takes ${name} from its path, so it must be non-null: add !`];
  });
}

/** Gaps of a write that names the version to change: the entity tag is that of the object which a GET of its path reads. */
function versionGaps(
  document: DocumentNode,
  path: string,
  { arguments: args = [], type }: FieldDefinitionNode,
): string[] {
  if (!args.some(({ name }) => name.value === IF_MATCH)) return [];
  const isRead = rootFieldNodes(document).some(({ kind, field }) => {
    const rest = directiveOf(field, 'rest');
    return (
      rest && kind === 'Query' && stringArgument(rest, 'path') === path && namedType(field.type) === namedType(type)
    );
  });
  return isRead && path.endsWith('/:id') ? [] : [`takes ${IF_MATCH}, but no GET of its path reads what it returns`];
}
