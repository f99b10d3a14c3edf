import { Readable } from 'node:stream';
import type { Exchange } from '../../src/http/exchange';
import { readJson } from '../../src/http/body';

test.each([
  ['small', 1000, 0],
  ['larger', 5000, 1],
])('a %s body is read in a turn of the event loop of its own, or at once', async (_size, length, expected) => {
  const text = JSON.stringify('a'.repeat(length));
  const request = Object.assign(Readable.from([Buffer.from(text)], { objectMode: false }), { headers: {} });
  const loopTurn = jest.fn(() => Promise.resolve());
  const holdBody = jest.fn();
  const exchange = { request, bodies: { holdBody }, queue: { loopTurn }, askForBody: () => undefined };
  await expect(readJson(exchange as unknown as Exchange, 10_000)).resolves.toBe('a'.repeat(length));
  expect(loopTurn).toHaveBeenCalledTimes(expected);
});
