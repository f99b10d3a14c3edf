import { print, printTable } from '../../src/cli/terminal';
import { judge, type Verdict } from '../judge';
import type { Figures, Latency, MeasuredScenario } from '../measure';
import type { Startup } from '../startup';
import { spreadOf } from '../statistics';
import { micros, milliseconds, ratio, thousands } from './format';

/* Table rows of a scenario's figures, for the terminal and the report. */

export const FIGURE_HEADINGS = ['', 'CPU per request', 'requests/s', 'p50', 'p99'] as const;

export function figureRow({ label, cpu, rate, latencies }: Figures): string[] {
  const median = (figure: keyof Latency): string =>
    milliseconds(latencies.length > 0 ? spreadOf(latencies.map((one) => one[figure])).median : undefined);
  return [label, micros(cpu?.median), thousands(rate.median), median('p50'), median('p99')];
}

export const FIGURES = { cpu: 'CPU', rate: 'rate', p50: 'p50', p99: 'p99' } as const;

export const VERDICT_HEADINGS = ['goal', 'target', 'measured', 'result'] as const;

export function verdictRow({ goal, subject, ratio: found, isMet }: Verdict): string[] {
  const stretch = goal.stretch === undefined ? '' : ` (${String(goal.stretch)})`;
  const result = isMet === undefined ? 'not measured' : isMet ? 'met' : 'missed';
  return [
    `${FIGURES[goal.figure]}: ${subject} to ${goal.against}`,
    `${String(goal.least)}${stretch}`,
    ratio(found),
    result,
  ];
}

export function printScenario(measured: MeasuredScenario): void {
  print(`\n${measured.scenario.title}, concurrency ${String(measured.scenario.connections)}`);
  printTable(FIGURE_HEADINGS, measured.figures.map(figureRow));
  printTable(VERDICT_HEADINGS, judge(measured).map(verdictRow));
}

export const STARTUP_HEADINGS = ['', 'target', 'measured', 'result'] as const;

export function startupRow({ title, value, unit, most }: Startup): string[] {
  const shown = `${value.median.toFixed(unit === 's' ? 2 : 0)} ${unit}`;
  return [title, `under ${String(most)} ${unit}`, shown, value.median < most ? 'met' : 'missed'];
}

export function printStartup(startup: readonly Startup[]): void {
  if (startup.length === 0) return;
  print('');
  printTable(STARTUP_HEADINGS, startup.map(startupRow));
}
