import { type Scope, scopeOf } from '../auth/scopes';
import { directiveOf, isObjectNode, type Sdl } from './sdl';

/* The scopes to read stored objects: those of the root fields that list them. */

/** The scope of the root field that lists a collection; undefined if there is none. */
export function readScope(sdl: Sdl, collection: string): Scope | undefined {
  const scope = directiveOf(sdl.rootField(collection), 'access')?.scope;
  return scope === undefined ? undefined : scopeOf(scope);
}

/** Those scopes by the name of the stored type, without types that no root field lists. */
export function readScopes(sdl: Sdl): ReadonlyMap<string, Scope> {
  return new Map(
    sdl.document.definitions.filter(isObjectNode).flatMap((node) => {
      const collection = directiveOf(node, 'stored')?.collection;
      const scope = collection === undefined ? undefined : readScope(sdl, collection);
      return scope === undefined ? [] : [[node.name.value, scope] as const];
    }),
  );
}
