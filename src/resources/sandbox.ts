import type { Collection } from '../mongo/collection';
import { idempotencyRecords } from '../tenant/idempotency';
import { stampedWrite } from '../tenant/openWrites';
import type { OrganisationData } from '../tenant/organisationData';
import type { Writer } from '../tenant/slots';
import { writeVersions } from '../stored/writeVersions';
import { collections } from '.';

/** Rows to delete per transaction. */
const DELETE_BATCH = 1000;

interface Emptying {
  readonly by: Writer;
  /** Stops it between two transactions. */
  readonly signal?: AbortSignal;
}

/** Deletes everything that a sandbox has. If it was interrupted, run it again to complete it. */
export async function emptySandbox(data: OrganisationData, { by, signal }: Emptying): Promise<void> {
  // with the idempotency records gone, retries of earlier writes write again
  for (const collection of [...collections, idempotencyRecords, writeVersions])
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
    const piece = await rows.find({}, { projection: { _id: 1 }, limit: DELETE_BATCH }).toArray();
    if (piece.length === 0) return;
    const these = { _id: { $in: piece.map(({ _id }) => _id) } };
    await stampedWrite(data, (session) => rows.deleteMany(these, { session }), { writes: [collection], by });
  }
}
