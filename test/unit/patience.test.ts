import type { Exchange } from '../../src/http/exchange';
import { createPatience } from '../../src/http/patience';

const exchange = { isReceiving: false, log: {} } as Exchange;
const never = (): Promise<void> => new Promise(() => undefined);

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** How a request ends whose work never does, by what its database is like; undefined when it goes on after 50 s. */
async function endOf(options: { answers: boolean; lostAfter?: number }): Promise<unknown> {
  const lostAt = performance.now() + (options.lostAfter ?? Infinity);
  const patience = createPatience({
    answers: () => Promise.resolve(options.answers),
    lostAt: () => (lostAt <= performance.now() ? lostAt : -Infinity),
    onShed: () => undefined,
    onChange: () => undefined,
  });
  let end: unknown;
  patience.spend(exchange, never).catch((error: unknown) => (end = error));
  await jest.advanceTimersByTimeAsync(50_000);
  patience.stop();
  return end;
}

test('a request goes on while the database answers', async () => {
  expect(await endOf({ answers: true })).toBeUndefined();
});

test('a request is unavailable, to be sent again, when the database does not answer', async () => {
  expect(await endOf({ answers: false })).toMatchObject({ code: 'unavailable', extras: { retryAfter: 2 } });
});

test('a request that was under way when its connections were lost is told, though the database answers again', async () => {
  expect(await endOf({ answers: true, lostAfter: 100 })).toMatchObject({ code: 'unavailable', status: 503 });
});

test('a request that began after the loss is not concerned', async () => {
  expect(await endOf({ answers: true, lostAfter: -100 })).toBeUndefined();
});
