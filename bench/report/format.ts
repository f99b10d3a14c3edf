import type { Spread } from '../statistics';

/* Formatting of figures. */

export function micros(value: number | undefined): string {
  return value === undefined ? '–' : `${thousands(value)} µs`;
}

export function thousands(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}

export function milliseconds(value: number | undefined): string {
  return value === undefined ? '–' : `${value.toFixed(value < 10 ? 2 : 1)} ms`;
}

/** The median and the interquartile range. */
export function ratio(spread: Spread | undefined): string {
  if (!spread) return '–';
  return `${spread.median.toFixed(2)} (${spread.low.toFixed(2)} to ${spread.high.toFixed(2)})`;
}

export function markdownTable(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = headings.map((_heading, column) => (column === 0 ? '---' : '--:'));
  return [line(headings), line(rule), ...rows.map(line)];
}
