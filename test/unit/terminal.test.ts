import { escapeText, print, printJson, printPairs, printTable, say, sayError } from '../../src/cli/terminal';

/** Characters that a terminal interprets: movement, colours, titles (C0, C1, DEL), and text direction. */
const HOSTILE = 'a\u001b[2Jb\u009b31mc\rd\u0007e\u007ff\u202eg\u2028h\u061ci\u0000j';
const RAW = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2028\u061c]/;

let written: string;
beforeEach(() => {
  written = '';
  for (const stream of [process.stdout, process.stderr])
    jest.spyOn(stream, 'write').mockImplementation((text) => {
      written += String(text);
      return true;
    });
});
afterEach(() => {
  jest.restoreAllMocks();
});

test.each<[string, (text: string) => void]>([
  ['a line', print],
  ['a line on stderr', say],
  ['an error', sayError],
  [
    'a name and its value',
    (name) => {
      printPairs({ name });
    },
  ],
  [
    'a cell of a table',
    (cell) => {
      printTable(['NAME'], [[cell]]);
    },
  ],
])('%s escapes characters that a terminal would interpret', (_title, write) => {
  write(HOSTILE);
  expect(written).not.toMatch(RAW);
  expect(written).toContain('a\\u001b[2Jb\\u009b31mc\\u000dd\\u0007e\\u007ff\\u202eg\\u2028h\\u061ci\\u0000j');
});

test('a table cell stays on one line, while an error may have several', () => {
  printTable(['NAME'], [['one\ntwo']]);
  expect(written).toBe('NAME\none\\u000atwo\n');
  written = '';
  sayError('invalid environment:\n  PORT: must be');
  expect(written).toBe('error: invalid environment:\n  PORT: must be\n');
});

test('a JSON value is preserved', () => {
  printJson({ name: HOSTILE });
  expect(written).not.toMatch(RAW);
  expect(JSON.parse(written)).toEqual({ name: HOSTILE });
});

test('other texts are unchanged', () => {
  expect(escapeText('Ärger & Söhne, 東京, 👩‍🌾, …')).toBe('Ärger & Söhne, 東京, 👩‍🌾, …');
});
