/**
 * Rows as CSV (RFC 4180). It begins with a byte order mark, without which Excel takes UTF-8 for another encoding. A cell that a
 * spreadsheet would take for a formula begins with an apostrophe, since other people choose the names in it.
 */
export function csvOf<Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, string | number | null>>[],
): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => String(row[column] ?? '')))];
  return `\ufeff${lines.map((line) => `${line.map(cellOf).join(',')}\r\n`).join('')}`;
}

/** What a spreadsheet may take for a formula: Excel takes the full-width forms of the signs too. */
const FORMULA = /^[=+\-@＝＋－＠\t\r\n]/;

/**
 * What needs quotes: beside the characters of RFC 4180, the semicolon, at which spreadsheets of many languages split, and the apostrophe, which
 * LibreOffice can be told to take for a quote; otherwise the rest of a cell might become one of its own, and a formula.
 */
const QUOTED = /[",;\r\n']/;

function cellOf(value: string): string {
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
