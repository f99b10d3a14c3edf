import { randomUUID } from 'node:crypto';
import type { ClientSession } from 'mongoose';
import { AppError, type Fault, notFound, validationFailed } from '../errors';
import { type Projection, WITHOUT_SEARCH } from '../mongo/collection';
import { READ_TIMEOUT } from '../mongo/native';
import type { DataContext } from '../operations/context';
import { ATTACHMENTS } from '../schema/attachmentNames';
import { objectName } from '../schema/storedTypes';
import { chunksOf, fileChunks, files, removeFiles, storeFile } from '../tenant/files';
import { stampedWrite } from '../tenant/openWrites';
import type { OrganisationData } from '../tenant/organisationData';
import type { Writer } from '../tenant/slots';
import { type Attachment, attachmentsOf, type RowWithAttachments } from './attachmentRows';
import { readOne } from './collection';
import { personalDataFault } from './erasedCustomers';
import { requireServed } from './invalidRows';
import type { Resource, Row } from './resource';
import { erasedFault, stampedRow, writeRows } from './rows';

/* The attachments of objects: what is in the object, and its file, always written together (docs/decisions/attachments.md). */

/** What a write of attachments stores in these collections besides its object's. */
const FILE_COLLECTIONS = [files, fileChunks] as const;

/** The answer to a write, as it is kept for retries: with the object, by which erasing finds it. */
export interface AttachmentAnswer {
  readonly attached_to: string;
  readonly attachment: Attachment;
}

/** Always the same object, since reads are batched by it. */
const OF_ATTACHMENTS: Projection = { _id: 1, [ATTACHMENTS]: 1 };

/**
 * Reads the object of attachments by the caller's own data: a key that does not have the object gets 404 for its files, too.
 * @throws AppError not_found; stored_object_invalid if another program stored attachments of another form
 */
export async function readOwner(
  context: Pick<DataContext, 'data' | 'noteInvalid' | 'principal'>,
  resource: Resource,
  id: string,
): Promise<Row> {
  const row = await readOne(context.data, resource, id, objectName(resource.stored.type), OF_ATTACHMENTS);
  requireServed(context, resource, row, OF_ATTACHMENTS);
  return row;
}

type WriteContext = Pick<DataContext, 'data' | 'write' | 'noteInvalid' | 'principal'>;

interface NewAttachment extends Omit<Attachment, 'id' | 'created_at'> {
  readonly objectId: string;
  /** How many attachments the object may have. */
  readonly most: number;
  readonly bytes: Buffer;
}

/** @throws AppError not_found; validation_failed if the object has `most` already, or was erased */
export function addAttachment(
  context: WriteContext,
  resource: Resource,
  { objectId, most, bytes, ...file }: NewAttachment,
): Promise<AttachmentAnswer> {
  const { data, write } = context;
  const id = randomUUID();
  return write(
    async (session, now) => {
      const before = await rowOf(data, resource, objectId, session);
      requireServed(context, resource, before, WITHOUT_SEARCH);
      const attachments = attachmentsOf(before);
      if (attachments.length >= most) {
        const detail = `has ${String(attachments.length)} attachments, and may have ${String(most)}; delete one first`;
        throw validationFailed([{ pointer: `/${ATTACHMENTS}`, code: 'too_many', detail }]);
      }
      const attachment = { id, ...file, created_at: now };
      const erased = await erasedOwnerFault(data, resource, before, attachment, session);
      if (erased) throw validationFailed([erased]);
      await writeAttachments(data, resource, before, [...attachments, attachment], session, now);
      await storeFile(data, { id, bytes, owner: { collection: resource.name, object_id: before._id } }, session, now);
      return { attached_to: before._id, attachment };
    },
    { writes: [resource, ...FILE_COLLECTIONS], rows: chunksOf(bytes.length), upload: bytes.length },
  );
}

