import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Databases } from '../../tenant/databases';
import { isUnavailable } from '../../mongo/faults';
import type { OrganisationData } from '../../tenant/organisationData';
import { AppError } from '../../errors';
import { describeError } from '../../log';
import { MINUTE } from '../../units';
import { type LoggedChange, isId } from './changes';

/*
 * Has the rows corrected that other programs write without their search words or counters (docs/decisions/invalid-rows.md). It follows the
 * recording of events, which never waits for it.
 */

/** Corrects rows that lack search words or counters (resources/corrector.ts). */
export interface Corrector {
  /** By collection: the members that search words and counters follow from, and these themselves. */
  readonly watched: ReadonlyMap<string, ReadonlySet<string>>;
  /** Corrects rows by their ids; resolves with how many it wrote. */
  correct(data: OrganisationData, collection: string, ids: readonly string[]): Promise<number>;
}

interface CorrectionOptions {
  readonly corrector: Corrector;
  readonly databases: Pick<Databases, 'organisationData'>;
  readonly logger: Logger;
}

/** Rows that may wait, and of one organisation; what comes beyond is left to `doctor --rows --fix`. */
const MOST_WAITING = 10_000;
const MOST_WAITING_OF_ONE = MOST_WAITING / 2;
/** Rows looked at in one go. */
const AT_ONCE = 100;
/** How long to wait while the database does not respond, in milliseconds. */
const RETRY_AFTER = 1000;
/** How long a stop goes on with what waits, in milliseconds: a part of the time that a drain has, and the next tail does not come back to it. */
const FINISH_WITHIN = 5000;

/** Whether a change may have left its row without what follows from it, since another program made it. */
export function mayLack({ change, by }: LoggedChange, { watched }: Pick<Corrector, 'watched'>): boolean {
  const members = watched.get(change.ns.coll ?? '');
  if (!members || by !== undefined) return false;
  if (change.operationType === 'insert' || change.operationType === 'replace') return true;
  if (change.operationType !== 'update') return false;
  return (change.paths ?? []).some((path) => members.has(path.split('.', 1)[0] ?? ''));
}

/** Whether the correction may succeed later; an organisation that is being moved or erased is left. */
function isTemporary(error: unknown): boolean {
  if (!(error instanceof AppError)) return isUnavailable(error);
  const { reason = '' } = error.extras;
  return error.code === 'unavailable' && !['moving', 'erased'].includes(reason);
}

export function createCorrections({ corrector, databases, logger }: CorrectionOptions) {
  /** Ids by organisation and collection. */
  const waiting = new Map<string, Map<string, Set<string>>>();
  let count = 0;
  /** Rows that were not taken, since too many waited, and are not reported yet. */
  let dropped = 0;
  let toldAt = -Infinity;
  /** When no further rows are taken, by performance.now(). */
  let latest = Infinity;
  let running: Promise<void> | undefined;

  function add(organisation: string, collection: string, id: string): void {
    const idsByCollection = waiting.get(organisation) ?? new Map<string, Set<string>>();
    const ids = idsByCollection.get(collection) ?? new Set<string>();
    if (ids.has(id)) return;
    const waits = [...idsByCollection.values()].reduce((sum, { size }) => sum + size, 0);
    if (count >= MOST_WAITING || waits >= MOST_WAITING_OF_ONE) {
      dropped += 1;
      return;
    }
    count += 1;
    waiting.set(organisation, idsByCollection.set(collection, ids.add(id)));
  }

  /** Takes the first rows of the organisation that has waited longest, which then goes behind the others. */
  function take(): { readonly organisation: string; readonly collection: string; readonly ids: string[] } | undefined {
    const [first] = waiting;
    if (!first) return undefined;
    const [organisation, idsByCollection] = first;
    const [[collection, all] = ['', new Set<string>()]] = idsByCollection;
    const ids = [...all].slice(0, AT_ONCE);
    for (const id of ids) all.delete(id);
    count -= ids.length;
    if (all.size === 0) idsByCollection.delete(collection);
    waiting.delete(organisation);
    if (idsByCollection.size > 0) waiting.set(organisation, idsByCollection);
    return { organisation, collection, ids };
  }

  async function run(): Promise<void> {
    while (performance.now() < latest) {
      const next = take();
      if (!next) return;
      const { organisation, collection, ids } = next;
      try {
        await corrector.correct(databases.organisationData({ id: organisation }), collection, ids);
      } catch (error) {
        if (!isTemporary(error)) {
          // so is one that is full
          if (error instanceof AppError && error.code !== 'internal') continue;
          const failure = { organisation_id: organisation, collection, error: describeError(error) };
          logger.warn(failure, 'rows of another program could not be corrected; run doctor --rows --fix');
          continue;
        }
        for (const id of ids) add(organisation, collection, id);
        await sleep(RETRY_AFTER, undefined, { ref: false });
      }
    }
  }

  function start(): void {
    if (count === 0 || performance.now() >= latest) return;
    running ??= run().finally(() => {
      running = undefined;
      // what was noted since it ended
      start();
    });
  }

  function reportDropped(): void {
    if (dropped === 0) return;
    logger.warn({ rows: dropped }, 'rows of other programs were not looked at in time; run doctor --rows --fix');
    dropped = 0;
    toldAt = performance.now();
  }

  return {
    /** Notes the changes of an organisation whose events are stored. */
    note(organisation: string, changes: readonly LoggedChange[]): void {
      for (const logged of changes) {
        const id = logged.change.documentKey?._id;
        if (isId(id) && mayLack(logged, corrector)) add(organisation, logged.change.ns.coll ?? '', id);
      }
      if (performance.now() - toldAt >= MINUTE) reportDropped();
      start();
    },
    /** Finishes what waits, as far as there is time, and says what is left. Resolves when nothing more is written. */
    async stop(): Promise<void> {
      latest = Math.min(latest, performance.now() + FINISH_WITHIN);
      while (running) await running;
      dropped += count;
      count = 0;
      waiting.clear();
      reportDropped();
    },
  };
}

export type Corrections = ReturnType<typeof createCorrections>;
