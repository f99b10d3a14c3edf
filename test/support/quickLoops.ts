import type * as Loop from '../../src/async/loop';
import type * as Availability from '../../src/mongo/availability';
import type * as Lease from '../../src/mongo/lease';
import type * as Writer from '../../src/organisations/delayedWriter';

/*
 * Stands for `src/async/loop`, `src/mongo/lease`, `src/mongo/availability` and `src/organisations/delayedWriter` in tests that would mostly wait
 * for the next round of a gateway's background work, the next renewal of its lease, the next write with which it tries its database, or
 * until it writes what it has gathered: each comes ten times a second.
 *   jest.mock('../../src/async/loop', () => jest.requireActual('../support/quickLoops'));
 */

const { createLoop: create } = jest.requireActual<typeof Loop>('../../src/async/loop');
const lease = jest.requireActual<typeof Lease>('../../src/mongo/lease');
const { createAvailability } = jest.requireActual<typeof Availability>('../../src/mongo/availability');

const { createDelayedWriter: createWriter } = jest.requireActual<typeof Writer>(
  '../../src/organisations/delayedWriter',
);

const OFTEN = 100;

module.exports = {
  ...lease,
  createAvailability: (options: Parameters<typeof createAvailability>[0]) =>
    createAvailability({ ...options, writeEvery: OFTEN }),
  createLoop: (options: Parameters<typeof create>[0]) => create({ ...options, every: OFTEN }),
  createDelayedWriter: (_after: number, write: () => Promise<void>) => createWriter(OFTEN, write),
  keepLease: (options: Parameters<typeof lease.keepLease>[0]) => lease.keepLease({ ...options, every: OFTEN }),
};