/** Deletes an attachment with its file, also of an object that cannot be served: the answer has nothing else of it. @throws AppError not_found */
export function deleteAttachment(
  { data, write }: WriteContext,
  resource: Resource,
  objectId: string,
  attachmentId: string,
): Promise<AttachmentAnswer> {
  return write(
    async (session, now) => {
      const before = await rowOf(data, resource, objectId, session);
      const attachment = attachmentIn(before, attachmentId);
      const others = attachmentsOf(before).filter((other) => other !== attachment);
      await writeAttachments(data, resource, before, others, session, now);
      await removeFiles(data, { collection: resource.name, objectIds: [before._id], ids: [attachment.id] }, session);
      return { attached_to: before._id, attachment };
    },
    // the collections of a file that is deleted exist
    { writes: [resource], makesRoom: true },
  );
}

/** The attachment of a row with an id, in upper or lower case. @throws AppError not_found */
export function attachmentIn(row: object, id: string): Attachment {
  const attachment = attachmentsOf(row).find((candidate) => candidate.id === id.toLowerCase());
  if (!attachment) throw new AppError('not_found', 'There is no such attachment.');
  return attachment;
}

interface RestoredAttachment {
  readonly objectId: string;
  readonly attachment: Attachment;
  readonly bytes: Buffer;
  /** What becomes the object's time of change, unless that is later; undefined for the time of this write. */
  readonly changed: Date | undefined;
  readonly by: Writer;
}

/**
 * Stores an attachment of an import with its file, under the id that it had, unless the object has it already. For the command line alone: it has checked
 * the record, and no quota applies. Resolves with the fault of an object that was erased after its record was stored. @throws AppError not_found
 */
export function restoreAttachment(
  data: OrganisationData,
  resource: Resource,
  { objectId, attachment, bytes, changed, by }: RestoredAttachment,
): Promise<Fault | undefined> {
  return stampedWrite(
    data,
    async (session, now) => {
      const before = await rowOf(data, resource, objectId, session);
      const erased = await erasedOwnerFault(data, resource, before, attachment, session);
      if (erased) return erased;
      const attachments = attachmentsOf(before);
      if (attachments.some(({ id }) => id === attachment.id)) return undefined;
      const all = [...attachments, attachment].toSorted(oldestFirst);
      await writeAttachments(data, resource, before, all, session, changed ?? now);
      const owner = { collection: resource.name, object_id: before._id };
      // a file with this id that another program left, or a gateway of an earlier version, which dropped the object's entry alone
      await removeFiles(data, { collection: resource.name, objectIds: [before._id], ids: [attachment.id] }, session);
      await storeFile(data, { id: attachment.id, bytes, owner }, session, attachment.created_at);
      return undefined;
    },
    { writes: [resource, ...FILE_COLLECTIONS], rows: chunksOf(bytes.length), by },
  );
}

/** The order that the contract promises; imports restore them one by one. */
const oldestFirst = (one: Attachment, other: Attachment): number =>
  Number(one.created_at) - Number(other.created_at) || (one.id < other.id ? -1 : 1);

async function rowOf(data: OrganisationData, resource: Resource, id: string, session: ClientSession): Promise<Row> {
  const options = { session, maxTimeMS: READ_TIMEOUT };
  const row = await data.collection(resource).findOne({ _id: id.toLowerCase() }, options);
  if (!row) throw notFound(objectName(resource.stored.type));
  return row;
}

/** The fault of an attachment of an object that was erased, or whose customer was. */
async function erasedOwnerFault(
  data: OrganisationData,
  resource: Resource,
  owner: Row,
  attachment: Attachment,
  session: ClientSession,
): Promise<Fault | undefined> {
  const row = { ...owner, [ATTACHMENTS]: [attachment] };
  return erasedFault(owner, '') ?? personalDataFault(data, resource, row, session);
}

/** Stores a row with these attachments; without any, it lacks the member. */
async function writeAttachments(
  data: OrganisationData,
  resource: Resource,
  before: Row,
  attachments: readonly Attachment[],
  session: ClientSession,
  now: Date,
): Promise<void> {
  const { [ATTACHMENTS]: _before, ...others } = before as Row & RowWithAttachments;
  const changed = { ...others, ...(attachments.length > 0 && { [ATTACHMENTS]: attachments }) };
  const row = stampedRow(changed, before, now);
  await writeRows(data.collection(resource), [{ row, before }], { ordered: true, session });
}
