import { type Scope, scopeOf } from '../auth/scopes';
import type { Operation, RestOperation, RestRoute } from './declaredOperations';
import { readScopes } from './readScopes';
import { directiveOf, type Sdl } from './sdl';
import { namedType } from '../sdl/nodes';
import { objectName, type StoredType, type StoredTypes } from './storedTypes';
import { ATTACHMENT, ATTACHMENTS } from './attachmentNames';

/* Which stored types have attachments, and their routes (docs/decisions/attachments.md). */

/** A stored type whose objects have attachments, with its routes, which are no operations of GraphQL. */
export interface Attachable {
  readonly stored: StoredType;
  /** The most attachments of an object. */
  readonly most: number;
  readonly add: RestOperation;
  readonly read: RestOperation;
  readonly remove: RestOperation;
}

/** The path of the route that reads an object of a stored type; undefined if REST has none. */
export function readPath(sdl: Sdl, type: string): string | undefined {
  const paths = sdl.roots.flatMap(({ field }) => {
    const { method, path } = directiveOf(field, 'rest') ?? {};
    return path !== undefined && method === 'GET' && namedType(field.type) === type ? [path] : [];
  });
  return paths.find((path) => path.endsWith('/:id'));
}

/** The value of the enum `Scope` that writing attachments of a collection needs. */
export const writeScopeName = (collection: string): string => `${collection.toUpperCase()}_WRITE`;

export function findAttachables(sdl: Sdl, types: StoredTypes): Attachable[] {
  const scopes = readScopes(sdl);
  return [...types.values()].flatMap((stored): Attachable[] => {
    const member = stored.members.find(({ name, type }) => name === ATTACHMENTS && type === ATTACHMENT);
    const path = readPath(sdl, stored.type);
    // a type without a route or a list, whose scope reads it, is an error of the schema
    if (!member || path === undefined) return [];
    const name = objectName(stored.type);
    const all = `${path}/${ATTACHMENTS}`;
    const route = (
      kind: Operation['kind'],
      operation: string,
      rest: Pick<RestRoute, 'method' | 'path' | 'status'>,
    ) => ({
      name: operation,
      kind,
      role: undefined,
      scope: kind === 'Query' ? scopes.get(stored.type) : writeScope(stored.collection),
      rest: { ...rest, omits: [], includes: [] },
    });
    const one = `${all}/:attachment_id`;
    return [
      {
        stored,
        // the check of the schema asks for the bound
        most: member.most ?? 0,
        add: route('Mutation', `add_${name}_attachment`, { method: 'POST', path: all, status: 201 }),
        read: route('Query', `${name}_attachment`, { method: 'GET', path: one, status: 200 }),
        remove: route('Mutation', `delete_${name}_attachment`, { method: 'DELETE', path: one, status: 200 }),
      },
    ];
  });
}

export const routesOf = ({ add, read, remove }: Attachable): readonly RestOperation[] => [add, read, remove];

const writeScope = (collection: string): Scope => scopeOf(writeScopeName(collection));
