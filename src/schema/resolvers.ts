import type { Organisation } from '../auth/principal';

/** The object after an upsert, without its id and times, from the existing one if there is one. */
export type Merge = (existing: object | undefined, element: object, organisation: Organisation) => object;

/** Resolvers by type and field, as far as the checks of the schema look at them. */
export type ResolverTable = Readonly<Record<string, Readonly<Record<string, { readonly merge?: Merge }>>>>;
