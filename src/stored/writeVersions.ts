import { defineCollection } from '../mongo/collection';
import { DAY, SECOND } from '../units';

/** The version that an operator wrote an object with, or deleted one (docs/decisions/operator-writes.md). */
export interface WriteVersion {
  /** `order id <UUID>`, `order external_ref o-9`. */
  readonly _id: string;
  readonly version: number;
  /** Only of a deleted object. */
  readonly deleted_at?: Date;
}

/** How long the version of a deleted object is kept, in milliseconds (contract, section 15). */
const KEPT_FOR = 30 * DAY;

export const writeVersions = defineCollection<WriteVersion>('write_versions', [
  { on: { deleted_at: 1 }, options: { expireAfterSeconds: KEPT_FOR / SECOND } },
]);
