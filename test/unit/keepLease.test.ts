import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { keepLease } from '../../src/mongo/lease';

/* Renewals of a lease, whatever it is on; test/operation/lease.test.ts has what is stored. */

const EVERY = 10;
const NEVER = 1_000_000;

/** A lease whose renewals do what `renew` does, by their number from 1. */
function kept(renew: (time: number) => Promise<boolean> | boolean, more: { longest?: number; inOrder?: boolean } = {}) {
  let renewals = 0;
  const renewOnce = async (): Promise<boolean> => {
    renewals += 1;
    return renew(renewals);
  };
  const lease = keepLease({ renew: renewOnce, every: EVERY, ...more });
  const reaches = async (count: number): Promise<void> => {
    while (renewals < count) await sleep(1);
  };
  return { lease, reaches, renewals: () => renewals };
}

test('a lease is renewed until it is stopped, although a renewal fails', async () => {
  const { lease, reaches, renewals } = kept((time) => {
    if (time === 1) throw new Error('the database does not respond');
    return true;
  });
  await reaches(3);
  expect(lease.isLost()).toBe(false);
  await lease.stop();
  const before = renewals();
  await sleep(5 * EVERY);
  expect(renewals()).toBe(before);
});

test('a lease that is lost aborts the work, and is not renewed again', async () => {
  const { lease, renewals } = kept((time) => time < 2);
  await once(lease.lost, 'abort');
  expect(lease.isLost()).toBe(true);
  await sleep(5 * EVERY);
  expect(renewals()).toBe(2);
});

test('a lease is given up after its longest time, even while it could be renewed', async () => {
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
  const { lease, reaches, renewals } = kept(() => true, { longest: 5 * EVERY });
  await reaches(10);
  expect(lease.isLost()).toBe(false);
  const lost = once(lease.lost, 'abort');
  clock.mockReturnValue(5 * EVERY + 1);
  await lost;
  clock.mockRestore();
  const before = renewals();
  await sleep(5 * EVERY);
  expect(renewals()).toBe(before);
});

test('a renewal without an answer does not hold up the next one, unless they are in order', async () => {
  const hang = (): Promise<boolean> => new Promise(() => undefined);
  const { lease, reaches } = kept((time) => (time === 1 ? hang() : false));
  await reaches(2);
  await new Promise((resolve) => setImmediate(resolve));
  expect(lease.isLost()).toBe(true);
  const ordered = kept(hang, { inOrder: true });
  await sleep(5 * EVERY);
  expect(ordered.renewals()).toBe(1);
});

test.each([true, false])(
  'a renewal can be made before its time, and a stop waits for it (in order: %s)',
  async (inOrder) => {
    let end = (_isKept: boolean): void => undefined;
    const under = keepLease({
      renew: () => new Promise((resolve) => (end = resolve)),
      every: NEVER,
      inOrder,
    });
    let isStopped = false;
    under.renewNow();
    await sleep(1);
    const first = end;
    under.renewNow();
    first(true);
    await sleep(1);
    expect(end).not.toBe(first);
    const stopping = under.stop().then(() => (isStopped = true));
    await sleep(1);
    expect(isStopped).toBe(false);
    end(true);
    await stopping;
  },
);
