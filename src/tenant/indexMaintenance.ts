import type { mongo } from 'mongoose';
import { AppError } from '../errors';
import { MINUTE, SECOND } from '../units';
import type { Collection } from '../mongo/collection';
import { isIndexRefused } from '../mongo/faults';
import { inBackground } from '../async/background';
import type { Semaphore } from '../async/semaphore';
import { differenceOf, createIndexes, rowsOf, SMALL } from '../mongo/indexes';
import { createChecked } from '../mongo/validators';
import type { TenantContext } from './tenantContext';

/*
 * Creates an organisation's collections at their first write with the indexes that enforce a rule, and adds the other indexes
 * once a collection has grown, including to collections that another program created (docs/decisions/files.md).
 */

/** How often reads have it checked whether a missing collection exists now, in milliseconds. */
const CHECK_MISSING_EVERY = MINUTE;
/** How often a small collection in use is counted, since other programs may write to it, and how often once it may have grown; in ms. */
const COUNT_EVERY = { small: 10 * MINUTE, grown: SECOND };

export type IndexMaintenance = ReturnType<typeof createIndexMaintenance>;

/** `whileWritable` runs work that may create a collection: see OrganisationData.whileWritable. */
export function createIndexMaintenance(
  organisationId: string,
  database: mongo.Db,
  context: TenantContext,
  whileWritable: (work: () => Promise<void>) => Promise<void>,
) {
  /** Collections that exist with all of their indexes. */
  const upToDate = new Set<string>();
  /** By collection: a running {@link ensure} that a write waits for. */
  const attempts = new Map<string, Promise<void>>();
  /** When a collection was last checked, by performance.now(); Infinity while a check in the background waits or runs. */
  const checkedAt = new Map<string, number>();
  /** Collections with fewer than SMALL rows, which lack the indexes for reads; with the rows last counted and those that this process has added since. */
  const small = new Map<string, number>();

  /**
   * Adds the indexes that a collection lacks at its size, and creates it if it is missing and `isWritten`. One that already has some of the indexes
   * that speed up reads may be large, so it is left to `doctor --fix`.
   */
  async function ensure(definition: Collection, isWritten: boolean): Promise<void> {
    const { name } = definition;
    const knownRows = small.get(name);
    if (knownRows !== undefined) {
      const countedRows = await rowsOf(database, definition);
      // keeps what was added while the rows were counted, since the count may miss it
      small.set(name, countedRows + (small.get(name) ?? knownRows) - knownRows);
      if (countedRows < SMALL) return;
    }
    const { exists, isPlain, isSmall, rows, missing } = await differenceOf(database, definition, context.grows);
    if (!exists && !isWritten) return;
    const make = async (): Promise<void> => {
      await whileWritable(async () => {
        if (!exists) await createChecked(database, definition, context.validation);
        await createIndexes(database, definition, missing);
      });
    };
    if (!exists || (isPlain && missing.length > 0))
      await make().catch((error: unknown) => {
        // the write was refused, for example during a move, or the database does not respond
        if (error instanceof AppError || (!exists && !isIndexRefused(error))) throw error;
        // not retried by this gateway: each attempt reads the whole collection, and doctor names what is missing
        context.onFailure(organisationId, definition.name, error);
      });
    if (isSmall) small.set(name, rows);
    else {
      small.delete(name);
      upToDate.add(name);
    }
  }

  /** Concurrent calls for one collection share one attempt. */
  function once(definition: Collection): Promise<void> {
    const { name } = definition;
    const attempt =
      attempts.get(name) ??
      ensure(definition, true).finally(() => {
        attempts.delete(name);
        checkedAt.set(name, performance.now());
      });
    attempts.set(name, attempt);
    return attempt;
  }

  /** Whether a collection has not been checked for this long. */
  const isDue = (name: string, every: number): boolean =>
    performance.now() >= (checkedAt.get(name) ?? -Infinity) + every;

  /** Whether a small collection may have grown, or has not been counted for a while. */
  const needsCount = (name: string): boolean =>
    isDue(name, (small.get(name) ?? 0) >= SMALL ? COUNT_EVERY.grown : COUNT_EVERY.small);

  /** Whether {@link noteRead} would begin a check. */
  const isLookDue = ({ name }: Collection): boolean =>
    context.checks !== undefined &&
    !upToDate.has(name) &&
    (small.has(name) ? needsCount(name) : isDue(name, CHECK_MISSING_EVERY));

  /** Checks a collection in the background, one at a time across all organisations; but the server may still build an index whose command timed out. */
  function checkLater(definition: Collection, checks: Semaphore): void {
    const { name } = definition;
    checkedAt.set(name, Infinity);
    void inBackground(() => checks(() => ensure(definition, false)))
      .catch((error: unknown) => {
        if (!(error instanceof AppError)) context.onFailure(organisationId, name, error);
      })
      .finally(() => checkedAt.set(name, performance.now()));
  }

  return {
    /** Creates missing collections before a write; in a gateway, indexes of grown ones follow in the background. @throws as `whileWritable` does */
    async prepare(definitions: readonly Collection[]): Promise<void> {
      const others = definitions.filter(({ name }) => !upToDate.has(name));
      const { checks } = context;
      // writes from the command line wait for indexes, those from a gateway do not
      const now = others.filter(({ name }) => !small.has(name) || (!checks && needsCount(name)));
      if (now.length > 0) await Promise.all(now.map(once));
      if (!checks) return;
      for (const collection of others)
        if (small.has(collection.name) && needsCount(collection.name)) checkLater(collection, checks);
    },
    /** Notes that at most this many rows were added to each collection, so that one is counted only once it may have grown. */
    wrote(definitions: readonly Collection[], rows: number): void {
      for (const { name } of definitions) {
        const knownRows = small.get(name);
        if (knownRows !== undefined) small.set(name, knownRows + rows);
      }
    },
    /**
     * Notes that a collection is read: in the background, it gets its indexes if it has grown or another program created it. Whether a missing one
     * exists now is checked once a minute.
     */
    noteRead(definition: Collection): void {
      if (context.checks && isLookDue(definition)) checkLater(definition, context.checks);
    },
    isLookDue,
  };
}
