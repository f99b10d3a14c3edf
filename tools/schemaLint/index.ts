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
 * Faults of the schema that neither show data to the wrong callers nor lose any, which the start refuses (src/schema/checks), but make an API
 * that does not do what it says. For whoever writes SDL.
 */

export const RULES: Rules = { ...DIRECTIVES, ...ROUTES, ...CONSTRAINTS, ...LISTS, ...STORED, ...WRITES, ...MERGES };

/** What is wrong with a schema that starts, a line each. */
export function lint(sdl: SchemaModel, resolvers: ResolverTable, resources: readonly CheckedResource[]): string[] {
  return linesOf(sdl, (one) => apply(RULES, modelOf(one, resolvers, resources)));
}
