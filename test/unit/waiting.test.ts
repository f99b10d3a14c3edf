import pino from 'pino';
import { OF_ORGANISATION } from '../../src/events/tail/changes';
import { createWaiting, type WaitingCaller } from '../../src/events/waiting';

/* What requests that wait for events are notified of, and what is logged if their keys cannot be checked. */

const wanted = { types: undefined, objectId: undefined };

function openWaiting(streams: () => Promise<never>, recheck: () => Promise<object> = () => Promise.resolve({})) {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const waiting = createWaiting({ streams, logger, payEvery: 60_000 });
  const caller = {
    organisationId: 'one',
    holder: { caller: 'k', organisation: 'one' },
    recheck,
    waitIdle: (wait: (gone: AbortSignal) => Promise<unknown>) => wait(new AbortController().signal),
  } as unknown as WaitingCaller;
  return { waiting, caller, lines };
}

test("only organisations' events notify, not rows of another program's collection of that name", async () => {
  const cursor = { once: jest.fn(), cursorInit: () => Promise.reject(new Error('away')) };
  const watch = jest.fn((_stages: object[]) => ({ cursor, close: () => Promise.resolve() }));
  const client = { watch } as unknown as never;
  const { waiting, caller } = openWaiting(() => Promise.resolve(client));
  await waiting.wait(caller, 60_000, wanted, () => Promise.resolve(true));
  expect(watch.mock.calls[0]![0][0]).toEqual({
    $match: { 'ns.db': OF_ORGANISATION, 'ns.coll': 'events', operationType: 'insert' },
  });
  waiting.stop();
});

test('a request outlasts checks of its key that fail, which are logged', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
  const away = () => Promise.reject(new Error('away'));
  const { waiting, caller, lines } = openWaiting(away, () => Promise.reject(new TypeError('broken')));
  const over = waiting.wait(caller, 60_000, wanted, () => Promise.resolve(false));
  await jest.advanceTimersByTimeAsync(5000);
  expect(waiting.counts().requests).toBe(1);
  expect(lines.filter((line) => /"broken".*"keys of waiting requests could not be checked/.test(line))).toHaveLength(1);
  waiting.stop();
  await over;
  jest.useRealTimers();
});
