import type { ClientSession } from 'mongoose';
import { type Collection, uniqueMembers } from '../mongo/collection';
import { atMost, READ_TIMEOUT } from '../mongo/native';
import { EXTERNAL_REF } from '../schema/storedTypes';
import type { OrganisationData } from '../tenant/organisationData';

/* Which rows of one call may have the values that they give members of which no two rows have the same. */

interface Row {
  readonly _id: string;
}

/** The values of one unique member. */
export interface UniqueClaim {
  readonly member: string;
  /** The id of another row that has the row's value; undefined if none has. */
  readonly ownerOf: (row: object) => string | undefined;
  /** Gives the row its value, and frees that of `before` for the rows that follow, which must then be stored in order. */
  readonly take: (row: Row, before?: Row) => void;
}

interface Change<T> {
  readonly row: T;
  readonly before: T | undefined;
}

/** The claims of a call's rows, beside those of the stored rows. `except` is a member that the caller looks up itself. */
export async function uniqueClaims<T extends Row>(
  data: OrganisationData,
  collection: Collection<T>,
  changes: readonly Change<T>[],
  { session, except }: { readonly session: ClientSession; readonly except?: string },
): Promise<UniqueClaim[]> {
  const claims: UniqueClaim[] = [];
  // one after the other, since a session takes one command at a time
  for (const member of uniqueMembers(collection))
    if (member !== except) claims.push(await createClaim(data, collection, changes, member, session));
  return claims;
}

async function createClaim<T extends Row>(
  data: OrganisationData,
  collection: Collection<T>,
  changes: readonly Change<T>[],
  member: string,
  session: ClientSession,
): Promise<UniqueClaim> {
  // an external_ref is unique among the rows that have one, and an empty one is none
  const noValue = member === EXTERNAL_REF ? '' : null;
  const valueOf = (row: object): unknown => {
    const value = (row as Readonly<Record<string, unknown>>)[member] ?? null;
    return value === noValue ? null : value;
  };
  // a row has the value that it keeps
  const given = changes.filter(({ row, before }) => !before || valueOf(row) !== valueOf(before));
  const values = given.map(({ row }) => valueOf(row)).filter((value) => value !== null);
  const options = { session, projection: { [member]: 1 }, maxTimeMS: READ_TIMEOUT, ...atMost(values.length) };
  const stored =
    values.length === 0
      ? []
      : await data
          .collection(collection)
          .find<T>({ [member]: { $in: values } } as object, options)
          .toArray();
  const owners = new Map(stored.map((row) => [valueOf(row), row._id]));
  return {
    member,
    ownerOf: (row) => {
      const value = valueOf(row);
      const owner = value === null ? undefined : owners.get(value);
      return owner === (row as Row)._id ? undefined : owner;
    },
    take: (row, before) => {
      if (before && owners.get(valueOf(before)) === row._id) owners.delete(valueOf(before));
      const value = valueOf(row);
      if (value !== null) owners.set(value, row._id);
    },
  };
}
