import type * as Waiting from '../../src/events/waiting';

/*
 * Stands for `src/events/waiting` in tests that do several things while requests wait for events: the longest wait, 20 s, is as long as the request
 * may take.
 *   jest.mock('../../../src/events/waiting', () => jest.requireActual('../../support/longWaits'));
 */

const waiting = jest.requireActual<typeof Waiting>('../../src/events/waiting');

const LONGEST = 20_000;

module.exports = {
  ...waiting,
  createWaiting: (...options: Parameters<typeof waiting.createWaiting>) => {
    const made = waiting.createWaiting(...options);
    return {
      ...made,
      wait: (...[caller, longest, ...rest]: Parameters<typeof made.wait>) =>
        made.wait(caller, longest < LONGEST ? longest : 20 * longest, ...rest),
    };
  },
};
