import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { version } from '../../src/version';
import { revision, ROOT } from '../../tools/facts';
import { CONTESTANTS } from '../contestants';
import { growthLines } from '../growth/report';
import type { GrowthSection } from '../growth/section';
import { judge } from '../judge';
import type { Cores } from '../machine';
import type { MeasuredScenario } from '../measure';
import type { Options } from '../options';
import type { Startup } from '../startup';
import { drawChart } from './chart';
import { markdownTable } from './format';
import { FIGURE_HEADINGS, figureRow, STARTUP_HEADINGS, startupRow, VERDICT_HEADINGS, verdictRow } from './table';

export interface Report {
  readonly startedAt: Date;
  readonly seconds: number;
  readonly machine: string;
  readonly cores: Cores | undefined;
  readonly database: string;
  readonly options: Options;
  readonly measured: readonly MeasuredScenario[];
  /** Scenarios that could not be carried through, and why. */
  readonly failures: readonly string[];
  readonly startup: readonly Startup[];
  readonly growth: readonly GrowthSection[];
}

const SHORT_ROUNDS =
  'Rounds as short as these meet servers that are not compiled through (the bare driver does twice the work after five seconds that it does after one): every figure is higher than in a longer run, and the spread wider.';

const BENCH = join(ROOT, 'bench');

/** Why a goal was missed, written by hand after its profile: bench/misses.json, `scenario/figure/against` → reason. */
type Reasons = Readonly<Record<string, string>>;

/** Writes the report, its figures as JSON, and the chart; gives their paths. */
export async function writeReport(report: Report): Promise<string[]> {
  const reasons = JSON.parse(await readFile(join(BENCH, 'misses.json'), 'utf8')) as Reasons;
  const figures = report.measured.map((measured) => ({
    scenario: measured.scenario.name,
    connections: measured.scenario.connections,
    figures: measured.figures,
    goals: judge(measured),
  }));
  const facts = { ...report, revision: revision(), measured: figures };
  const files: [string, string][] = [
    [join(BENCH, 'report.md'), toMarkdown(report, reasons)],
    [join(BENCH, 'report.json'), `${JSON.stringify(facts, null, 2)}\n`],
    [join(ROOT, 'docs', 'images', 'performance.svg'), drawChart(report.measured)],
  ];
  for (const [path, text] of files) await writeFile(path, text);
  return files.map(([path]) => path);
}

function toMarkdown(report: Report, reasons: Reasons): string {
  const { options, cores, measured, startup, growth } = report;
  return [
    '# What Scopegate costs beside others',
    '',
    '<!-- Written by `npm run bench`; edits are lost. -->',
    '',
    `${report.startedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC, ${String(Math.round(report.seconds))} s. Scopegate ${version} (${revision()}), ${report.database}, ${report.machine}.`,
    cores
      ? `Each server on core ${cores.server}; load and database on ${cores.others}.`
      : 'Server, load and database shared all cores.',
    `${String(options.warmUp)} s of load on each contestant, then ${String(options.rounds)} rounds of ${String(options.seconds)} s, in turn, another first each round. Figures are medians of the rounds; ratios are taken round by round, with the quarters of their spread. CPU is the server's processor time (all threads) a request, from /proc; a ratio of it is the other's time over Scopegate's, so more is better. Latencies are at half of each one's own most, sent at random moments.`,
    '',
    ...(options.seconds < 1 ? [SHORT_ROUNDS, ''] : []),
    'Load is from autocannon, over 1,000 keys unless it is said otherwise, each call for another object. Access logs are off for all; the limit is far away for all. R0 and R1 answer byte for byte what Scopegate answers, which is checked before anything is timed.',
    '',
    ...Object.entries(CONTESTANTS).flatMap(([name, title]) => (name === 'before' ? [] : [`- ${title}`])),
    '',
    ...report.failures.flatMap((failure) => [`**Not carried through.** ${failure}`, '']),
    ...measured.flatMap((one) => section(one, reasons)),
    ...startLines(startup, reasons),
    ...growthLines(growth, reasons),
  ].join('\n');
}

function startLines(startup: readonly Startup[], reasons: Reasons): string[] {
  if (startup.length === 0) return [];
  const isMissed = startup.some(({ value, most }) => value.median >= most);
  const why = isMissed ? [reasons.start ?? 'Not explained yet.', ''] : [];
  return ['## Start', '', ...markdownTable(STARTUP_HEADINGS, startup.map(startupRow)), '', ...why];
}

function section(measured: MeasuredScenario, reasons: Reasons): string[] {
  const { scenario, figures } = measured;
  const verdicts = judge(measured);
  const missed = verdicts.filter(({ isMet }) => isMet === false);
  return [
    `## ${scenario.title}`,
    '',
    `\`npm run bench -- --only ${scenario.name}\`, ${String(scenario.connections)} at once.`,
    '',
    ...markdownTable(FIGURE_HEADINGS, figures.map(figureRow)),
    '',
    ...markdownTable(VERDICT_HEADINGS, verdicts.map(verdictRow)),
    '',
    ...missed.flatMap(({ goal, subject }) => {
      const reason = reasons[[scenario.name, goal.figure, subject, goal.against].join('/')] ?? reasons[scenario.name];
      return [
        `**${goal.figure === 'cpu' ? 'CPU' : 'Rate'} to ${goal.against} missed.** ${reason ?? 'Not explained yet.'}`,
        '',
      ];
    }),
  ];
}
