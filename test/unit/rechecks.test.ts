import { setImmediate as turn } from 'node:timers/promises';
import type { WaitingCaller } from '../../src/events/callers';
import { AppError } from '../../src/errors';
import { type Checked, createRechecks } from '../../src/events/rechecks';

/* How the keys of waiting requests and streams are re-read. */

type Answer = (address: string) => Promise<{ cluster: string }>;

/** Waiting callers, the answers for their keys, and how they ended. */
function over(answer: Answer) {
  let reads = 0;
  const failures = new Map<string, unknown>();
  const all: Checked[] = [];
  const add = (name: string, key: string, isStream: boolean, address = '203.0.113.1'): void => {
    const caller = {
      address,
      principal: { key: { id: key }, organisation: { id: 'one', cluster: 'default' } },
      recheck: () => {
        reads += 1;
        return answer(address);
      },
    } as unknown as WaitingCaller;
    all.push({ caller, isStream, fail: (error) => failures.set(name, error) });
  };
  return { all, add, failures, reads: () => reads };
}

const here: Answer = () => Promise.resolve({ cluster: 'default' });
const away: Answer = () => Promise.reject(new AppError('unavailable', 'The database is away.', { reason: 'away' }));

test('a key is read every 2 s, once for all its requests and streams, and not again while a read is in progress', async () => {
  const ends: (() => void)[] = [];
  const waits = over(
    () =>
      new Promise((resolve) => {
        ends.push(() => {
          resolve({ cluster: 'default' });
        });
      }),
  );
  waits.add('a', '1', true);
  waits.add('b', '1', true);
  waits.add('c', '2', true);
  let now = 10_000;
  const { look } = createRechecks(() => now);
  const lookAt = (time: number): void => {
    now = time;
    look(() => waits.all);
  };
  lookAt(10_000);
  lookAt(11_000);
  expect(waits.reads()).toBe(2);
  lookAt(13_000);
  expect(waits.reads()).toBe(2);
  ends[0]!();
  await turn();
  lookAt(16_000);
  // the read of the other key is still in progress
  expect(waits.reads()).toBe(3);
  expect(waits.failures.size).toBe(0);
});

test('a rejected key ends its requests and streams; a move to another cluster ends only streams', async () => {
  const refused = over(() => Promise.reject(new AppError('unauthenticated', 'The key is revoked.')));
  const moved = over(() => Promise.resolve({ cluster: 'eu' }));
  for (const waits of [refused, moved]) {
    waits.add('a', '1', true);
    waits.add('b', '1', false);
    createRechecks(() => 10_000).look(() => waits.all);
  }
  await turn();
  expect([...refused.failures.keys()]).toEqual(['a', 'b']);
  expect([...moved.failures.keys()]).toEqual(['a']);
});

test('a key withdrawn from one address ends what waits from there, and from nowhere else', async () => {
  const withdrawn = '198.51.100.1';
  const waits = over((address) =>
    address === withdrawn
      ? Promise.reject(new AppError('unauthenticated', 'The address is not allowed.'))
      : Promise.resolve({ cluster: 'default' }),
  );
  waits.add('a', '1', true);
  waits.add('b', '1', true, withdrawn);
  waits.add('c', '1', false, withdrawn);
  waits.add('d', '1', false);
  createRechecks(() => 10_000).look(() => waits.all);
  await turn();
  expect([...waits.failures.keys()]).toEqual(['b', 'c']);
  expect(waits.reads()).toBe(2);
});

test('a stream ends once its key cannot be read for 30 s; a request is left alone', async () => {
  let [answer, now] = [away, 0];
  const waits = over((address) => answer(address));
  waits.add('a', '1', true);
  waits.add('b', '1', false);
  const { look } = createRechecks(() => now);
  const lookAt = async (time: number): Promise<void> => {
    now = time;
    look(() => waits.all);
    await turn();
  };
  for (const time of [10_000, 36_000]) await lookAt(time);
  answer = here;
  await lookAt(39_000);
  answer = away;
  for (const time of [45_000, 68_000]) await lookAt(time);
  expect(waits.failures.size).toBe(0);
  await lookAt(71_000);
  expect([...waits.failures.keys()]).toEqual(['a']);
  expect(waits.failures.get('a')).toMatchObject({ code: 'unavailable' });
});
