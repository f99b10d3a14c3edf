import { atMost } from '../../mongo/native';
import type { OrganisationData } from '../../tenant/organisationData';
import { published } from '../../schema/model';
import { ERASED_AT } from '../../schema/personal';
import { hasAttachments } from '../../schema/storedTypes';
import type { RecordKind } from '../../stored/records';
import { stampedWrite } from '../../tenant/openWrites';
import type { Writer } from '../../tenant/slots';
import { usageFailure } from '../ending';
import { type ImportReporter, MAX_RECORDS } from './importFile';

/* What `import --delete-missing` deletes: objects that were there when the import began, and that its files do not have. */

/** Objects whose ids are kept in memory until the files are read: some 100 bytes each. */
const MAX_OBJECTS = 5_000_000;
/** Objects deleted with their files in one transaction, which deletes up to 820 chunks of each: 20 files of 10 MiB, in chunks of 255 KiB. */
const MAX_WITH_FILES = 20;

/** Leaves out erased customers: without its row, nothing would keep one from being written again. */
const NOT_ERASED = { [ERASED_AT]: null };

/**
 * The ids of the objects of each kind that an import may find missing. Read before its first file: no time in a row says when it was
 * created, since callers set created_at.
 * @throws CommandFailure if there are more than {@link MAX_OBJECTS}
 */
export async function storedIds(
  data: OrganisationData,
  kinds: readonly RecordKind[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<RecordKind, Set<string>>> {
  const all = new Map<RecordKind, Set<string>>();
  let count = 0;
  for (const kind of kinds) {
    const ids = new Set<string>();
    all.set(kind, ids);
    const [resource] = kind.writes;
    if (!resource) continue;
    for await (const { _id } of data.collection(resource).find(NOT_ERASED as object, { projection: { _id: 1 } })) {
      if (signal?.aborted) return all;
      count += 1;
      if (count > MAX_OBJECTS)
        throw usageFailure(
          `--delete-missing compares up to ${MAX_OBJECTS.toLocaleString('en')} stored objects, and there are more; import one file at a time, or without it`,
        );
      ids.add(_id);
    }
  }
  return all;
}

interface DeleteOptions extends Pick<ImportReporter, 'progress' | 'signal'> {
  readonly by: Writer;
}

/** Deletes objects in batches, until the signal aborts. Returns how many were deleted: not those that were erased or deleted meanwhile. */
export async function deleteMissing(
  data: OrganisationData,
  kind: RecordKind,
  missing: ReadonlySet<string>,
  { progress, signal, by }: DeleteOptions,
): Promise<number> {
  const [resource] = kind.writes;
  if (!resource) return 0;
  const most = hasAttachments(published.stored.get(kind.type)) ? MAX_WITH_FILES : MAX_RECORDS;
  const ids = [...missing];
  let deleted = 0;
  progress.start(`${kind.file}, missing`, ids.length);
  try {
    for (let at = 0; at < ids.length && !signal?.aborted; at += most) {
      const filter = { _id: { $in: ids.slice(at, at + most) }, ...NOT_ERASED } as object;
      deleted += await stampedWrite(
        data,
        async (session) => {
          const rows = await data
            .collection(resource)
            .find(filter, { projection: { _id: 1 }, session, ...atMost(most) })
            .toArray();
          await kind.remove(
            data,
            rows.map(({ _id }) => _id),
            session,
          );
          return rows.length;
        },
        { writes: kind.writes, rows: 0, by },
      );
      progress.update(Math.min(at + most, ids.length), deleted);
    }
  } finally {
    progress.stop();
  }
  return deleted;
}
