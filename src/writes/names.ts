import type { ClientSession } from 'mongoose';
import { atMost, READ_TIMEOUT } from '../mongo/native';
import type { OrganisationData } from '../tenant/organisationData';
import { ERASED_AT } from '../schema/personal';
import type { Row } from '../stored/resource';
import { identityOf, type Kind, type Members } from './kinds';
import { filterOf, mostOf, type Values } from './wanted';

/* Which objects the elements of a call name: looked up a piece at a time, and kept up to date while its elements are applied. */

/** The members of an object that are looked up, with its id. */
type KeptMembers = Members & { readonly _id: string };

export interface Names {
  /** The id of the object that these members name; undefined if there is none. */
  idOf(kind: Kind, members: Members): string | undefined;
  /** The id of the object that has a value in a unique member; undefined if none has. */
  idWith(kind: Kind, member: string, value: unknown): string | undefined;
  /** Undefined if there is no such object. */
  get(kind: Kind, id: string): KeptMembers | undefined;
  /** Notes what an object is now; undefined once it is deleted. */
  set(kind: Kind, id: string, row: object | undefined): void;
}

/** Reads the looked-up members of objects that elements only refer to. */
export async function readNames(
  data: OrganisationData,
  kind: Kind,
  values: Values,
  session: ClientSession,
): Promise<Row[]> {
  const projection = Object.fromEntries(lookedUp(kind).map((member) => [member, 1]));
  const options = { session, projection, maxTimeMS: READ_TIMEOUT, ...atMost(mostOf(values)) };
  return data.collection(kind.resource).find(filterOf(values), options).toArray();
}

function lookedUp({ unique, owner }: Kind): string[] {
  return ['_id', ...unique, ERASED_AT, ...(owner ? [owner.member] : [])];
}

/** What is known of a kind. */
interface Known {
  /** By id. */
  readonly objects: Map<string, KeptMembers>;
  /** By unique member: the id of the object that has a value. */
  readonly idsByValue: ReadonlyMap<string, Map<string, string>>;
}

export function createNames(): Names {
  const byKind = new Map<Kind, Known>();

  function knownOf(kind: Kind): Known {
    const known = byKind.get(kind) ?? {
      objects: new Map<string, KeptMembers>(),
      idsByValue: new Map(kind.unique.map((member) => [member, new Map<string, string>()])),
    };
    byKind.set(kind, known);
    return known;
  }

  function forget({ objects, idsByValue }: Known, id: string): void {
    const before = objects.get(id);
    if (!before) return;
    objects.delete(id);
    for (const [member, ids] of idsByValue) {
      const value = identityOf(before, member);
      if (value !== undefined && ids.get(value) === id) ids.delete(value);
    }
  }

  const names: Names = {
    idOf(kind, members) {
      // in the order of `identities`: the id, then the external_ref if the kind has one, then the unique member (such as `number`)
      const [id, ref, ...others] = kind.identities.map((member) => [member, identityOf(members, member)] as const);
      if (id?.[1] !== undefined) return knownOf(kind).objects.has(id[1]) ? id[1] : undefined;
      const byRef = ref && names.idWith(kind, ...ref);
      if (byRef !== undefined) return byRef;
      const byUnique = others.map((identity) => names.idWith(kind, ...identity)).find((found) => found !== undefined);
      // an object with the same number but another external_ref is not the one that is meant
      const isOther =
        byUnique !== undefined && ref?.[1] !== undefined && (names.get(kind, byUnique)?.[ref[0]] ?? null) !== null;
      return isOther ? undefined : byUnique;
    },
    idWith: (kind, member, value) =>
      typeof value === 'string' ? knownOf(kind).idsByValue.get(member)?.get(value) : undefined,
    get: (kind, id) => knownOf(kind).objects.get(id),
    set(kind, id, row) {
      const kindNames = knownOf(kind);
      forget(kindNames, id);
      if (!row) return;
      // not whole rows, which may be large, since this is kept for the whole call
      const members = lookedUp(kind).map((member) => [member, (row as Members)[member] ?? null]);
      kindNames.objects.set(id, Object.fromEntries(members) as KeptMembers);
      for (const [member, ids] of kindNames.idsByValue) {
        const value = identityOf(row as Members, member);
        if (value !== undefined) ids.set(value, id);
      }
    },
  };
  return names;
}
