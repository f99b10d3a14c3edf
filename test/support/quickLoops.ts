import type * as Loop from '../../src/async/loop';
import type * as Lease from '../../src/mongo/lease';
import type * as Writer from '../../src/organisations/delayedWriter';

/*
 * Stands for `src/async/loop`, `src/mongo/lease` and `src/organisations/delayedWriter` in tests that would mostly wait for the next round of a
 * gateway's background work, for the next renewal of its lease, or until it writes what it has gathered: all come ten times a second.
 *   jest.mock('../../src/async/loop', () => jest.requireActual('../support/quickLoops'));
 */

const { createLoop: create } = jest.requireActual<typeof Loop>('../../src/async/loop');
const lease = jest.requireActual<typeof Lease>('../../src/mongo/lease');

const { createDelayedWriter: createWriter } = jest.requireActual<typeof Writer>(
  '../../src/organisations/delayedWriter',
);

const OFTEN = 100;

module.exports = {
  ...lease,
  createLoop: (options: Parameters<typeof create>[0]) => create({ ...options, every: OFTEN }),
  createDelayedWriter: (_after: number, write: () => Promise<void>) => createWriter(OFTEN, write),
  keepLease: (options: Parameters<typeof lease.keepLease>[0]) => lease.keepLease({ ...options, every: OFTEN }),
};
