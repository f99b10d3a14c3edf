import { buildASTSchema, type DocumentNode, type FieldDefinitionNode, Kind } from 'graphql';
import { ROLES } from '../access/roles';
import { SCOPES } from '../access/scopes';
import { IF_MATCH, takesIfMatch } from './entityTags';
import { filterGaps } from './filterGaps';
import type { Resolvers } from './guard';
import { listGaps } from './listGaps';
import { markGaps, toolGaps } from './mcpGaps';
import { isMethod, METHODS } from './methods';
import { allFieldNodes, directiveOf, isRootType, namedType, rootFieldNodes, type RootType, SUBSCRIPTION } from './sdl';
import { type CheckedResource, sentences } from './sentences';
import { storedGaps } from './storedGaps';
import { tableGaps } from './tableGaps';
import { twinGaps } from './twinGaps';

/** Refuses a schema that the server could not serve as it says. @throws Error with one message per gap, with what to change where */
export function refuseGaps(document: DocumentNode, resolvers: Resolvers, resources: readonly CheckedResource[]): void {
  // reports syntax, unknown types and arguments that directives lack
  buildASTSchema(document);
  const gaps = [
    ...filterGaps(document, resources),
    ...listGaps(document, resolvers),
    ...storedGaps(document, resources, resolvers),
    ...twinGaps(document, resolvers),
  ];
  const routes = new Map<string, string>();
  for (const { type, field } of allFieldNodes(document)) {
    const place = `${type}.${field.name.value}`;
    const found = [
      ...(isRootType(type)
        ? [
            ...routeGaps(type, field, place, routes),
            ...versionGaps(document, field),
            ...sunsetGaps(field),
            ...toolGaps(document, field),
          ]
        : []),
      ...markGaps(field, isRootType(type)),
      ...accessGaps(type, field, resolvers),
    ];
    gaps.push(...found.map((gap) => `${place} ${gap}`));
  }
  gaps.push(...tableGaps(document));
  if (gaps.length > 0) throw new Error(`invalid schema: ${gaps.join('; ')}`);
}

function accessGaps(type: string, field: FieldDefinitionNode, resolvers: Resolvers): string[] {
  const access = directiveOf(field, 'access');
  const { scope, any_of: anyOf = [], events = false, role } = access ?? {};
  const isForKeys = scope !== undefined || anyOf.length > 0 || events;
  const unknown = [...anyOf, ...(scope === undefined ? [] : [scope])].filter((one) => !Object.hasOwn(SCOPES, one));
  const isGuarded = isRootType(type) || type === SUBSCRIPTION || access !== undefined;
  return sentences(
    isGuarded && !access && 'has no @access',
    ...unknown.map((one) => `has the unknown scope ${one}`),
    access?.any_of?.length === 0 && 'has @access(any_of: []), which no key meets: name scopes',
    scope !== undefined && anyOf.length > 0 && 'has scope and any_of: use one of them',
    events && (scope !== undefined || anyOf.length > 0) && 'has events and scopes: use one of them',
    role !== undefined && !Object.hasOwn(ROLES, role) && `has the unknown role ${role}`,
    role !== undefined && isForKeys && 'has a scope and a role; a field is either for keys or for users',
    role !== undefined && directiveOf(field, 'rest') && 'is for users but has @rest',
    isGuarded && !resolvers[type]?.[field.name.value] && 'has no resolver',
  );
}

const SUCCESS = [200, 201, 202];

/** Finds an invalid or conflicting route; `routes` are those before it, with their places. */
function routeGaps(root: RootType, field: FieldDefinitionNode, place: string, routes: Map<string, string>): string[] {
  const rest = directiveOf(field, 'rest');
  if (!rest) return [];
  const { method, path, status } = rest;
  const route = `${method} ${path.replaceAll(/:\w+/g, ':')}`;
  const other = routes.get(route);
  routes.set(route, place);
  const known = isMethod(method) ? METHODS[method] : undefined;
  return sentences(
    !known && `has @rest(method: ${method}): REST has ${Object.keys(METHODS).join(', ')}`,
    known && known.root !== root && `has @rest(method: ${method}), which is for fields of ${known.root}`,
    ...pathGaps(path, field),
    !SUCCESS.includes(status) && `has @rest(status: ${String(status)}): use one of ${SUCCESS.join(', ')}`,
    other !== undefined && `has the same route as ${other}: change its path or method`,
  );
}

function pathGaps(path: string, { arguments: args = [] }: FieldDefinitionNode): string[] {
  if (!/^(\/(:?[a-z][\w-]*))+$/.test(path))
    return [`has @rest(path: "${path}"): use /words and /:arguments, without a trailing /`];
  const named = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  return named.flatMap((name) => {
    const argument = args.find((one) => one.name.value === name);
    return sentences(
      !argument && `has :${name} in its path but no argument ${name}`,
      argument &&
        argument.type.kind !== Kind.NON_NULL_TYPE &&
        `takes ${name} from its path, so it must be non-null: add !`,
    );
  });
}

/** Finds a write of a version that cannot be read: its entity tag is that of the object which a GET of its path returns. */
function versionGaps(document: DocumentNode, field: FieldDefinitionNode): string[] {
  const rest = directiveOf(field, 'rest');
  if (!rest || !takesIfMatch(field)) return [];
  const reads = rootFieldNodes(document).filter(
    (one) => one.kind === 'Query' && directiveOf(one.field, 'rest')?.path === rest.path,
  );
  const isRead = reads.some((one) => namedType(one.field.type) === namedType(field.type));
  return sentences(
    !(isRead && rest.path.endsWith('/:id')) && `takes ${IF_MATCH}, but no GET of its path reads what it returns`,
  );
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

function sunsetGaps(field: FieldDefinitionNode): string[] {
  const sunset = directiveOf(field, 'sunset');
  if (!sunset) return [];
  const { since, on } = sunset;
  const invalid = [since, on].filter((day) => !DAY.test(day) || Number.isNaN(Date.parse(day)));
  return sentences(
    ...invalid.map((day) => `has @sunset with ${day}: write days as 2026-11-21`),
    invalid.length === 0 && since >= on && 'has @sunset(on:) no later than since: give callers time between the two',
    !directiveOf(field, 'deprecated') &&
      'has @sunset and no @deprecated: add the reason, which says what to use instead',
  );
}
