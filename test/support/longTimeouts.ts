import type * as Timeout from '../../src/async/timeout';

/*
 * Stands for `src/async/timeout` in tests of what a gateway writes last when it stops, for which it has only seconds: a busy machine may need longer.
 *   jest.mock('../../src/async/timeout', () => jest.requireActual('../support/longTimeouts'));
 */

const timeout = jest.requireActual<typeof Timeout>('../../src/async/timeout');

module.exports = {
  ...timeout,
  within: <T>(after: number, answer: Promise<T>): Promise<T> => timeout.within(20 * after, answer),
};
