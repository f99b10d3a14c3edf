import type { mongo } from 'mongoose';
import { AppError } from '../errors';
import { MINUTE, SECOND } from '../units';
import type { Collection } from './collection';
import type { Gate } from './gate';
import type { Quota } from './quota';
import { differenceOf, filesOf, createIndexes, rowsOf, SMALL } from './indexes';

/*
 * Creates an organisation's collections at their first write with the indexes that enforce a rule, and adds the other indexes
 * once a collection has grown, including to collections that another program created (docs/decisions/files.md).
 */

/** An organisation and where its data is. */
export interface Place {
  readonly id: string;
  readonly cluster: string;
}

/** Whether an organisation's database on a cluster may be written to, or why not: it is moving or has moved, is being erased, or is erased. */
export type Standing = 'open' | 'moving' | 'closed' | 'gone';

/** What the keepers of all organisations share. */
export interface Upkeep {
  /** Whether an organisation's collections may be created; the only place that decides, since a dropped database must not come back. */
  standingOf: (organisation: Place) => Promise<Standing>;
  /** Notes how many files an organisation has. */
  noteFiles: (organisation: Place, files: number) => Promise<void>;
  /** Limits background checks of collections in a gateway; undefined on the command line, where reads start none. */
  looks: Gate | undefined;
  /** How much each organisation may store; undefined for no limit, as on the command line. */
  quota: Quota | undefined;
  /** Called if another program's collection cannot get its indexes. */
  onFailure: (organisation: Place, collection: string, error: unknown) => void;
}

/** How often reads check whether a missing collection exists now, in milliseconds. */
const LOOK_EVERY = MINUTE;
/** How often a small collection in use is counted, since other programs may write to it, and how often once it may have grown; in ms. */
const COUNT_EVERY = { small: 10 * MINUTE, grown: SECOND };

export type Keeper = ReturnType<typeof keeperOf>;

interface Runners {
  /** Runs work that may create a collection. @see OrganisationData.creating */
  readonly creating: (work: () => Promise<void>) => Promise<void>;
  /** Runs a short piece of work while this process has no transaction of the organisation open. */
  readonly quietly: (work: () => Promise<void>) => Promise<void>;
}

export function keeperOf(organisation: Place, database: mongo.Db, upkeep: Upkeep, { creating, quietly }: Runners) {
  /** Collections that need nothing more. */
  const kept = new Set<string>();
  const attempts = new Map<string, Promise<void>>();
  const looked = new Map<string, number>();
  /** Small collections, with the most rows they can have if nobody else writes: those last counted, plus those written since. */
  const small = new Map<string, number>();

  /** A collection that already has some of the indexes that speed up reads may be large, so it is left to `doctor --fix`. */
  async function keep(definition: Collection, isWritten: boolean): Promise<void> {
    const { name } = definition;
    const known = small.get(name);
    if (known !== undefined) {
      const counted = await rowsOf(database, definition);
      // the count may miss rows written meanwhile
      small.set(name, counted + (small.get(name) ?? known) - known);
      if (counted < SMALL) return;
    }
    const { exists, isPlain, isSmall, rows, missing } = await differenceOf(database, definition);
    if (!exists && !isWritten) return;
    const make = async (): Promise<void> => {
      // SecantusDB leaves the rows of open transactions out of an index; MongoDB waits for them by itself
      const build = () => createIndexes(database, definition, missing);
      await creating(() => (small.has(name) ? quietly(build) : build()));
      // if this fails, the files are noted with the next collection, or by `doctor --fix`
      await filesOf(database)
        .then((files) => upkeep.noteFiles(organisation, files))
        .catch(() => undefined);
    };
    if (!exists) await make();
    else if (isPlain && missing.length > 0)
      await make().catch((error: unknown) => {
        // creating was refused, for example during a move
        if (error instanceof AppError) throw error;
        // not retried by this gateway: each attempt reads the whole collection, and doctor names what is missing
        upkeep.onFailure(organisation, definition.name, error);
      });
    if (isSmall) small.set(name, rows);
    else {
      small.delete(name);
      kept.add(name);
    }
  }

  /** Concurrent calls for one collection share one attempt. */
  function once(definition: Collection): Promise<void> {
    const { name } = definition;
    const attempt =
      attempts.get(name) ??
      keep(definition, true).finally(() => {
        attempts.delete(name);
        looked.set(name, performance.now());
      });
    attempts.set(name, attempt);
    return attempt;
  }

  /** Whether a collection has not been looked at for this long. */
  const isDue = (name: string, every: number): boolean => performance.now() >= (looked.get(name) ?? -Infinity) + every;

  /** Whether a small collection may have grown, or has not been counted for a while. */
  const needsCount = (name: string): boolean =>
    isDue(name, (small.get(name) ?? 0) >= SMALL ? COUNT_EVERY.grown : COUNT_EVERY.small);

  /** Looks at a collection in the background, one at a time across all organisations. */
  function lookLater(definition: Collection, looks: Gate): void {
    const { name } = definition;
    // no second look while this one waits or runs
    looked.set(name, Infinity);
    void looks(() => keep(definition, false))
      .catch((error: unknown) => {
        if (!(error instanceof AppError)) upkeep.onFailure(organisation, name, error);
      })
      .finally(() => looked.set(name, performance.now()));
  }

  return {
    /** Creates missing collections. @throws as `creating` does */
    async prepare(definitions: readonly Collection[]): Promise<void> {
      const others = definitions.filter(({ name }) => !kept.has(name));
      const { looks } = upkeep;
      // writes from the command line wait for indexes, those from a gateway do not
      const now = others.filter(({ name }) => !small.has(name) || (!looks && needsCount(name)));
      if (now.length > 0) await Promise.all(now.map(once));
      if (!looks) return;
      for (const one of others) if (small.has(one.name) && needsCount(one.name)) lookLater(one, looks);
    },
    /** Notes that at most this many rows were added to each collection, so that one is counted only once it may have grown. */
    wrote(definitions: readonly Collection[], rows: number): void {
      for (const { name } of definitions) {
        const known = small.get(name);
        if (known !== undefined) small.set(name, known + rows);
      }
    },
    /**
     * Notes that a collection is read: in the background, it gets its indexes if it has grown or another program created it; a missing one
     * is looked for again in a minute.
     */
    look(definition: Collection): void {
      const { name } = definition;
      if (kept.has(name) || !upkeep.looks) return;
      if (small.has(name) ? needsCount(name) : isDue(name, LOOK_EVERY)) lookLater(definition, upkeep.looks);
    },
  };
}
