import type { ConstDirectiveNode, DocumentNode } from 'graphql';
import { ROLES, type RoleName } from '../access/roles';
import { SCOPES, type ScopeName } from '../access/scopes';
import type { Access } from '../context';
import { IF_MATCH } from './entityTags';
import type { Method } from './methods';
import { type Sunset, sunsetOf } from './sunset';
import { directiveOf, enumArgument, findIncludes, intArgument, rootFieldNodes, stringArgument } from './sdl';

/** A root field: its REST route, if any, and who may call it. */
export interface Operation extends Access {
  readonly name: string;
  readonly kind: 'Query' | 'Mutation';
  readonly rest: RestRoute | undefined;
  /** Whether its caller can name the version to change. */
  readonly takesIfMatch?: boolean;
  /** Its announced end. */
  readonly sunset?: Sunset | undefined;
}

export interface RestRoute {
  readonly method: Method;
  readonly path: string;
  readonly status: number;
  /** The field that the items of this list have only with `include`. */
  readonly includes?: string | undefined;
}

export function findOperations(document: DocumentNode): Operation[] {
  const includes = findIncludes(document);
  return rootFieldNodes(document).map(({ kind, field }) => {
    const access = directiveOf(field, 'access');
    const rest = directiveOf(field, 'rest');
    return {
      name: field.name.value,
      kind,
      ...(access ? accessOf(access) : { scope: undefined, role: undefined }),
      takesIfMatch: field.arguments?.some((argument) => argument.name.value === IF_MATCH) ?? false,
      sunset: sunsetOf(field),
      rest: rest && {
        method: (enumArgument(rest, 'method') ?? 'GET') as Method,
        path: stringArgument(rest, 'path'),
        status: intArgument(rest, 'status') ?? 200,
        includes: includes.get(field.name.value),
      },
    };
  });
}

export function accessOf(access: ConstDirectiveNode): Access {
  const scope = enumArgument(access, 'scope');
  const role = enumArgument(access, 'role');
  return {
    scope: scope === undefined ? undefined : SCOPES[scope as ScopeName],
    role: role === undefined ? undefined : ROLES[role as RoleName],
  };
}
