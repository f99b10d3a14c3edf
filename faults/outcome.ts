import type { Caller } from './client';
import { replayAll, type Verdict, verify } from './ledger';
import type { Load } from './load';
import type { Random } from './random';
import type { Rig, Tenant } from './rig';
import { milliseconds, quantile } from './timing';

/** How extensively each fault is tested. */
export interface Scale {
  readonly gatewayKills: number;
  readonly databaseKills: number;
  readonly restartRounds: number;
  /** Changes that are recorded as events, at least. */
  readonly changes: number;
  /** Factor applied to time limits: on any machine, a short run is only meant to check counts. */
  readonly slack: number;
  /** Whether the transaction of a killed gateway is ended by the case, not by the limit of the database: a short run does not wait for that. */
  readonly endsTransactions: boolean;
}

export interface CaseInput {
  readonly rig: Rig;
  readonly scale: Scale;
  readonly random: Random;
  /** Reports progress. */
  readonly tell: (line: string) => void;
}

/** The result of one fault. Counts are of calls; a case without writes omits them. */
export interface Outcome {
  readonly attempted?: number;
  readonly acknowledged?: number;
  readonly present?: number;
  readonly lost?: number;
  readonly duplicated?: number;
  /** Milliseconds from the end of the fault to the first success. */
  readonly recoveries?: readonly number[];
  /** Further results, a sentence each. */
  readonly notes: readonly string[];
  /** Broken promises. */
  readonly broken: readonly string[];
  /** Why the case could not run on this machine. */
  readonly skipped?: string;
}

/** One fault: its name on the command line, what it does, and what is promised. */
export interface Case {
  readonly name: string;
  readonly title: string;
  /** For the report: what was done, and the promise it tests. */
  readonly what: (scale: Scale) => string;
  readonly run: (input: CaseInput) => Promise<Outcome>;
}

/** Collects broken promises. */
export class Promises {
  readonly broken: string[] = [];

  keep(isKept: boolean, whatElse: string): void {
    if (!isKept) this.broken.push(whatElse);
  }
}

/** Compares the clients' answers with the database, and replays with first answers. */
export async function settle(load: Load, callers: readonly Caller[], rig: Rig, tenant: Tenant): Promise<Outcome> {
  const replayed = await replayAll(load.entries, callers, tenant.key);
  const verdict = await verify(load.entries, rig.store, tenant.organisationId);
  const promises = new Promises();
  promises.broken.push(...brokenWrites(verdict));
  promises.keep(load.unexpected.length === 0, `answers not worth retrying: ${load.unexpected.slice(0, 3).join('; ')}`);
  promises.keep(
    load.late.length === 0,
    `${number(load.late.length)} answers took too long: ${load.late.slice(0, 3).join('; ')}`,
  );
  promises.keep(
    replayed.different.length === 0,
    `${String(replayed.different.length)} of ${String(replayed.asked)} replays differ: ${replayed.different.slice(0, 2).join('; ')}`,
  );
  const waits = load.entries.flatMap(({ waited }) => waited ?? []);
  const [longest, usual] = [Math.max(0, ...waits), quantile(waits, 0.5)];
  const notes = [
    `${number(verdict.objects)} products and threads were acknowledged; ${number(verdict.acknowledgedByReplay)} calls got their first answer as a replay because the original was lost; ${number(verdict.unacknowledgedPresent)} calls are stored but were never acknowledged (at most once each); ${number(verdict.torn)} are stored in part.`,
    `${number(replayed.asked)} acknowledged calls were replayed afterwards: ${number(replayed.asked - replayed.different.length)} answers were identical byte for byte.`,
    `Clients that retried were acknowledged at most ${milliseconds(longest)} after their first attempt, median ${milliseconds(usual)}. The database ends a dead gateway's transaction after its own limit; until then retries of its write get 409 with Retry-After.`,
    `Individual answers: ${load.tally.toString()}; the slowest took ${milliseconds(load.slowest())}.`,
  ];
  return { ...countsOf(verdict), notes, broken: promises.broken };
}

export function countsOf({ attempted, acknowledged, present, lost, duplicated }: Verdict) {
  return { attempted, acknowledged, present, lost, duplicated };
}

export function brokenWrites({ lost, duplicated, torn, examples }: Verdict): string[] {
  if (lost + duplicated + torn === 0) return [];
  return [
    `${String(lost)} lost, ${String(duplicated)} duplicated, ${String(torn)} in part: ${examples.slice(0, 2).join('; ')}`,
  ];
}

export function number(value: number): string {
  return value.toLocaleString('en');
}
