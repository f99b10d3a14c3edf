import { nativeCollection } from '../database/native';
import type { ControlModels } from './models';
import { standingOf } from './organisationRows';

/* What the control database has of an organisation's events (docs/decisions/events.md). */

export interface Feed {
  readonly cluster: string;
  /** Whether its database can be written: it is moving to another cluster, or being erased. */
  readonly standing: 'open' | 'moving' | 'closed';
  /** Raised by a move to another cluster. */
  readonly epoch: number;
  /** Up to this time of its cluster, as 16 hexadecimal digits, changes are the copy of a move. */
  readonly since: string;
  /** From when on history was lost, if its events do not say so yet. */
  readonly owed: Date | undefined;
}

const MEMBERS = { cluster: 1, state: 1, move: 1, feed: 1 } as const;

export type Feeds = ReturnType<typeof feeds>;

export function feeds({ organisations }: Pick<ControlModels, 'organisations'>) {
  return {
    /** From the primary; those that do not exist are missing. */
    async of(ids: readonly string[]): Promise<Map<string, Feed>> {
      const options = { projection: MEMBERS, readPreference: 'primary' } as const;
      const found = await nativeCollection(organisations)
        .find({ _id: { $in: [...ids] } }, options)
        .toArray();
      return new Map(
        found.map(({ _id, cluster, feed: { epoch = 0, since = '', owed } = {}, ...row }): [string, Feed] => [
          _id,
          { cluster, standing: standingOf(row), epoch, since, owed },
        ]),
      );
    },
    /** Notes that history was lost from a time on; an earlier one stays. */
    async oweGap(id: string, from: Date): Promise<void> {
      await organisations.updateOne({ _id: id }, { $min: { 'feed.owed': from } });
    },
    /** Notes that the loss has been told. */
    async settleGap(id: string, from: Date): Promise<void> {
      await organisations.updateOne({ _id: id, 'feed.owed': from }, { $unset: { 'feed.owed': 1 } });
    },
  };
}
