import type { Random } from '../../faults/random';
import { quotes } from '../../src/resources/quotes';
import { searchConditions } from '../../src/resources/common/search';
import { pick } from '../data';
import type { Rig } from '../rig';
import type { Grown } from './grow';
import type { Kind } from './quotes';

/* The same queries with the driver alone, to show how much of a slower answer is due to the database. */

/** Resolves with the duration in milliseconds. */
export type DriverCall = (random: Random) => Promise<number>;

const NEWEST_FIRST = { created_at: -1, _id: -1 } as const;

export function driverCalls(rig: Rig, { organisation, sample, marks }: Grown, page: number): Record<Kind, DriverCall> {
  const { collection } = rig.store.databases.organisationData(organisation).collection(quotes);
  const list = (filter: object): Promise<unknown> =>
    collection
      .find(filter, { projection: { search: 0, lines: 0 } })
      .sort(NEWEST_FIRST)
      .limit(page + 1)
      .toArray();
  return {
    read: timed((random) =>
      collection.findOne({ _id: pick(random, sample)._id as never }, { projection: { search: 0 } }),
    ),
    'first page': timed(() => list({})),
    'page 1,000': timed((random) => {
      const { _id, created_at } = pick(random, marks);
      return list({
        created_at: { $lte: created_at },
        $or: [{ created_at: { $lt: created_at } }, { _id: { $lt: _id } }],
      });
    }),
    search: timed((random) => list({ $and: searchConditions(pick(random, sample).number) })),
  };
}

function timed(work: (random: Random) => Promise<unknown>): DriverCall {
  return async (random) => {
    const from = performance.now();
    await work(random);
    return performance.now() - from;
  };
}
