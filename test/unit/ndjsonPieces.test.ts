import { Readable } from 'node:stream';
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
