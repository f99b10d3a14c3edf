import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exchange } from '../../src/http/exchange';
import { type NdjsonLine, ndjsonPieces } from '../../src/http/ndjson';

async function read(...chunks: readonly string[]): Promise<{ readonly lines: NdjsonLine[]; readonly held: number }> {
  const request = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  let held = 0;
  const exchange = { request, bodies: { holdBody: () => void (held += 1) } };
  const lines: NdjsonLine[] = [];
  for await (const piece of ndjsonPieces(exchange as unknown as Exchange)) lines.push(...piece);
  return { lines, held };
}

test('blank lines are none, wherever a chunk ends', async () => {
  const { lines } = await read('\n \r\n\t', ' {"a":', '\n', '\r\n  1', ' 2 \r', '\n\n', ' ', '\n');
  expect(lines).toEqual([{ text: '{"a":' }, { text: '1 2 \r' }]);
});

test('blank lines of a chunk take a step together', async () => {
  const { lines, held } = await read('\n'.repeat(60_000), ' \r\n'.repeat(20_000), '1\n');
  expect([lines, held]).toEqual([[{ text: '1' }], 4]);
});

test('a body that comes byte by byte has pieces, too, so that its reader can end', async () => {
  const pieces = ndjsonPieces({
    request: Readable.from(drip()),
    bodies: { holdBody: () => undefined },
  } as unknown as Exchange);
  const began = performance.now();
  expect((await pieces.next()).value).toEqual([]);
  expect(performance.now() - began).toBeLessThan(1_000);
});

/** A byte each 50 ms, for 2 s. */
async function* drip(): AsyncGenerator<Buffer> {
  for (let at = 0; at < 40; at += 1) {
    await sleep(50);
    yield Buffer.from('\n');
  }
}
