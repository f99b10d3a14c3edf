import { nativeCollection } from '../mongo/native';
import type { ControlModels } from './models';
import { writeStateOf } from './organisationRows';

/* Control data of an organisation's event feed (docs/decisions/events.md). */

export interface Feed {
  /** Whether the organisation's database can be written, or is being moved to another shard or erased. */
  readonly writeState: 'open' | 'moving' | 'closed';
  /** The first part of the positions of its events (events/position.ts): 0; that of reusedIds.ts if its id was reused; or how often earlier versions moved it to another cluster. */
  readonly epoch: number;
  /** Since when history is lost; undefined if none is, or once an event in the feed (the gap event) says so. */
  readonly owed: Date | undefined;
  /** When its last move to another shard ended. */
  readonly movedAt: Date | undefined;
}

const MEMBERS = { state: 1, move: 1, moved_at: 1, feed: 1 } as const;

export type Feeds = ReturnType<typeof createFeeds>;

export function createFeeds({ organisations }: Pick<ControlModels, 'organisations'>) {
  return {
    /** The feeds of these organisations by id, read from the primary; those that do not exist are missing. */
    async of(ids: readonly string[]): Promise<Map<string, Feed>> {
      const storedRows = await nativeCollection(organisations)
        .find({ _id: { $in: [...ids] } }, { projection: MEMBERS })
        .toArray();
      return new Map(
        storedRows.map(({ _id, feed: { epoch = 0, owed } = {}, moved_at: movedAt, ...row }): [string, Feed] => [
          _id,
          { writeState: writeStateOf(row), epoch, owed, movedAt },
        ]),
      );
    },
    /** Records that history is lost since a time, unless an earlier time is recorded. */
    async oweGap(id: string, from: Date): Promise<void> {
      await organisations.updateOne({ _id: id }, { $min: { 'feed.owed': from } });
    },
    /** The same for every organisation. */
    async oweGapToAll(from: Date): Promise<void> {
      await organisations.updateMany({}, { $min: { 'feed.owed': from } });
    },
    /** Records that a gap event now says that history is lost since this time. */
    async settleGap(id: string, from: Date): Promise<void> {
      await organisations.updateOne({ _id: id, 'feed.owed': from }, { $unset: { 'feed.owed': 1 } });
    },
  };
}
