import type { Caller } from './client';
import { replayAll, type Verdict, verify } from './ledger';
import type { Load } from './load';
import type { Random } from './random';
import type { Rig, Tenant } from './rig';
import { milliseconds, quantile } from './timing';

/** How much of each fault is tried. */
export interface Scale {
  readonly gatewayKills: number;
  readonly databaseKills: number;
  /** How long a process is stopped, in milliseconds. */
  readonly databaseStop: number;
  readonly redisStop: number;
  readonly limitRounds: number;
  readonly revocations: number;
  readonly restartRounds: number;
  readonly connections: number;
  readonly connectionRounds: number;
  readonly hostileQueries: number;
  /** How long writers beside a reader stay open, in milliseconds. */
  readonly holds: readonly number[];
  /** Whether the row of a write that died is made older than it is, instead of waiting for that. */
  readonly agesDeadWrites: boolean;
  /** Connections that are reset in the middle of a body. */
  readonly deadSockets: number;
  /** Bodies that lack a byte, at once. */
  readonly bodies: number;
  /** How long one organisation asks for all that there is. */
  readonly heavySeconds: number;
  /** Bounds of time are this many times as long: what a short run on any machine proves is counts. */
  readonly slack: number;
}

export interface CaseInput {
  readonly rig: Rig;
  readonly scale: Scale;
  readonly random: Random;
  /** Tells whoever waits how far it is. */
  readonly tell: (line: string) => void;
}

/** What one fault came to. Counts are of calls; a case that writes nothing leaves them out. */
export interface Outcome {
  readonly attempted?: number;
  readonly acknowledged?: number;
  readonly present?: number;
  readonly lost?: number;
  readonly duplicated?: number;
  /** Milliseconds from the end of the fault to the first success. */
  readonly recoveries?: readonly number[];
  /** What else matters, a sentence each. */
  readonly notes: readonly string[];
  /** Promises that were not kept. */
  readonly broken: readonly string[];
  /** Why it could not be tried here. */
  readonly skipped?: string;
}

/** One fault: its name on the command line, what is done, and what is promised. */
export interface Case {
  readonly name: string;
  readonly title: string;
  /** For the report: what was done, and the promise it tries. */
  readonly what: (scale: Scale) => string;
  readonly run: (input: CaseInput) => Promise<Outcome>;
}

/** Collects promises that were not kept. */
export class Promises {
  readonly broken: string[] = [];

  keep(isKept: boolean, whatElse: string): void {
    if (!isKept) this.broken.push(whatElse);
  }
}

/** Settles a load of writes against the database: what the clients were told, and whether replays tell it again. */
export async function settle(
  load: Load,
  callers: readonly Caller[],
  rig: Rig,
  tenant: Tenant,
): Promise<{ counts: Outcome; verdict: Verdict }> {
  const replayed = await replayAll(load.entries, callers, tenant.key);
  const verdict = await verify(load.entries, rig.store, tenant.organisationId);
  const promises = new Promises();
  promises.broken.push(...brokenWrites(verdict));
  promises.keep(load.unexpected.length === 0, `answers no retry can mend: ${load.unexpected.slice(0, 3).join('; ')}`);
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
    `${number(verdict.objects)} products and threads were acknowledged; ${number(verdict.acknowledgedByReplay)} calls got their first answer as a replay, the one before it having been lost; ${number(verdict.unacknowledgedPresent)} calls are present whose client was never told (at most once each); ${number(verdict.torn)} are there in part.`,
    `${number(replayed.asked)} acknowledged calls were sent again afterwards: ${number(replayed.asked - replayed.different.length)} answered byte for byte as they did first.`,
    `A client that retried had its acknowledgement ${milliseconds(longest)} after its first try at most, ${milliseconds(usual)} in the median; a transaction that died with its gateway is ended ${rig.database.orphansEnd()}, and until then retries of that write are told 409 with Retry-After.`,
    `Single answers: ${load.tally.toString()}; the slowest took ${milliseconds(load.slowest())}.`,
  ];
  return { counts: { ...countsOf(verdict), notes, broken: promises.broken }, verdict };
}

export function countsOf({ attempted, acknowledged, present, lost, duplicated }: Verdict): {
  attempted: number;
  acknowledged: number;
  present: number;
  lost: number;
  duplicated: number;
} {
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
