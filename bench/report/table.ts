import { print, printTable } from '../../src/cli/terminal';
import { ratioOf, subjectOf } from '../compared';
import { type ContestantName, type PeerName, PEERS } from '../contestants';
import type { Figures, Latency, MeasuredScenario } from '../measure';
import { SCOPEGATE } from '../scenarios';
import type { Startup } from '../startup';
import { spreadOf } from '../statistics';
import { micros, milliseconds, ratio, thousands } from './format';

/* What is printed, and the rows of the report's table and picture. */

export const FIGURE_HEADINGS = ['', 'CPU per request', 'requests/s', 'p50', 'p99', 'ratio'] as const;

export function figureRows(measured: MeasuredScenario): string[][] {
  const subject = subjectOf(measured);
  return measured.figures.map((figures) => {
    const { label, cpu, rate } = figures;
    const found = subject && subject !== figures ? ratio(ratioOf(measured, figures, subject)) : '';
    return [
      label,
      micros(cpu?.median),
      thousands(rate.median),
      latency(figures, 'p50'),
      latency(figures, 'p99'),
      found,
    ];
  });
}

function latency({ latencies }: Figures, figure: keyof Latency): string {
  return milliseconds(latencies.length > 0 ? spreadOf(latencies.map((round) => round[figure])).median : undefined);
}

export function printScenario(measured: MeasuredScenario): void {
  print(`\n${measured.scenario.title}, concurrency ${String(measured.scenario.connections)}`);
  printTable(FIGURE_HEADINGS, figureRows(measured));
}

/** What Scopegate was asked, its own figure, and those of the peers measured, divided by it. */
export interface Row {
  readonly title: string;
  readonly own: string;
  readonly ratios: ReadonlyMap<PeerName, number>;
}

/** The rows of a scenario: one for Scopegate, and one for each other way in which it runs. */
export function rowsOf(measured: MeasuredScenario): Row[] {
  const { scenario, figures } = measured;
  return figures
    .filter(({ contestant }) => !isPeer(contestant))
    .map((own) => ({
      title: own.label === SCOPEGATE ? scenario.title : `The same, ${own.label}`,
      own: scenario.figure === 'p50' ? latency(own, 'p50') : micros(own.cpu?.median),
      ratios: new Map(figures.flatMap((other) => ratioTo(measured, other, own))),
    }));
}

function ratioTo(measured: MeasuredScenario, other: Figures, own: Figures): [PeerName, number][] {
  const { contestant } = other;
  const found = isPeer(contestant) ? ratioOf(measured, other, own) : undefined;
  return found && isPeer(contestant) ? [[contestant, found.median]] : [];
}

function isPeer(name: ContestantName): name is PeerName {
  return name in PEERS;
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
