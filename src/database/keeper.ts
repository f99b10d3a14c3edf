import type { mongo } from 'mongoose';
import { AppError } from '../errors';
import { MINUTE } from '../units';
import type { Collection } from './collection';
import type { Gate } from './gate';
import type { Quota } from './quota';
import { differenceOf, makeIndexes } from './making';

/*
 * Keeps an organisation's collections: makes them with their indexes at the first write, and gives indexes to those that
 * another program made without (docs/decisions/files.md).
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
  /** Limits the looks of a whole gateway; undefined if reads do not look, as in the command line. */
  looks: Gate | undefined;
  /** How much each may store; undefined for as much as there is room for, as in the command line. */
  quota: Quota | undefined;
  /** Called if indexes cannot be made for a collection that another program made. */
  onFailure: (organisation: Place, collection: string, error: unknown) => void;
}

/** How often a collection that does not exist is looked for while it is read, in milliseconds. */
const LOOK_EVERY = MINUTE;

export type Keeper = ReturnType<typeof keeperOf>;

/** `creating` runs what may make a collection. @see OrganisationData.creating */
export function keeperOf(
  organisation: Place,
  database: mongo.Db,
  upkeep: Upkeep,
  creating: (work: () => Promise<void>) => Promise<void>,
) {
  /** Collections that need nothing more. */
  const kept = new Set<string>();
  const making = new Map<string, Promise<void>>();
  const looked = new Map<string, number>();

  /** One that exists and lacks only some indexes waits for `doctor --fix`, since it may be large. */
  async function keep(definition: Collection, isWritten: boolean): Promise<void> {
    const { exists, isBare, missing } = await differenceOf(database, definition);
    if (!exists && !isWritten) return;
    const make = (): Promise<void> => creating(() => makeIndexes(database, definition, missing));
    if (!exists) await make();
    else if (isBare && missing.length > 0)
      await make().catch((error: unknown) => {
        // refused, as during a move
        if (error instanceof AppError) throw error;
        // not tried again by this gateway, because each attempt reads the whole collection; doctor names what is missing
        upkeep.onFailure(organisation, definition.name, error);
      });
    kept.add(definition.name);
  }

  /** Concurrent calls for one collection share one attempt. */
  function once(definition: Collection): Promise<void> {
    const { name } = definition;
    const attempt = making.get(name) ?? keep(definition, true).finally(() => making.delete(name));
    making.set(name, attempt);
    return attempt;
  }

  return {
    /** Makes the collections that do not exist. @throws what `creating` does */
    async prepare(definitions: readonly Collection[]): Promise<void> {
      const others = definitions.filter(({ name }) => !kept.has(name));
      if (others.length > 0) await Promise.all(others.map(once));
    },
    /**
     * Notes that a collection is read: in the background, one that another program made without indexes gets them, and one
     * that does not exist is looked for again in a minute.
     */
    look(definition: Collection): void {
      const { name } = definition;
      if (kept.has(name) || !upkeep.looks || performance.now() < (looked.get(name) ?? -Infinity)) return;
      // none while this one waits or runs
      looked.set(name, Infinity);
      void upkeep
        .looks(() => keep(definition, false))
        .catch((error: unknown) => {
          if (!(error instanceof AppError)) upkeep.onFailure(organisation, name, error);
        })
        .finally(() => looked.set(name, performance.now() + LOOK_EVERY));
    },
  };
}
