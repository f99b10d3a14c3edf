import { styleText } from 'node:util';

/* stdout belongs to what a command answers; everything else is said on stderr. */

type Style = Parameters<typeof styleText>[0];

/** Colours a text where the stream is a terminal and NO_COLOR is not set. */
export function paint(stream: NodeJS.WriteStream, style: Style, text: string): string {
  return styleText(style, text, { stream, validateStream: true });
}

/** Writes one line to stdout. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Writes the one JSON value of --json to stdout. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value));
}

/** Says a line on stderr: progress, which database was chosen, warnings. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Says a line on stderr that is no more than a note. */
export function note(line: string): void {
  say(paint(process.stderr, 'dim', line));
}

export function warn(line: string): void {
  say(`${paint(process.stderr, 'yellow', 'warning:')} ${line}`);
}

export function sayError(message: string): void {
  say(`${paint(process.stderr, 'red', 'error:')} ${message}`);
}

/** Lines `name  value`, the names in one column. */
export function printPairs(pairs: Readonly<Record<string, string>>): void {
  const width = Math.max(...Object.keys(pairs).map((name) => name.length));
  for (const [name, value] of Object.entries(pairs)) {
    print(`${paint(process.stdout, 'bold', name.padEnd(width))}  ${value}`);
  }
}

/** Rows under headings, in columns as wide as their widest cell. */
export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  print(paint(process.stdout, 'bold', line(headings)));
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
