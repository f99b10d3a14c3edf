import type { mongo } from 'mongoose';
import { AppError } from '../errors';
import { MINUTE, SECOND } from '../units';
import type { Collection } from './collection';
import type { Gate } from './gate';
import type { Quota } from './quota';
import { differenceOf, filesOf, makeIndexes, rowsOf, SMALL } from './making';

/*
 * Keeps an organisation's collections: makes them at the first write, with the indexes that hold a rule, and gives them the others once they
 * have grown; those that another program made too (docs/decisions/files.md).
 */

/** An organisation and where its data are. */
export interface Place {
  readonly id: string;
  readonly cluster: string;
}

/** Whether an organisation's database may be written on a cluster: it is moving or has moved, is being erased, or is erased. */
export type Standing = 'open' | 'moving' | 'closed' | 'gone';

/** What the keepers of all organisations share. */
export interface Upkeep {
  /** Whether an organisation's collections may be made. The only place that decides it: a dropped database must not come back. */
  standingOf: (organisation: Place) => Promise<Standing>;
  /** Notes how many files an organisation has. */
  noteFiles: (organisation: Place, files: number) => Promise<void>;
  /** Limits the looks of a whole gateway; undefined if reads do not look, as in the command line. */
  looks: Gate | undefined;
  /** How much each may store; undefined for as much as there is room for, as in the command line. */
  quota: Quota | undefined;
  /** Called if indexes cannot be made for a collection that another program made. */
  onFailure: (organisation: Place, collection: string, error: unknown) => void;
}

/** How often a collection that does not exist is looked for while it is read, in milliseconds. */
const LOOK_EVERY = MINUTE;
/** How often a small one is counted while it is used, since other programs write too, and once it may have grown, in milliseconds. */
const COUNT_EVERY = { small: 10 * MINUTE, grown: SECOND };

export type Keeper = ReturnType<typeof keeperOf>;

interface Making {
  /** Runs what may make a collection. @see OrganisationData.creating */
  readonly creating: (work: () => Promise<void>) => Promise<void>;
  /** Runs what lasts for milliseconds while this process has no transaction of the organisation under way. */
  readonly quietly: (work: () => Promise<void>) => Promise<void>;
}

export function keeperOf(organisation: Place, database: mongo.Db, upkeep: Upkeep, { creating, quietly }: Making) {
  /** Collections that need nothing more. */
  const kept = new Set<string>();
  const making = new Map<string, Promise<void>>();
  const looked = new Map<string, number>();
  /** Collections that may grow, with the rows that they have at most if nobody else writes: those of the last count, and written since. */
  const small = new Map<string, number>();

  /** One that exists and lacks only some of the indexes that make reads fast waits for `doctor --fix`, since it may be large. */
  async function keep(definition: Collection, isWritten: boolean): Promise<void> {
    const { name } = definition;
    const known = small.get(name);
    if (known !== undefined) {
      const counted = await rowsOf(database, definition);
      // those that are written meanwhile may not be among them
      small.set(name, counted + (small.get(name) ?? known) - known);
      if (counted < SMALL) return;
    }
    const { exists, isPlain, isSmall, rows, missing } = await differenceOf(database, definition);
    if (!exists && !isWritten) return;
    const make = async (): Promise<void> => {
      // SecantusDB leaves the rows of open transactions out of an index; MongoDB waits for them by itself
      const build = () => makeIndexes(database, definition, missing);
      await creating(() => (small.has(name) ? quietly(build) : build()));
      // what is not noted now is with the next that is made, or by `doctor --fix`
      await filesOf(database)
        .then((files) => upkeep.noteFiles(organisation, files))
        .catch(() => undefined);
    };
    if (!exists) await make();
    else if (isPlain && missing.length > 0)
      await make().catch((error: unknown) => {
        // refused, as during a move
        if (error instanceof AppError) throw error;
        // not tried again by this gateway, because each attempt reads the whole collection; doctor names what is missing
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
      making.get(name) ??
      keep(definition, true).finally(() => {
        making.delete(name);
        looked.set(name, performance.now());
      });
    making.set(name, attempt);
    return attempt;
  }

  /** Whether the last look at a collection is so long ago. */
  const isDue = (name: string, every: number): boolean => performance.now() >= (looked.get(name) ?? -Infinity) + every;

  /** Whether a small one may have grown, or was not counted for long. */
  const isToCount = (name: string): boolean =>
    isDue(name, (small.get(name) ?? 0) >= SMALL ? COUNT_EVERY.grown : COUNT_EVERY.small);

  /** Looks at a collection in the background, one of all organisations at a time. */
  function lookLater(definition: Collection, looks: Gate): void {
    const { name } = definition;
    // none while this one waits or runs
    looked.set(name, Infinity);
    void looks(() => keep(definition, false))
      .catch((error: unknown) => {
        if (!(error instanceof AppError)) upkeep.onFailure(organisation, name, error);
      })
      .finally(() => looked.set(name, performance.now()));
  }

  return {
    /** Makes the collections that do not exist. @throws what `creating` does */
    async prepare(definitions: readonly Collection[]): Promise<void> {
      const others = definitions.filter(({ name }) => !kept.has(name));
      const { looks } = upkeep;
      // a gateway's writes do not wait for indexes, those of a command do
      const now = others.filter(({ name }) => !small.has(name) || (!looks && isToCount(name)));
      if (now.length > 0) await Promise.all(now.map(once));
      if (!looks) return;
      for (const one of others) if (small.has(one.name) && isToCount(one.name)) lookLater(one, looks);
    },
    /** Notes that at most so many rows were added to each, so that they are counted when they may have grown and at no other time. */
    wrote(definitions: readonly Collection[], rows: number): void {
      for (const { name } of definitions) {
        const known = small.get(name);
        if (known !== undefined) small.set(name, known + rows);
      }
    },
    /**
     * Notes that a collection is read: in the background, one that has grown, or that another program made, gets its indexes, and one that
     * does not exist is looked for again in a minute.
     */
    look(definition: Collection): void {
      const { name } = definition;
      if (kept.has(name) || !upkeep.looks) return;
      if (small.has(name) ? isToCount(name) : isDue(name, LOOK_EVERY)) lookLater(definition, upkeep.looks);
    },
  };
}
