import type { Collection } from '../mongo/collection';
import { fileChunks, files } from '../tenant/files';
import { idempotencyRecords } from '../tenant/idempotency';
import { stampedWrite } from '../tenant/openWrites';
import type { OrganisationData } from '../tenant/organisationData';
import type { Writer } from '../tenant/slots';
import { writeVersions } from '../stored/writeVersions';
import { collections } from '.';

/** Rows to delete per transaction. */
const DELETE_BATCH = 1000;
/** Chunks of files to delete per transaction: each is large. */
const CHUNKS_AT_ONCE = 100;

interface Emptying {
  readonly by: Writer;
  /** Stops it between two transactions. */
  readonly signal?: AbortSignal;
}

/**
 * Deletes all objects of a sandbox; its events, deliveries, keys and webhooks stay. The caller has checked that it is a sandbox, and noted that it
 * is unseeded. If it was interrupted, run it again to complete it.
 */
export async function emptySandbox(data: OrganisationData, { by, signal }: Emptying): Promise<void> {
  // with idempotencyRecords and writeVersions, since a retry of an earlier write must write again
  for (const collection of [...collections, files, fileChunks, idempotencyRecords, writeVersions])
    await empty(data, collection, { by, ...(signal && { signal }) });
}

async function empty(
  data: OrganisationData,
  collection: Collection<{ readonly _id: string }>,
  { by, signal }: Emptying,
): Promise<void> {
  const rows = data.collection(collection);
  for (;;) {
    signal?.throwIfAborted();
    const limit = collection === fileChunks ? CHUNKS_AT_ONCE : DELETE_BATCH;
    const batch = await rows.find({}, { projection: { _id: 1 }, limit }).toArray();
    if (batch.length === 0) return;
    const filter = { _id: { $in: batch.map(({ _id }) => _id) } };
    const options = { writes: [collection], by, makesRoom: true };
    await stampedWrite(data, (session) => rows.deleteMany(filter, { session }), options);
  }
}
