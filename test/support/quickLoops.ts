import type * as Loop from '../../src/async/loop';
import type * as Lease from '../../src/mongo/lease';

/*
 * Stands for `src/async/loop` and `src/mongo/lease` in tests that would mostly wait for the next round of a gateway's background work, or for
 * the next renewal of its lease: both come ten times a second.
 *   jest.mock('../../src/async/loop', () => jest.requireActual('../support/quickLoops'));
 */

const { createLoop: create } = jest.requireActual<typeof Loop>('../../src/async/loop');
const lease = jest.requireActual<typeof Lease>('../../src/mongo/lease');

const OFTEN = 100;

module.exports = {
  ...lease,
  createLoop: (options: Parameters<typeof create>[0]) => create({ ...options, every: OFTEN }),
  keepLease: (options: Parameters<typeof lease.keepLease>[0]) => lease.keepLease({ ...options, every: OFTEN }),
};
