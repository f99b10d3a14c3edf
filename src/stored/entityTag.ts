import type { Resolver } from '../operations/run';
import { inSlices } from '../operations/slices';
import { tagOf } from '../schema/entityTags';

/** By row: a tag is a hash of the whole row, so it is computed once however often a query names it. */
const tags = new WeakMap<object, string | Promise<string>>();

/** Resolves to the entity tag of a row of a stored type. */
export function tagResolver(type: string): Resolver {
  return (row, _, context, { schema }) => {
    const known = tags.get(row as object);
    if (known !== undefined) return known;
    const tag = inSlices(context, () => tagOf(schema, type, row as object));
    tags.set(row as object, tag);
    return tag;
  };
}
