import { createHash } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { collections } from '../../resources';
import { ATTACHMENTS } from '../../schema/attachmentNames';
import { hasAttachments } from '../../schema/storedTypes';
import { type Attachment, attachmentsOf } from '../../stored/attachmentRows';
import type { ImportRecord, RecordKind } from '../../stored/records';
import { MissingChunks, type Owner, readFile } from '../../tenant/files';
import type { OrganisationData } from '../../tenant/organisationData';
import { CommandFailure } from '../ending';
import { OWNER_ONLY } from './draft';

/** Where the files of attachments are written. */
interface FileTarget {
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Called for each file. */
  readonly onFile: () => void;
}

/**
 * The kind, but its `read` writes the files of a record's attachments before it yields the record. It opens none of one that import would refuse, which
 * is left to whoever reads it.
 */
export function withFiles(kind: RecordKind, target: FileTarget): RecordKind {
  const resource = collections.find(({ stored }) => stored.type === kind.type);
  if (!resource || !hasAttachments(resource.stored)) return kind;
  const { name: collection } = resource;

  /** Whether an object has an attachment now: it may have been deleted since its row was read. */
  async function hasStill(data: OrganisationData, objectId: string, { id }: Attachment): Promise<boolean> {
    const row = resource && (await data.collection(resource).findOne({ _id: objectId }));
    return attachmentsOf(row ?? undefined).some((attachment) => attachment.id === id);
  }

  async function* read(data: OrganisationData): AsyncGenerator<ImportRecord> {
    for await (const record of kind.read(data)) {
      // a file is named by the id in the row, where another program may have stored a path
      if (kind.faultIn(record)) {
        yield record;
        continue;
      }
      const written: Attachment[] = [];
      for (const attachment of attachmentsOf(record)) {
        if (await writeFile(data, attachment, { collection, object_id: record.id }, target)) {
          target.onFile();
          written.push(attachment);
        } else if (await hasStill(data, record.id, attachment))
          throw new CommandFailure(
            `nothing was written: the file of attachment ${attachment.id} of ${kind.file} ${record.id} is not what was uploaded; delete the attachment, or restore attachments.files and attachments.chunks`,
          );
      }
      yield ATTACHMENTS in record ? { ...record, [ATTACHMENTS]: written } : record;
    }
  }
  return { ...kind, read };
}

/** Writes the file of an attachment. Resolves with false, and leaves no file, if its bytes are gone, or are not those that were uploaded. */
async function writeFile(
  data: OrganisationData,
  { id, size, sha256 }: Attachment,
  owner: Owner,
  target: FileTarget,
): Promise<boolean> {
  await mkdir(target.folder, { recursive: true, mode: OWNER_ONLY.folder });
  const hash = createHash('sha256');
  const pieces = async function* () {
    for await (const piece of readFile(data, id, owner, { start: 0, end: size })) {
      hash.update(piece);
      yield piece;
    }
  };
  const path = join(target.folder, id);
  const file = await open(path, 'w', OWNER_ONLY.file);
  let isWhole = true;
  try {
    await pipeline(pieces, file.createWriteStream(), { signal: target.signal });
  } catch (error) {
    if (!(error instanceof MissingChunks)) throw error;
    isWhole = false;
  }
  if (isWhole && hash.digest('hex') === sha256) return true;
  await rm(path);
  return false;
}
