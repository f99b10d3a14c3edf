import { type CheckedResource, linesOf, type ResolverTable } from '../../src/schema/checks/errors';
import type { SchemaModel } from '../../src/schema/model';
import { CONSTRAINTS } from './constraints';
import { DIRECTIVES } from './directives';
import { LISTS } from './lists';
import { MERGES } from './merges';
import { apply, modelOf, type Rules } from './model';
import { ROUTES } from './routes';
import { STORED } from './stored';
import { WRITES } from './writes';

/*
 * Finds schema errors that make an API do something other than what its schema says. Errors that would show data to the wrong
 * callers or lose data prevent the start instead (src/schema/checks).
 */

export const RULES: Rules = { ...DIRECTIVES, ...ROUTES, ...CONSTRAINTS, ...LISTS, ...STORED, ...WRITES, ...MERGES };

/** The errors of a schema that the start accepts, one per line. */
export function lint(sdl: SchemaModel, resolvers: ResolverTable, resources: readonly CheckedResource[]): string[] {
  return linesOf(sdl, (one) => apply(RULES, modelOf(one, resolvers, resources)));
}
