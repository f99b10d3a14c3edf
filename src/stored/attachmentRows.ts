import type { ClientSession } from 'mongoose';
import { ATTACHMENTS } from '../schema/attachmentNames';
import { removeFiles } from '../tenant/files';
import type { OrganisationData } from '../tenant/organisationData';

/* The attachments that rows have. */

/** An attachment as its object has it. */
export interface Attachment {
  readonly id: string;
  readonly file_name: string;
  readonly content_type: string;
  /** In bytes. */
  readonly size: number;
  /** In hexadecimal digits. */
  readonly sha256: string;
  readonly created_at: Date;
}

export interface RowWithAttachments {
  readonly updated_at?: Date;
  readonly [ATTACHMENTS]?: readonly Attachment[] | null;
}

export function attachmentsOf(row: object | undefined): readonly Attachment[] {
  const { [ATTACHMENTS]: attachments }: RowWithAttachments = row ?? {};
  return Array.isArray(attachments) ? (attachments as readonly Attachment[]) : [];
}

/**
 * A row of an import with those of its attachments that are stored already: the others follow with their files. One that does not say which it has,
 * or says null, keeps them; an empty list removes them.
 */
export function withStoredAttachments<T extends object>(row: T, before: object | undefined): T {
  const { [ATTACHMENTS]: named, ...others } = row as RowWithAttachments;
  const stored = attachmentsOf(before);
  const kept = named ? stored.filter(({ id }) => named.some((attachment) => attachment.id === id)) : stored;
  return (kept.length === 0 ? others : { ...others, [ATTACHMENTS]: kept }) as T;
}

/** Deletes the files of attachments that a row of a collection had and has no longer. Both are whole rows; without `row`, it was deleted, and all its files go. */
export async function removeDetached(
  data: OrganisationData,
  collection: string,
  { before, row }: { readonly before?: { readonly _id: string } | undefined; readonly row?: object | undefined },
  session: ClientSession,
): Promise<void> {
  if (!before) return;
  const kept = new Set(attachmentsOf(row).map(({ id }) => id));
  const ids = attachmentsOf(before).flatMap(({ id }) => (kept.has(id) ? [] : [id]));
  await removeFiles(data, { collection, objectIds: [before._id], ids }, session);
}
