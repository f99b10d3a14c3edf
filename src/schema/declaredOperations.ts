import type { FieldDefinitionNode, GraphQLArgument } from 'graphql';
import { NEEDED_ROLES, type NeededRole } from '../auth/roles';
import { type Scope, scopeOf } from '../auth/scopes';
import { IF_MATCH, takesIfMatch } from './entityTags';
import { includedFields, includeValue, omittedFrom } from './restDocument';
import { readScopes } from './readScopes';
import { directiveOf, type RootType, type Sdl } from './sdl';
import { namedType } from '../sdl/nodes';

/** What a field requires from its caller: a key with a scope or one of several, or a user or operator with a role; if nothing, any key. */
export interface Access {
  readonly scope: Scope | undefined;
  readonly anyOf?: readonly Scope[];
  readonly role: NeededRole | undefined;
  /** Whether it is a figure, or an object in the rows of one: signed-in users read those, too, unless INSIGHTS says otherwise. */
  readonly isFigure?: boolean;
}

/** A root field: its REST route, if any, and who may call it. */
export interface Operation extends Access {
  readonly name: string;
  readonly kind: RootType;
  readonly rest: RestRoute | undefined;
  /** Of a change of a stored object: the scope without which its answer has only the id and the members that were sent. */
  readonly readScope?: Scope | undefined;
  /** Whether callers can name the version to change. */
  readonly takesIfMatch?: boolean;
  readonly sunset?: Sunset | undefined;
}

/** An operation with a route of REST. */
export type RestOperation = Operation & { readonly rest: RestRoute };

export interface RestRoute {
  readonly method: Method;
  readonly path: string;
  readonly status: number;
  /** Names of the fields that its objects lack, unless `include` names them. */
  readonly omits: readonly string[];
  /** What `include` may name; empty unless the method is GET. */
  readonly includes: readonly Included[];
}

/** A field that objects have only if `include` names it. */
export interface Included extends Access {
  readonly name: string;
  /** The value of `include` that names it, which may differ from its name. */
  readonly by: string;
  /** Whether only lists omit it, since it is large. */
  readonly isLarge: boolean;
}

/** The announced end of an operation, as @sunset declares it. */
export interface Sunset {
  /** Since when it is deprecated. */
  readonly since: Date;
  /** When it stops working. */
  readonly on: Date;
}

export function findOperations(sdl: Sdl, eventScopes: readonly Scope[]): Operation[] {
  const includesOf = (method: string, route: FieldDefinitionNode) => {
    const fields = includedFields(sdl, route);
    const included = fields.map((field): Included => ({
      name: field.name.value,
      by: includeValue(field),
      isLarge: omittedFrom(field) === 'LISTS',
      ...accessOf(field, eventScopes),
    }));
    return { omits: included.map(({ name }) => name), includes: method === 'GET' ? included : [] };
  };
  const scopes = readScopes(sdl);
  return sdl.roots.map(({ kind, field }) => {
    const name = field.name.value;
    const rest = directiveOf(field, 'rest');
    const sunset = directiveOf(field, 'sunset');
    return {
      name,
      kind,
      ...accessOf(field, eventScopes),
      // not of what creates an object (201), whose answer is what was sent
      readScope: kind === 'Mutation' && rest?.status !== 201 ? scopes.get(namedType(field.type)) : undefined,
      takesIfMatch: takesIfMatch(field),
      sunset: sunset && { since: new Date(sunset.since), on: new Date(sunset.on) },
      rest: rest && { ...rest, method: rest.method as Method, ...includesOf(rest.method, field) },
    };
  });
}

/** Whether REST takes an argument from the path. */
export function isInPath(path: string, name: string): boolean {
  return path.split('/').includes(`:${name}`);
}

/** Whether REST takes an argument from the body; the version to change is a header instead. */
export function isInBody({ method, path }: { readonly method: string; readonly path: string }, name: string): boolean {
  return isMethod(method) && METHODS[method].hasBody && !isInPath(path, name) && name !== IF_MATCH;
}

/** Names of the arguments whose elements are validated individually (@per_element). */
export function perElement(args: readonly GraphQLArgument[]): string[] {
  return args.filter(({ astNode }) => directiveOf(astNode, 'per_element')).map(({ name }) => name);
}

/** Whether a query computes its answer from every row that matches. */
export function aggregates(field: Parameters<typeof directiveOf>[0]): boolean {
  return (directiveOf(field, 'totals') ?? directiveOf(field, 'aggregates')) !== undefined;
}

/** The scopes of its @access of which each alone lets a key call a field, as the SDL spells them. */
export function sufficientScopes(field: Parameters<typeof directiveOf>[0]): readonly string[] {
  const { scope, any_of: anyOf = [] } = directiveOf(field, 'access') ?? {};
  return scope === undefined ? anyOf : [scope, ...anyOf];
}

/** What a field requires from its caller, from its @access. A key needs one of `eventScopes` to receive any events. */
export function accessOf(field: Parameters<typeof directiveOf>[0], eventScopes: readonly Scope[]): Access {
  const { scope, any_of: named, events, role } = directiveOf(field, 'access') ?? {};
  const anyOf = events === true ? eventScopes : named?.map(scopeOf);
  return {
    scope: scope === undefined ? undefined : scopeOf(scope),
    ...(anyOf && { anyOf }),
    role: role === undefined ? undefined : NEEDED_ROLES[role],
    ...(aggregates(field) && { isFigure: true }),
  };
}

/** The HTTP methods of REST operations, with their root type and whether they have a body. */
export const METHODS = {
  GET: { root: 'Query', hasBody: false },
  POST: { root: 'Mutation', hasBody: true },
  PUT: { root: 'Mutation', hasBody: true },
  PATCH: { root: 'Mutation', hasBody: true },
  DELETE: { root: 'Mutation', hasBody: false },
} as const;

export type Method = keyof typeof METHODS;

/** Whether an operation with a method sets members of an existing object to its arguments. */
export const isChange = (method: string): boolean => method === 'PATCH' || method === 'PUT';

export function isMethod(name: string): name is Method {
  return Object.hasOwn(METHODS, name);
}
