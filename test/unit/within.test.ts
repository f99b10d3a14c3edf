import { NoAnswerError, within } from '../../src/within';

function hold(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

test('the time for which the event loop was held is not taken for the time of the answer', async () => {
  const answer = new Promise((resolve) => setImmediate(() => setTimeout(resolve, 20, 'here')));
  const asked = within(160, answer);
  hold(300);
  expect(await asked).toBe('here');
});

test('an answer that does not come ends the wait, and an error comes through', async () => {
  await expect(within(20, new Promise(() => undefined))).rejects.toThrow(NoAnswerError);
  await expect(within(20, Promise.reject(new Error('theirs')))).rejects.toThrow('theirs');
});
