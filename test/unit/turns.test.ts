import { EventEmitter } from 'node:events';
import type { Exchange } from '../../src/http/exchange';
import { createTurns } from '../../src/http/turns';

/** The part of an organisation's exchange that turns use. */
function exchange(): Exchange {
  const response = Object.assign(new EventEmitter(), { closed: false });
  const log = { principal: { organisation: { id: 'heavy' } } };
  return { log, response, request: { socket: { destroyed: false } }, isWaiting: false } as unknown as Exchange;
}

/** Whether a promise is settled. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  const settle = (): void => {
    done = true;
  };
  promise.then(settle, settle);
  await new Promise(setImmediate);
  return done;
}

test('a waiter that ends before its turn is rejected, and the next one gets the turn', async () => {
  const turns = createTurns(() => undefined);
  const [first, forgotten, next] = [exchange(), exchange(), exchange()];
  await turns.take(first, 'query');
  const waiting = turns.take(forgotten, 'query');
  expect(forgotten.isWaiting).toBe(true);
  turns.end(forgotten);
  await expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
  expect(forgotten.isWaiting).toBe(false);
  turns.end(first);
  await turns.take(next, 'query');
  await expect(turns.take(forgotten, 'query')).rejects.toMatchObject({ code: 'unavailable' });
});

test('a caller whose socket is closed gets no turn', async () => {
  const turns = createTurns(() => undefined);
  const gone = exchange();
  Object.assign(gone.request.socket, { destroyed: true });
  await expect(turns.take(gone, 'query')).rejects.toMatchObject({ code: 'unavailable' });
  await turns.take(exchange(), 'query');
});

test('a large query gives up the turn of its large body while it waits for a query turn', async () => {
  const turns = createTurns(() => undefined);
  await turns.take(exchange(), 'query');
  const both = [exchange(), exchange()];
  for (const one of both) {
    await turns.take(one, 'body');
    turns.take(one, 'query').catch(() => undefined);
  }
  const bulk = turns.take(exchange(), 'body');
  expect(await isDone(bulk)).toBe(true);
});

test('turns are given in order, separately for queries and bodies', async () => {
  const turns = createTurns(() => undefined);
  const [first, second, third] = [exchange(), exchange(), exchange()];
  await turns.take(first, 'query');
  const waiting = [turns.take(second, 'query'), turns.take(third, 'query')];
  await turns.take(exchange(), 'body');
  turns.end(first);
  expect(await isDone(waiting[0]!)).toBe(true);
  expect(await isDone(waiting[1]!)).toBe(false);
  turns.end(second);
  expect(await isDone(waiting[1]!)).toBe(true);
});

test('four pages with lines are built at a time, and any number of others wait', async () => {
  const turns = createTurns(() => undefined);
  const under = Array.from({ length: 4 }, exchange);
  for (const one of under) await turns.take(one, 'page');
  const waiting = Array.from({ length: 100 }, () => turns.take(exchange(), 'page'));
  expect(await isDone(Promise.race(waiting))).toBe(false);
  turns.end(under[0]!);
  expect(await isDone(waiting[0]!)).toBe(true);
  expect(await isDone(waiting[1]!)).toBe(false);
});
