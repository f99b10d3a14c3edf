import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crashPoints } from './cases/crashPoints';
import { events } from './cases/events';
import { fullDisk } from './cases/fullDisk';
import { killDatabase } from './cases/killDatabase';
import { killGateway } from './cases/killGateway';
import { operatorWrites } from './cases/operatorWrites';
import { rollingRestart } from './cases/rollingRestart';
import { bundle } from '../tools/build';
import { ROOT } from '../tools/facts';
import { cleanUp, cleanUpOnSignals, ending } from './cleanup';
import { HELP, type Options, readOptions } from './options';
import type { Case, Outcome } from './outcome';
import { seeded } from './random';
import { printResults, type Result, toMarkdown } from './report';
import { openRig, type Rig } from './rig';

const CASES: readonly Case[] = [
  killGateway,
  crashPoints,
  events,
  killDatabase,
  operatorWrites,
  rollingRestart,
  fullDisk,
];

const REPORT = join(ROOT, 'docs', 'reliability.md');

/** Prefixes the seconds since the start, so that slow steps are visible. */
const say = (line: string): void => {
  process.stderr.write(`${process.uptime().toFixed(1).padStart(6)} s  ${line}\n`);
};

async function runCase(fault: Case, rig: Rig, options: Options): Promise<Result> {
  say(`${fault.name} …`);
  const started = performance.now();
  const input = {
    rig,
    scale: options.scale,
    random: seeded(options.seed),
    tell: (line: string) => {
      say(`  ${line}`);
    },
  };
  // a case that throws counts as broken, and the others still run
  const outcome: Outcome = await fault
    .run(input)
    .catch((error: unknown) => ({ notes: [], broken: [`the case failed to complete: ${String(error)}`] }));
  const ms = performance.now() - started;
  say(`  ${outcome.broken.length === 0 ? 'done' : 'BROKEN'} after ${String(Math.round(ms / 1000))} s`);
  return { fault, outcome, ms };
}

async function runAll(options: Options): Promise<boolean> {
  const startedAt = new Date();
  const started = performance.now();
  if (process.env.SCOPEGATE_BUILT === undefined) {
    say('building …');
    await bundle('dist');
  }
  let description = '';
  const lanes = options.lanes.map(async (cases) => {
    const rig = await openRig();
    ({ description } = rig.database);
    say(description);
    const results: Result[] = [];
    for (const fault of cases) {
      results.push(await runCase(fault, rig, options));
      ending.throwIfAborted();
    }
    return results;
  });
  const results = (await Promise.all(lanes)).flat();
  printResults(results);
  if (options.isWhole) {
    const facts = {
      database: description,
      seed: options.seed,
      startedAt,
      ms: performance.now() - started,
    };
    await writeFile(REPORT, toMarkdown(results, facts, options.scale));
    say(`written: ${REPORT}`);
  }
  return results.every(({ outcome }) => outcome.broken.length === 0);
}

async function main(): Promise<number> {
  cleanUpOnSignals();
  try {
    const options = readOptions(process.argv.slice(2), CASES);
    if (options) return (await runAll(options)) ? 0 : 1;
    process.stdout.write(HELP);
    return 0;
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    return 1;
  } finally {
    await cleanUp();
  }
}

void main().then((code) => process.exit(code));
