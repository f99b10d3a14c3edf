import { styleText } from 'node:util';

/* stdout belongs to what a command answers; everything else is said on stderr. */

type Style = Parameters<typeof styleText>[0];

/**
 * What a terminal would act on instead of showing it: control characters, and those that turn the direction of the text around.
 * Names and files are other people's, and a key list or a fault may not move the cursor or hide a line.
 */
const ACTED_ON = /[\p{Cc}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** A text on one line with such characters written out, \u001b for escape; in JSON it stays the same value. */
export function plain(text: string): string {
  return text.replaceAll(ACTED_ON, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** As {@link plain}, its line breaks kept. */
export function plainLines(text: string): string {
  return text.split('\n').map(plain).join('\n');
}

/** Makes a text plain, and colours it where the stream is a terminal and NO_COLOR is not set. */
export function paint(stream: NodeJS.WriteStream, style: Style, text: string): string {
  return styleText(style, plainLines(text), { stream, validateStream: true });
}

/** Writes a line, or several, to stdout. */
export function print(line: string): void {
  printPainted(plainLines(line));
}

/** As {@link print}, of parts that were painted or made plain one by one. */
export function printPainted(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Writes the one JSON value of --json to stdout. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value));
}

/** Says a line on stderr: progress, which database was chosen, warnings. */
export function say(line: string): void {
  sayPainted(plainLines(line));
}

/** As {@link say}, of parts that were painted or made plain one by one. */
export function sayPainted(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Says a line on stderr that is no more than a note. */
export function note(line: string): void {
  sayPainted(paint(process.stderr, 'dim', line));
}

export function warn(line: string): void {
  sayPainted(`${paint(process.stderr, 'yellow', 'warning:')} ${plainLines(line)}`);
}

export function sayError(message: string): void {
  sayPainted(`${paint(process.stderr, 'red', 'error:')} ${plainLines(message)}`);
}

/** Lines `name  value`, the names in one column. */
export function printPairs(pairs: Readonly<Record<string, string>>): void {
  const width = Math.max(...Object.keys(pairs).map((name) => name.length));
  for (const [name, value] of Object.entries(pairs)) {
    printPainted(`${paint(process.stdout, 'bold', name.padEnd(width))}  ${plain(value)}`);
  }
}

/** Rows under headings, in columns as wide as their widest cell. */
export function printTable(headings: readonly string[], cells: readonly (readonly string[])[]): void {
  const rows = cells.map((row) => row.map(plain));
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  printPainted(paint(process.stdout, 'bold', line(headings)));
  for (const row of rows) print(line(row));
}

/** A reader that went away (`| head`) ends neither the command nor in a stack trace. */
export function tolerateClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}
