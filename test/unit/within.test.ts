import { NoAnswerError, within } from '../../src/async/timeout';

function hold(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

test('time in which the event loop was blocked does not count as waiting', async () => {
  const answer = new Promise((resolve) => setImmediate(() => setTimeout(resolve, 20, 'here')));
  const asked = within(160, answer);
  hold(300);
  expect(await asked).toBe('here');
});

test('the wait ends when no answer comes, and an error is passed on', async () => {
  await expect(within(20, new Promise(() => undefined))).rejects.toThrow(NoAnswerError);
  await expect(within(20, Promise.reject(new Error('theirs')))).rejects.toThrow('theirs');
});
