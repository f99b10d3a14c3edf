import type { ClientSession, mongo } from 'mongoose';
import { atMost, READ_TIMEOUT } from '../mongo/native';
import type { OrganisationData } from '../tenant/organisationData';
import { type WriteVersion, writeVersions } from '../stored/writeVersions';
import { identityOf, type Kind, type Members } from './kinds';

/*
 * The versions that operators give their writes, so that an older one does not undo a newer (docs/decisions/operator-writes.md). They are stored by key:
 * that of an object by its id, that of a deleted one by each of its names, since a later element may know only one of them.
 */

/** What an element is about: a stored object, by its id alone, or else whatever its members name. */
export interface Named {
  readonly kind: Kind;
  readonly id: string | undefined;
  readonly members: Members;
}

/** The keys of its versions, such as `quote number Q-1`. */
function keysOf({ kind, id, members }: Named): string[] {
  if (id !== undefined) return [`${kind.name} id ${id}`];
  return kind.identities.flatMap((member) => {
    const value = identityOf(members, member);
    return value === undefined ? [] : [`${kind.name} ${member} ${value}`];
  });
}

export type Versions = ReturnType<typeof createVersions>;

export function createVersions(data: OrganisationData, session: ClientSession) {
  /** By key, as for `changed`. */
  const known = new Map<string, WriteVersion>();
  /** Those that the call has set and not stored yet. */
  const changed = new Map<string, WriteVersion>();

  function note(_id: string, version: number, deleted_at?: Date): void {
    const before = known.get(_id);
    if (before?.version === version && (before.deleted_at === undefined) === (deleted_at === undefined)) return;
    const row = { _id, version, ...(deleted_at && { deleted_at }) };
    known.set(_id, row);
    changed.set(_id, row);
  }

  return {
    /** Reads the stored versions of what the next elements are about. */
    async read(wanted: readonly Named[]): Promise<void> {
      const keys = [...new Set(wanted.flatMap(keysOf))].filter((key) => !changed.has(key));
      if (keys.length === 0) return;
      const options = { session, maxTimeMS: READ_TIMEOUT, ...atMost(keys.length) };
      const rows = await data
        .collection(writeVersions)
        .find({ _id: { $in: keys } }, options)
        .toArray();
      for (const row of rows) known.set(row._id, row);
    },
    /** The highest version that it was written or deleted with; undefined if there is none. `read` must have been called for it. */
    of(named: Named): number | undefined {
      const versions = keysOf(named).flatMap((key) => known.get(key)?.version ?? []);
      return versions.length === 0 ? undefined : Math.max(...versions);
    },
    noteWritten(kind: Kind, id: string, version: number): void {
      note(`${kind.name} id ${id}`, version);
    },
    /** `members` are all names of the object that are known, `id` among them: it is one of the identities, so its version is set too. */
    noteDeleted(kind: Kind, members: Members, version: number, now: Date): void {
      for (const key of keysOf({ kind, id: undefined, members })) note(key, version, now);
    },
    /** Stores the versions that the call has set. */
    async store(): Promise<void> {
      if (changed.size === 0) return;
      const writes = [...changed.values()].map((row): mongo.AnyBulkWriteOperation<WriteVersion> => {
        const { _id, ...replacement } = row;
        return { replaceOne: { filter: { _id }, replacement, upsert: true } };
      });
      await data.collection(writeVersions).bulkWrite(writes, { ordered: false, session });
    },
  };
}
