import { setImmediate as turn } from 'node:timers/promises';
import type { CallContext } from '../../src/operations/context';
import { inSlices } from '../../src/operations/slices';

const context = (): CallContext =>
  ({ pauses: { yieldToOthers: () => turn(), yieldTurn: () => turn() } }) as unknown as CallContext;

/** Takes a while. */
function work(): number {
  const until = performance.now() + 6;
  while (performance.now() < until);
  return 1;
}

test('short work is done at once', () => {
  const one = context();
  const clock = jest.spyOn(performance, 'now').mockReturnValue(1);
  expect(Array.from({ length: 100 }, (_, at) => inSlices(one, () => at))).toEqual(
    Array.from({ length: 100 }, (_, at) => at),
  );
  clock.mockRestore();
});

test('long work goes on in another turn of the event loop once it has held one for long enough, in its order', async () => {
  const [one, done] = [context(), [] as number[]];
  const all = Array.from({ length: 10 }, (_, at) =>
    inSlices(one, () => {
      work();
      done.push(at);
    }),
  );
  // a turn holds one after its time is over at most
  expect(done.length).toBeLessThanOrEqual(3);
  let [most, before] = [0, done.length];
  while (done.length < all.length) {
    await turn();
    most = Math.max(most, done.length - before);
    before = done.length;
  }
  expect(most).toBeLessThanOrEqual(2);
  expect(done).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('work that fails does not keep later work from being done', async () => {
  const one = context();
  const fail = (): never => {
    work();
    throw new Error('broken');
  };
  const failed = Array.from({ length: 4 }, async () => inSlices(one, fail));
  await Promise.all(failed.map((each) => expect(each).rejects.toThrow('broken')));
  expect(await inSlices(one, () => 'done')).toBe('done');
});
