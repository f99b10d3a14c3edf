import { readFileSync } from 'node:fs';
import { printTable } from '../src/cli/common/terminal';
import { version } from '../src/version';
import { describeMachine, revision } from '../tools/facts';
import type { Case, Outcome, Scale } from './outcome';
import { milliseconds, spread } from './timing';

export interface Result {
  readonly fault: Case;
  readonly outcome: Outcome;
  readonly ms: number;
}

export interface RunFacts {
  readonly database: string;
  readonly redis: string;
  readonly seed: number;
  readonly startedAt: Date;
  readonly ms: number;
}

const HEADINGS = ['Fault', 'Attempted', 'Acknowledged', 'Present', 'Lost', 'Duplicated', 'Recovery', 'Result'];

function rowOf({ fault, outcome }: Result): string[] {
  const count = (value: number | undefined): string => value?.toLocaleString('en') ?? '–';
  const { attempted, acknowledged, present, lost, duplicated, recoveries } = outcome;
  return [
    fault.title,
    ...[attempted, acknowledged, present, lost, duplicated].map(count),
    spread(recoveries ?? []),
    resultOf(outcome),
  ];
}

function resultOf({ broken, skipped }: Outcome): string {
  if (skipped !== undefined) return 'not tried';
  return broken.length === 0 ? 'kept' : 'BROKEN';
}

/** The table and what was broken, on stdout. */
export function printResults(results: readonly Result[]): void {
  printTable(HEADINGS, results.map(rowOf));
  for (const { fault, outcome } of results) {
    process.stdout.write(`\n${fault.name}\n`);
    for (const note of outcome.notes) process.stdout.write(`  ${note}\n`);
    if (outcome.skipped !== undefined) process.stdout.write(`  not tried: ${outcome.skipped}\n`);
    for (const one of outcome.broken) process.stdout.write(`  BROKEN: ${one}\n`);
  }
}

/** docs/reliability.md */
export function toMarkdown(results: readonly Result[], facts: RunFacts, scale: Scale): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    '# Reliability: what happens when things fail',
    '',
    '<!-- Written by `npm run faults`; edits are lost. -->',
    '',
    'Real processes (a database, Redis, two gateways) are killed, stopped and cut off while clients use them, and what the clients were told is then compared with what the database holds. Counts are of calls. Recovery is the median and the slowest; what it is measured from is said with each fault.',
    '',
    ...[HEADINGS, HEADINGS.map((_heading, column) => (column === 0 || column === 7 ? '---' : '--:'))].map(line),
    ...results.map((result) => line(rowOf(result))),
    '',
    'A call is *lost* when it was acknowledged and an object of it is missing or another than was acknowledged, *duplicated* when an object is there twice, whether it was acknowledged or not.',
    '',
    '## The run',
    '',
    ...factLines(facts).map((fact) => `- ${fact}`),
    '',
    'Run it again with `npm run faults` (up to a quarter of an hour; `MONGOD_BINARY` names the database server, `redis-server` must be on PATH, the full disk needs root). `npm run faults -- --short` takes a minute or two, `-- --only kill-gateway,shared-limit` runs some, `-- --seed 7` other random moments. It exits with 1 when a promise is broken.',
    '',
    ...results.flatMap((result) => section(result, scale)),
  ].join('\n');
}

function factLines({ database, redis, seed, startedAt, ms }: RunFacts): string[] {
  return [
    `${startedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC, ${milliseconds(ms)}, seed ${String(seed)}.`,
    `Scopegate ${version} (${revision()}), ${database}, Redis ${redis}.`,
    `${describeMachine()}. Database, Redis, gateways and clients share them${loadBeside()}: durations are upper bounds and vary from run to run; counts do not.`,
  ];
}

/** Whether others kept the machine busy when the run ended. */
function loadBeside(): string {
  try {
    const [, , quarterHour] = readFileSync('/proc/loadavg', 'utf8').split(' ');
    return `, and whatever else ran there (load average ${quarterHour ?? 'unknown'} over the last quarter of an hour)`;
  } catch {
    return '';
  }
}

function section({ fault, outcome, ms }: Result, scale: Scale): string[] {
  const { notes, broken, skipped } = outcome;
  return [
    `## ${fault.title}`,
    '',
    fault.what(scale),
    '',
    ...notes.map((note) => `- ${note}`),
    ...(skipped === undefined ? [] : [`- Not tried: ${skipped}.`]),
    ...broken.map((one) => `- **Broken**: ${one}`),
    `- \`npm run faults -- --only ${fault.name}\`, ${milliseconds(ms)}.`,
    '',
  ];
}
