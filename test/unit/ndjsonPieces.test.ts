import { Readable } from 'node:stream';
import type { Exchange } from '../../src/http/exchange';
import { type NdjsonLine, ndjsonPieces } from '../../src/http/ndjson';
import { MEBIBYTE } from '../../src/units';

const exchangeOf = (request: Readable, onHold: () => void = () => undefined): Exchange =>
  ({ request, bodies: { holdBody: onHold }, askForBody: () => undefined }) as unknown as Exchange;

async function read(...chunks: readonly string[]): Promise<{ readonly lines: NdjsonLine[]; readonly held: number }> {
  const request = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  let held = 0;
  const exchange = exchangeOf(request, () => void (held += 1));
  const lines: NdjsonLine[] = [];
  for await (const piece of ndjsonPieces(exchange)) lines.push(...piece);
  return { lines, held };
}

test('blank lines are none, wherever a chunk ends', async () => {
  const { lines } = await read('\n \r\n\t', ' {"a":', '\n', '\r\n  1', ' 2 \r', '\n\n', ' ', '\n');
  expect(lines).toEqual([{ text: '{"a":' }, { text: '1 2 \r' }]);
});

test('blank lines of a chunk take a step together', async () => {
  // no chunk is late, even on a slow machine
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
  const { lines, held } = await read('\n'.repeat(60_000), ' \r\n'.repeat(20_000), '1\n');
  clock.mockRestore();
  expect([lines, held]).toEqual([[{ text: '1' }], 3]);
});

test('a body that comes byte by byte has pieces, too, so that its reader can end', async () => {
  let now = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
  /** A byte each 50 ms, for 2 s. */
  function* drip(): Generator<Buffer> {
    for (; now < 2000; now += 50) yield Buffer.from('\n');
  }
  const pieces = ndjsonPieces(exchangeOf(Readable.from(drip())));
  expect((await pieces.next()).value).toEqual([]);
  clock.mockRestore();
  // the stream is a few chunks ahead of its reader
  expect(now).toBeLessThan(1000);
});

test('a reader that takes long gets no smaller pieces for it', async () => {
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
  const chunks = ['1\n'.repeat(1001), '1\n'].map((chunk) => Buffer.from(chunk));
  const sizes: number[] = [];
  for await (const piece of ndjsonPieces(exchangeOf(Readable.from(chunks)))) {
    sizes.push(piece.length);
    clock.mockReturnValue(600);
  }
  clock.mockRestore();
  expect(sizes).toEqual([1000, 2]);
});

test('the line that goes beyond the limit of bytes fails, and is the last; blank lines there are none', async () => {
  const most = `${'x'.repeat(MEBIBYTE - 1)}\n`.repeat(15) + 'x'.repeat(MEBIBYTE - 2);
  const faults = async (...chunks: readonly string[]): Promise<NdjsonLine[]> => (await read(...chunks)).lines.slice(16);
  expect(await faults(`${most}\n`, ' \n\n', '\n')).toEqual([]);
  expect(await faults(`${most}\n1`, '\n')).toEqual([{ text: '1' }]);
  for (const chunks of [[`${most}\n12\n3\n`], [`${most}\n1`, '2\n3\n'], [`${most}\n`, '\n\n', '\n 3\n4\n']])
    expect(await faults(...chunks)).toEqual([{ fault: 'limit' }]);
});
