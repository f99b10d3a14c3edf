import { EventEmitter, once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { createSemaphore } from '../../src/async/semaphore';

/** Work that ends on demand. */
function pieces(count: number) {
  return Array.from({ length: count }, () => {
    const ends = new EventEmitter();
    const ended = once(ends, 'end');
    return { work: () => ended, end: (error?: Error) => ends.emit(error ? 'error' : 'end', error) };
  });
}

test('a semaphore limits concurrent work and runs the rest in order, whether work succeeds or fails', async () => {
  const semaphore = createSemaphore(2);
  const [begun, all]: [number[], ReturnType<typeof pieces>] = [[], pieces(5)];
  const results = all.map(({ work }, at) =>
    semaphore(() => {
      begun.push(at);
      return work();
    }),
  );
  const settled = Promise.allSettled(results);
  await setImmediate();
  expect(begun).toEqual([0, 1]);
  all[1]!.end(new Error('failed'));
  await setImmediate();
  expect(begun).toEqual([0, 1, 2]);
  all[0]!.end();
  all[2]!.end();
  await setImmediate();
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  all[3]!.end();
  all[4]!.end();
  expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', ...Array(3).fill('fulfilled')]);
  // all are done
  await expect(semaphore(() => Promise.resolve('free'))).resolves.toBe('free');
});

test('work that never ends gives up its place once, after a timeout', async () => {
  const semaphore = createSemaphore(1, 20);
  const [endless] = pieces(1);
  const late = semaphore(endless!.work);
  await expect(semaphore(() => Promise.resolve('next'))).resolves.toBe('next');
  endless!.end();
  await late;
  // if the place were given up twice, two would run
  const begun: number[] = [];
  const all = pieces(2);
  const results = all.map(({ work }, at) => semaphore(() => (begun.push(at), work())));
  await setImmediate();
  expect(begun).toEqual([0]);
  for (const { end } of all) end();
  await Promise.all(results);
});
