import { print, printTable } from '../../src/cli/terminal';
import { compared, type Compared } from '../compared';
import type { Figures, Latency, MeasuredScenario } from '../measure';
import type { Startup } from '../startup';
import { spreadOf } from '../statistics';
import { micros, milliseconds, ratio, thousands } from './format';

/* Table rows of a scenario's figures, for the terminal and the report. */

export const FIGURE_HEADINGS = ['', 'CPU per request', 'requests/s', 'p50', 'p99'] as const;

export function figureRow({ label, cpu, rate, latencies }: Figures): string[] {
  const median = (figure: keyof Latency): string =>
    milliseconds(latencies.length > 0 ? spreadOf(latencies.map((latency) => latency[figure])).median : undefined);
  return [label, micros(cpu?.median), thousands(rate.median), median('p50'), median('p99')];
}

export const FIGURES = { cpu: 'CPU', rate: 'rate', p50: 'p50', p99: 'p99' } as const;

export const RATIO_HEADINGS = ['', 'ratio'] as const;

export function ratioRow({ figure, subject, against, ratio: found }: Compared): string[] {
  return [`${FIGURES[figure]}: ${subject} to ${against}`, ratio(found)];
}

export function printScenario(measured: MeasuredScenario): void {
  print(`\n${measured.scenario.title}, concurrency ${String(measured.scenario.connections)}`);
  printTable(FIGURE_HEADINGS, measured.figures.map(figureRow));
  printTable(RATIO_HEADINGS, compared(measured).map(ratioRow));
}

export const STARTUP_HEADINGS = ['', 'measured'] as const;

export function startupRow({ title, value, unit }: Startup): string[] {
  return [title, `${value.median.toFixed(unit === 's' ? 2 : 0)} ${unit}`];
}

export function printStartup(startup: readonly Startup[]): void {
  if (startup.length === 0) return;
  print('');
  printTable(STARTUP_HEADINGS, startup.map(startupRow));
}
