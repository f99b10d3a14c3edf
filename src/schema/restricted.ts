import { columnOf } from './indexes';
import { PERSON, referringMembers } from './personal';
import { ownerOf, referencesTo, referenceTo, type StoredType, type StoredTypes } from './storedTypes';

/* Which objects a key restricted to customers has, from @restricted (docs/decisions/restricted-keys.md). */

/** Which rows of a collection such a key has; in the form of mongo/collection.ts, where `_id` is the id. */
export type DerivedRestriction =
  /** All. */
  | 'unrestricted'
  /** Those whose column has the id of one of its customers. */
  | { readonly column: string }
  /** Those whose column has the id of a row that it has of the collection `owner`, of which they are parts. */
  | { readonly column: string; readonly owner: string }
  /** None: it gets 403 with this text. */
  | { readonly refused: string };

/** What @restricted can name: the members with a customer's id and, for a part of a restricted type, that with the object's id. */
export function restrictingMembers(types: StoredTypes, stored: StoredType): string[] {
  if (stored.type === PERSON) return ['id'];
  const owner = ownerOf(stored, types.values());
  return [...referringMembers(stored), ...(owner?.restrictedBy === undefined ? [] : [referenceTo(owner.type)])];
}

export function restrictionOf(types: StoredTypes, stored: StoredType): DerivedRestriction {
  const { restrictedBy: member, type } = stored;
  if (member !== undefined) {
    const column = columnOf(member);
    if (type === PERSON || referringMembers(stored).includes(member)) return { column };
    const owner = ownerOf(stored, types.values());
    // the check of the schema refuses this, and says what to write (checks/restricted.ts)
    return owner ? { column, owner: owner.collection } : { refused: `${type} has no ${member}` };
  }
  const other = restrictedReference(types, stored);
  if (other === undefined) return 'unrestricted';
  return { refused: `A key with customer_ids cannot use this: ${type} refers to ${other}, but to no customer.` };
}

/** A type that a stored type refers to and that is restricted, or leads to a restricted one by its own references; undefined if there is none. `seen` ends circles. */
function restrictedReference(types: StoredTypes, stored: StoredType, seen = new Set<string>()): string | undefined {
  seen.add(stored.type);
  for (const other of types.values()) {
    if (seen.has(other.type) || referencesTo(other.type, stored).length === 0) continue;
    if (other.restrictedBy !== undefined || restrictedReference(types, other, seen) !== undefined) return other.type;
  }
  return undefined;
}

/** The column with the customer's id; undefined if rows have none of their own. */
export function customerColumn(restriction: DerivedRestriction): string | undefined {
  const isOwn = typeof restriction === 'object' && 'column' in restriction && !('owner' in restriction);
  return isOwn ? restriction.column : undefined;
}
