import { styleText } from 'node:util';
import { HIDDEN_CHARACTER } from '../units';

/* stdout is for a command's result; everything else goes to stderr. */

type Style = Parameters<typeof styleText>[0];

/**
 * Characters that a terminal would interpret instead of showing. Names and files come from other people, and must not move the cursor or hide
 * a line in a key list or an error.
 */
const INTERPRETED = new RegExp(HIDDEN_CHARACTER, 'gu');

/** Escapes such characters, including line breaks, e.g. as \u001b, which keeps the value of JSON the same. */
export function escapeText(text: string): string {
  return text.replaceAll(INTERPRETED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Like {@link escapeText}, but keeps line breaks. */
export function escapeLines(text: string): string {
  return text.split('\n').map(escapeText).join('\n');
}

/** Escapes a string, and colours it if the stream is a terminal and NO_COLOR is not set. */
export function paint(stream: NodeJS.WriteStream, style: Style, text: string): string {
  return styleText(style, escapeLines(text), { stream, validateStream: true });
}

/** Writes one or more lines to stdout. */
export function print(line: string): void {
  printPainted(escapeLines(line));
}

/** Like {@link print}, for text that is already escaped. */
export function printPainted(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Writes the one JSON value of --json to stdout. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value));
}

/** `1 session`, `2 sessions`. */
export function counted(count: number, noun: string): string {
  return `${String(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** The first names, at most `most`, and how many more there are. */
export function listed(names: readonly string[], most = 20): string {
  return names.slice(0, most).join(', ') + (names.length > most ? ` and ${String(names.length - most)} more` : '');
}

type Level = 'info' | 'warn' | 'error';
/** In a server whose stderr is a log, gets the lines of {@link note}, {@link warn} and {@link sayError}. */
let stderrSink: ((level: Level, line: string) => void) | undefined;

/** Sends lines for stderr to a log; undefined switches back to stderr. */
export function sendStderrTo(to: typeof stderrSink): void {
  stderrSink = to;
}

/** Writes a line to stderr that goes with a command's result, for people. Not in a server: its log does not get it, unlike those of {@link note} and {@link warn}. */
export function say(line: string): void {
  sayPainted(escapeLines(line));
}

/** Like {@link say}, for text that is already escaped. */
export function sayPainted(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Writes a dimmed line to stderr, or to the log of a server. */
export function note(line: string): void {
  writeLevel('info', line, () => paint(process.stderr, 'dim', line));
}

export function warn(line: string): void {
  writeLevel('warn', line, () => `${paint(process.stderr, 'yellow', 'warning:')} ${escapeLines(line)}`);
}

export function sayError(message: string): void {
  writeLevel('error', message, () => `${paint(process.stderr, 'red', 'error:')} ${escapeLines(message)}`);
}

function writeLevel(level: Level, line: string, painted: () => string): void {
  if (stderrSink) stderrSink(level, line);
  else sayPainted(painted());
}

/** Prints `name  value` lines with aligned values. */
export function printPairs(pairs: Readonly<Record<string, string>>): void {
  const width = Math.max(...Object.keys(pairs).map((name) => name.length));
  for (const [name, value] of Object.entries(pairs)) {
    printPainted(`${paint(process.stdout, 'bold', name.padEnd(width))}  ${escapeText(value)}`);
  }
}

/** Prints a table, each column as wide as its widest cell. `widest` has maximum widths by heading; longer cells are truncated. */
export function printTable(
  headings: readonly string[],
  cells: readonly (readonly string[])[],
  widest: Readonly<Record<string, number>> = {},
): void {
  const most = headings.map((heading) => widest[heading] ?? Infinity);
  const rows = cells.map((row) => row.map((cell, column) => cut(escapeText(cell), most[column])));
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  printPainted(paint(process.stdout, 'bold', line(headings)));
  for (const row of rows) printPainted(line(row));
}

function cut(text: string, most = Infinity): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** Prints a command's result: `value` as JSON or, for people, `shown` as a sentence or as `name  value` lines. */
export function printResult(
  json: true | undefined,
  value: unknown,
  shown: string | Readonly<Record<string, string>>,
): void {
  if (json) printJson(value);
  else if (typeof shown === 'string') print(shown);
  else printPairs(shown);
}

interface ListFormat {
  readonly json: true | undefined;
  /** Printed if the list is empty, unless as JSON. */
  readonly empty: string;
  /** Maximum number of rows to print; stderr says if there are more, so pass at least one more, newest first. */
  readonly limit?: number;
  /** Maximum widths of columns, by heading. */
  readonly widest?: Readonly<Record<string, number>>;
}

/** Prints a list as JSON or as a table. */
export function printList<Row>(
  allRows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => string>>,
  { json, empty, limit, widest }: ListFormat,
): void {
  const rows = allRows.slice(0, limit);
  if (rows.length < allRows.length) say(`Only the newest ${String(limit)} are shown; there are more: see --limit`);
  if (json) printJson(rows);
  else if (rows.length === 0) print(empty);
  else {
    printTable(
      Object.keys(columns),
      rows.map((row) => Object.values(columns).map((cellOf) => cellOf(row))),
      widest,
    );
  }
}

/** Writes to stdout; while its reader is slow, waits until it has caught up or closed the pipe. @throws the signal's reason, an AbortError, once it aborts */
export async function printSlowly(text: string, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  if (text === '' || process.stdout.write(text) || process.stdout.destroyed) return;
  // not once(…, 'drain'), which would reject with the error of a closed pipe
  await new Promise<void>((resolve, reject) => {
    const settle = (): void => {
      process.stdout.off('drain', settle).off('close', settle);
      signal?.removeEventListener('abort', settle);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve();
    };
    process.stdout.on('drain', settle).on('close', settle);
    signal?.addEventListener('abort', settle);
  });
}

/** Ignores EPIPE, so that a closed reader (`| head`) neither stops the command nor prints a stack trace. */
export function tolerateClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

/** For a loop that retries: the function writes a problem to stderr when it first occurs, and `going on` once it is called with undefined. */
export function createProblemReporter(): (problem: string | undefined) => void {
  let reported: string | undefined;
  return (problem) => {
    if (problem !== reported) note(problem ?? 'going on');
    reported = problem;
  };
}
