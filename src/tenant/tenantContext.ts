import type { Semaphore } from '../async/semaphore';
import type { Validation } from '../mongo/validators';
import type { Quota } from './quota';

/** Whether an organisation's database may be written to, or why not: it is being moved, is being erased (`closed`), or does not exist (`gone`). */
export type WriteState = 'open' | 'moving' | 'closed' | 'gone';

/** What the data of all organisations share. Members that are not readonly are set after the databases are open (databases.ts). */
export interface TenantContext {
  /** Whether an organisation's collections may be created; the only place that decides, since a dropped database must not come back. */
  writeStateOf: (organisationId: string) => Promise<WriteState>;
  /** Records that changes of an organisation are read with `updated_since`. */
  noteFollowed: (organisationId: string) => Promise<void>;
  /** Limits background checks of collections in a gateway; undefined on the command line, where reads start none. */
  checks: Semaphore | undefined;
  /** Whether collections get the indexes that only speed up reads once they have grown, instead of from the start. */
  readonly grows: boolean;
  /** What MongoDB does with rows that cannot be served, in collections that are created here. */
  readonly validation: Validation;
  /** How much each organisation may store; undefined on the command line, which has no limit. */
  quota: Quota | undefined;
  /** Called if another program's collection cannot get its indexes. */
  onFailure: (organisationId: string, collection: string, error: unknown) => void;
  /** Called when the validator of an earlier version allows what this one writes. */
  onWidened: (organisationId: string, collection: string) => void;
}
