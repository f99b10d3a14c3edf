import type { Resolver } from '../operations/run';
import { inSlices } from '../operations/slices';
import { tagOf } from '../schema/entityTags';

/** By row, so that a tag is worked out once however often a query names it: that reads and hashes the whole row. */
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
