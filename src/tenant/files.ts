import type { ClientSession } from 'mongoose';
import { type Collection, defineCollection } from '../mongo/collection';
import { READ_TIMEOUT } from '../mongo/native';
import type { OrganisationData } from './organisationData';

/*
 * Files in the layout of GridFS, in the organisation's database, so that tools and drivers can read them. The driver's GridFSBucket writes outside
 * of transactions, and would make indexes by itself (docs/decisions/attachments.md).
 */

/** The object that a file belongs to. */
export interface Owner {
  readonly collection: string;
  readonly object_id: string;
}

/** Which files: those of these objects of a collection, or of them those with `ids`. */
interface FilesOf {
  readonly collection: string;
  readonly objectIds: readonly string[];
  readonly ids?: readonly string[] | undefined;
}

interface FileRow {
  readonly _id: string;
  readonly length: number;
  readonly chunkSize: number;
  readonly uploadDate: Date;
  /** Its id: what the file is called is in the object alone, where erasing finds it. */
  readonly filename: string;
  readonly metadata: Owner;
}

interface ChunkRow {
  readonly _id: string;
  readonly files_id: string;
  readonly n: number;
  readonly data: Buffer;
}

/** Rows that say of no customer: whoever reads or writes a file has read its object before, which a restricted key finds only if it is of its customers. */
const BY_OBJECT = { restriction: 'unrestricted' } as const;

export const files: Collection<FileRow> = {
  ...defineCollection<FileRow>('attachments.files', [{ on: { 'metadata.object_id': 1 } }]),
  ...BY_OBJECT,
};
export const fileChunks: Collection<ChunkRow> = {
  ...defineCollection<ChunkRow>('attachments.chunks', [{ on: { files_id: 1, n: 1 }, options: { unique: true } }]),
  ...BY_OBJECT,
};

/** The chunk size of GridFS, in bytes. It may never change: stored files are read by it, whatever their chunkSize says. */
const CHUNK = 255 * 1024;
/** Chunks that are read together: a mebibyte. */
const READ_TOGETHER = 4;

/** How many chunks a file of so many bytes has. */
export const chunksOf = (bytes: number): number => Math.ceil(bytes / CHUNK);

/** Stores a file with all of its chunks. `now` is the time of the write. */
export async function storeFile(
  data: OrganisationData,
  { id, bytes, owner }: { readonly id: string; readonly bytes: Buffer; readonly owner: Owner },
  session: ClientSession,
  now: Date,
): Promise<void> {
  const row = { _id: id, length: bytes.length, chunkSize: CHUNK, uploadDate: now, filename: id, metadata: owner };
  await data.collection(files).insertOne(row, { session });
  const chunks = Array.from({ length: chunksOf(bytes.length) }, (_, n) => ({
    files_id: id,
    n,
    data: bytes.subarray(n * CHUNK, (n + 1) * CHUNK),
  }));
  // with the ids that the driver makes, as GridFS has them
  if (chunks.length > 0) await data.collection(fileChunks).insertMany(chunks as never, { session });
}

/** The filter of files. */
export const ofObjects = ({ collection, objectIds, ids }: FilesOf): object => ({
  'metadata.object_id': { $in: [...objectIds] },
  'metadata.collection': collection,
  ...(ids && { _id: { $in: [...ids] } }),
});

/** Deletes the files that {@link ofObjects} matches, with their bytes. */
export async function removeFiles(
  data: OrganisationData,
  { collection, objectIds, ids }: FilesOf,
  session: ClientSession,
): Promise<void> {
  if (objectIds.length === 0 || ids?.length === 0) return;
  const fileRows = await data
    .collection(files)
    .find(ofObjects({ collection, objectIds, ids }), { projection: { _id: 1 }, session })
    .toArray();
  const $in = fileRows.map(({ _id }) => _id);
  if ($in.length === 0) return;
  await data.collection(files).deleteMany({ _id: { $in } }, { session });
  await data.collection(fileChunks).deleteMany({ files_id: { $in } }, { session });
}

/** An object does not have a file, or not all of its chunks: it was deleted meanwhile, or by another program. */
export class MissingChunks extends Error {}

/** The bytes of an object's file from `start` to before `end`, in chunks, of which about a mebibyte is read at a time. @throws MissingChunks */
export async function* readFile(
  data: OrganisationData,
  id: string,
  { collection, object_id }: Owner,
  { start, end }: { readonly start: number; readonly end: number },
): AsyncGenerator<Buffer> {
  const own = ofObjects({ collection, objectIds: [object_id], ids: [id] });
  const file = await data.reads(() =>
    data.collection(files).findOne(own, { projection: { _id: 1 }, maxTimeMS: READ_TIMEOUT }),
  );
  if (!file) throw new MissingChunks(`${collection} ${object_id} has no file ${id}`);
  const last = chunksOf(end) - 1;
  for (let first = Math.floor(start / CHUNK); first <= last; first += READ_TOGETHER) {
    const n = { $gte: first, $lt: Math.min(first + READ_TOGETHER, last + 1) };
    const options = { sort: { n: 1 }, batchSize: READ_TOGETHER + 1, maxTimeMS: READ_TIMEOUT, promoteBuffers: true };
    const chunks = await data.reads(() =>
      data
        .collection(fileChunks)
        .find({ files_id: id, n } as object, options as object)
        .toArray(),
    );
    if (chunks.length !== n.$lt - n.$gte) throw new MissingChunks(`the file ${id} lacks chunks`);
    for (const { n: at, data: bytes } of chunks)
      yield bytes.subarray(Math.max(0, start - at * CHUNK), Math.max(0, end - at * CHUNK));
  }
}
