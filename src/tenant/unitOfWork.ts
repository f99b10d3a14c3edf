import type { ClientSession } from 'mongoose';
import type { Collection } from '../mongo/collection';

export interface UnitOptions {
  /** The collections that the work writes; missing ones are created first, with their indexes (docs/decisions/files.md). */
  readonly writes: readonly Collection[];
  /** An estimate of the rows that the work adds to each collection, by which indexes are made as they grow; 1 by default. */
  readonly rows?: number;
  /** The size of the file that it stores, in bytes. */
  readonly upload?: number;
  /** Whether the work writes nothing: its transaction is committed like any other, but it has no row in open_writes and is not refused for the quota. */
  readonly dryRun?: boolean;
  /** Whether the work only deletes or shortens, so that an organisation that has reached its quota may do it. */
  readonly makesRoom?: boolean;
}

/** Runs work as one transaction. The work may run more than once, each time with its own `now`, the timestamp for its objects. */
export type UnitOfWork = <T>(
  work: (session: ClientSession, now: Date) => Promise<T>,
  options: UnitOptions,
) => Promise<T>;
