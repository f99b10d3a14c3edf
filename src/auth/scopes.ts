import { Kind } from 'graphql/language/kinds';
import { loadDocument } from '../sdl/files';

/** What a key may do, in its form in keys and errors: `products:read`. */
export type Scope = `${string}:${string}`;

/** A value of the SDL's enum `Scope` in that form: PRODUCTS_READ is products:read. A start refuses values without an underscore. */
export function scopeOf(name: string): Scope {
  return name.toLowerCase().replace(/_(?=[^_]*$)/, ':') as Scope;
}

let scopes: readonly Scope[] | undefined;

/** All scopes: the values of the enum `Scope`, in its order. */
export function allScopes(): readonly Scope[] {
  return (scopes ??= loadDocument().definitions.flatMap((node) => {
    const isEnum = node.kind === Kind.ENUM_TYPE_DEFINITION || node.kind === Kind.ENUM_TYPE_EXTENSION;
    if (!isEnum || node.name.value !== 'Scope') return [];
    return (node.values ?? []).map(({ name }) => scopeOf(name.value));
  }));
}

/** Whether a scope only reads. */
export const isReadScope = (scope: Scope): boolean => scope.endsWith(':read');

export function isScope(value: string): value is Scope {
  return (allScopes() as readonly string[]).includes(value);
}
