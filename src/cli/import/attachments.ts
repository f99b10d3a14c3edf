import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Fault } from '../../errors';
import { atMost } from '../../mongo/native';
import { collections } from '../../resources';
import { ATTACHMENTS } from '../../schema/attachmentNames';
import { hasAttachments } from '../../schema/storedTypes';
import { type Attachment, attachmentsOf } from '../../stored/attachmentRows';
import { restoreAttachment } from '../../stored/attachments';
import { type ImportRecord, type RecordKind, type Stamp, type StoredRecord, storeRecords } from '../../stored/records';
import type { Resource } from '../../stored/resource';
import { files, type Owner } from '../../tenant/files';
import type { OrganisationData } from '../../tenant/organisationData';
import type { Writer } from '../../tenant/slots';
import { CommandFailure } from '../ending';
import { ATTACHMENTS_FOLDER } from '../records';

/* The files of attachments that an import reads beside its records, one in memory at a time. */

interface StoreOptions {
  /** Where the folder of files is; undefined if there is none. */
  readonly folder: string | undefined;
  readonly stamp: Stamp | undefined;
  readonly by: Writer;
}

/** An attachment that an object does not have yet, and where it is in its record. */
interface Missing {
  readonly attachment: Attachment;
  readonly index: number;
}

/**
 * Stores records, and then each attachment that their objects lack, with its file, in a transaction of its own, so that an import that was killed
 * goes on where it was. A record fails if a file is missing, or is not what the record says.
 */
export async function storeWithFiles(
  kind: RecordKind,
  data: OrganisationData,
  records: readonly ImportRecord[],
  { folder, stamp, by }: StoreOptions,
): Promise<StoredRecord[]> {
  const resource = collections.find(({ stored }) => stored.type === kind.type);
  if (!resource || !hasAttachments(resource.stored) || !records.some((record) => attachmentsOf(record).length > 0))
    return storeRecords(kind, data, records, { by, stamp });
  const missing = await missingOf(data, resource, records);
  const owners = await ownersOf(data, missing);
  const faults = new Map<ImportRecord, Fault[]>();
  for (const [record, attachments] of missing) {
    const owner = { collection: resource.name, object_id: record.id };
    const fileFaults = await fileFaultsOf(attachments, { owner, owners, folder });
    if (fileFaults.length > 0) faults.set(record, fileFaults);
  }
  const sound = records.filter((record) => !faults.has(record));
  const stored = await storeRecords(kind, data, sound, { by, stamp });
  const outcomes = new Map(sound.map((record, at) => [record, stored[at]]));
  const results: StoredRecord[] = [];
  for (const record of records) {
    const result = outcomes.get(record) ?? { outcome: 'failed', errors: faults.get(record) ?? [] };
    const wanted = result.outcome === 'failed' ? [] : (missing.get(record) ?? []);
    let erased: Fault | undefined;
    for (const { attachment } of wanted) {
      const bytes = await readSound(folder, attachment);
      // it was sound a moment ago
      if (!Buffer.isBuffer(bytes)) throw new CommandFailure(`${pathOf(attachment)} ${bytes.detail}`);
      const changed = stamp === 'now' ? undefined : new Date(record.updated_at as string);
      const restored = { ...attachment, created_at: new Date(attachment.created_at) };
      erased = await restoreAttachment(data, resource, {
        objectId: record.id,
        attachment: restored,
        bytes,
        changed,
        by,
      });
      if (erased) break;
    }
    if (erased) {
      results.push({ outcome: 'failed', errors: [erased] });
      continue;
    }
    const isChanged = result.outcome === 'unchanged' && wanted.length > 0;
    results.push(isChanged ? { outcome: 'updated', errors: [] } : result);
  }
  return results;
}

/** The attachments of each record that its object does not have. */
async function missingOf(
  data: OrganisationData,
  resource: Resource,
  records: readonly ImportRecord[],
): Promise<ReadonlyMap<ImportRecord, readonly Missing[]>> {
  const ids = records.map(({ id }) => id);
  const rows = await data
    .collection(resource)
    .find({ _id: { $in: ids } }, { projection: { [`${ATTACHMENTS}.id`]: 1 }, ...atMost(ids.length) })
    .toArray();
  const stored = new Map(rows.map((row) => [row._id, new Set(attachmentsOf(row).map(({ id }) => id))]));
  return new Map(
    records.map((record) => [
      record,
      attachmentsOf(record).flatMap((attachment, index): Missing[] =>
        stored.get(record.id)?.has(attachment.id) ? [] : [{ attachment, index }],
      ),
    ]),
  );
}

type Owners = Map<string, Owner>;

/** The objects that have the files of these attachments already, by the attachment's id. */
async function ownersOf(
  data: OrganisationData,
  missing: ReadonlyMap<ImportRecord, readonly Missing[]>,
): Promise<Owners> {
  const ids = [...missing.values()].flat().map(({ attachment }) => attachment.id);
  if (ids.length === 0) return new Map();
  const rows = await data
    .collection(files)
    .find({ _id: { $in: ids } }, { projection: { metadata: 1 }, ...atMost(ids.length) })
    .toArray();
  return new Map(rows.map(({ _id, metadata }) => [_id, metadata]));
}

interface FileSource {
  readonly owner: Owner;
  /** Gets the owner for each of its attachments, so that no later record of the batch can have the same. */
  readonly owners: Owners;
  readonly folder: string | undefined;
}

async function fileFaultsOf(missing: readonly Missing[], { owner, owners, folder }: FileSource): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const { attachment, index } of missing) {
    const pointer = `/${ATTACHMENTS}/${String(index)}`;
    // the object's own file without an entry in it, as another program leaves that deletes the object, is replaced
    const { collection, object_id: id } = owners.get(attachment.id) ?? owner;
    if (collection !== owner.collection || id !== owner.object_id) {
      const detail = `belongs to another of ${collection} (id ${id})`;
      faults.push({ pointer: `${pointer}/id`, code: 'conflict', detail });
      continue;
    }
    owners.set(attachment.id, owner);
    const bytes = await readSound(folder, attachment);
    if (!Buffer.isBuffer(bytes)) faults.push({ ...bytes, pointer });
  }
  return faults;
}

/** Where the file of an attachment is beside the records. */
const pathOf = ({ id }: Attachment): string => `${ATTACHMENTS_FOLDER}/${id}`;

/** The bytes of an attachment's file, or what is wrong with it. */
async function readSound(folder: string | undefined, attachment: Attachment): Promise<Buffer | Fault> {
  const { size, sha256 } = attachment;
  const name = pathOf(attachment);
  if (folder === undefined)
    return {
      code: 'not_found',
      detail: 'has no file: import the file of records, or its folder, instead of standard input',
    };
  const path = join(folder, name);
  const stats = await stat(path).catch(() => undefined);
  if (!stats?.isFile()) return { code: 'not_found', detail: `has no file ${name} beside the records` };
  if (stats.size !== size)
    return { code: 'invalid', detail: `has ${String(size)} bytes, but the file ${name} has ${String(stats.size)}` };
  const bytes = await readFile(path);
  const isSame = createHash('sha256').update(bytes).digest('hex') === sha256;
  return isSame ? bytes : { code: 'invalid', detail: `has another sha256 than the file ${name}` };
}
