import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Line, ndjsonLines } from '../../src/cli/ndjson';
import { LONGEST_LINE } from '../../src/units';

async function linesOf(bytes: string | Buffer): Promise<Line[]> {
  const path = join(await mkdtemp(join(tmpdir(), 'scopegate-lines-')), 'file');
  await writeFile(path, bytes);
  const lines: Line[] = [];
  for await (const line of ndjsonLines(path)) lines.push(line);
  return lines;
}

test('lines are numbered from 1, blank ones included, and the last one needs no newline', async () => {
  const lines = await linesOf('\ufeffa\r\n\n  \nü\nlast');
  expect(lines).toEqual([
    { number: 1, end: 6, content: { text: 'a' } },
    { number: 4, end: 13, content: { text: 'ü' } },
    { number: 5, end: 17, content: { text: 'last' } },
  ]);
});

test('a line may be longer than the read buffer, and a character may cross its boundary', async () => {
  const long = `${'x'.repeat(256 * 1024 - 1)}ü${'y'.repeat(600 * 1024)}`;
  const lines = await linesOf(`${long}\nshort`);
  expect(lines.map(({ content }) => ('text' in content ? content.text.length : content))).toEqual([long.length, 5]);
});

test('an overlong line is an error, and later lines are still read', async () => {
  const lines = await linesOf(`${'x'.repeat(LONGEST_LINE + 1)}\nnext\n`);
  expect(lines.map(({ number, content }) => [number, content])).toEqual([
    [1, { fault: 'length' }],
    [2, { text: 'next' }],
  ]);
});

test('an empty file has no lines', async () => {
  expect(await linesOf('')).toEqual([]);
});
