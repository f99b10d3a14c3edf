import type { Contestant, ContestantName } from './contestants';
import { pace, type Sample, saturate } from './load';
import { type Entry, labelOf, type Scenario } from './scenarios';
import { quantile, type Spread, spreadOf } from './statistics';

export interface Figures {
  readonly label: string;
  readonly contestant: ContestantName;
  /** The server's CPU time in microseconds per request. */
  readonly cpu: Spread | undefined;
  /** Requests per second. */
  readonly rate: Spread;
  /**
   * In milliseconds, one per round: with one connection of the round itself, otherwise at half of R0's rate, or of its own if that is
   * lower, since a faster server is not measured under more load. None if the scenario measures no latencies.
   */
  readonly latencies: readonly Latency[];
  /** One per round. */
  readonly samples: readonly { readonly cpu: number | undefined; readonly rate: number }[];
}

export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

export interface MeasuredScenario {
  readonly scenario: Scenario;
  readonly figures: readonly Figures[];
}

export interface Pace {
  readonly rounds: number;
  readonly starts: number;
  readonly seconds: number;
  /** Seconds of load before the first round. */
  readonly warmUp: number;
  /** How often that is repeated at most for slow operations. */
  readonly warmUps: number;
}

/** Requests after which V8 has compiled hot paths, judging by profiles; Java compiles them later. */
const ENOUGH_TO_COMPILE = 1500;
const ENOUGH_FOR_JAVA = 10_000;

interface Rated {
  readonly entry: Entry;
  readonly taken: readonly Sample[];
  readonly rate: Spread;
}

type Servers = (name: ContestantName) => Contestant;

export interface Fleet {
  readonly servers: Servers;
  readonly restart: (names: ReadonlySet<ContestantName>) => Promise<void>;
}

/**
 * Measures each contestant once per round, right after a load that is not counted, and in a different order each time, so that other load
 * affects all alike. From one start of a server to the next its CPU time differs by a tenth, so the rounds are divided among several.
 */
export async function measure(
  scenario: Scenario,
  { servers, restart }: Fleet,
  { rounds, starts, seconds: each, warmUp, warmUps }: Pace,
): Promise<MeasuredScenario> {
  const samples = new Map<Entry, Sample[]>(scenario.entries.map((entry) => [entry, []]));
  const { connections, longer = 1, maxPerSecond } = scenario;
  const seconds = each * longer;
  const warm = async (): Promise<void> => {
    for (const { contestant, next, status = 200 } of scenario.entries) {
      // slow operations take longer to warm up
      const [most, enough] = contestant === 'restheart' ? [2 * warmUps, ENOUGH_FOR_JAVA] : [warmUps, ENOUGH_TO_COMPILE];
      for (let [taken, requests] = [0, 0]; taken < most && requests < enough; taken += 1) {
        const load = { next, connections, seconds: warmUp, seed: taken, status, maxPerSecond };
        requests += (await saturate(servers(contestant), load)).latencies.length;
      }
    }
  };
  const ofOneStart = Math.ceil(rounds / starts);
  for (let round = 0; round < rounds; round += 1) {
    if (round % ofOneStart === 0) {
      if (round > 0) await restart(new Set(scenario.entries.map(({ contestant }) => contestant)));
      await warm();
    }
    for (const entry of rotated(scenario.entries, round)) {
      const { next, status = 200 } = entry;
      const load = { next, connections, seconds, seed: round + 1, status, maxPerSecond };
      // the first load after one of another server takes up to a quarter more CPU time
      await saturate(servers(entry.contestant), load);
      samples.get(entry)?.push(await saturate(servers(entry.contestant), load));
    }
  }
  const rated = [...samples].map(([entry, taken]): Rated => ({
    entry,
    taken,
    rate: spreadOf(taken.map(({ perSecond }) => perSecond)),
  }));
  const ofNode = rated.find(({ entry }) => entry.contestant === 'node')?.rate.median ?? Infinity;
  const half = (entry: Rated): number => Math.min(entry.rate.median, ofNode) / 2;
  const paced = scenario.isPaced ? await atHalfLoad(scenario, rated, servers, { rounds, seconds, half }) : undefined;
  const figures = rated.map(({ entry, taken, rate }): Figures => {
    const ofRounds = connections === 1 ? taken.map((sample) => latencyOf(sample.latencies)) : [];
    return {
      label: labelOf(entry),
      contestant: entry.contestant,
      cpu: spreadOfKnown(taken.map(({ cpu }) => cpu)),
      rate,
      latencies: paced?.get(entry) ?? ofRounds,
      samples: taken.map(({ cpu, perSecond }) => ({ cpu, rate: perSecond })),
    };
  });
  return { scenario, figures };
}

const latencyOf = (ascending: readonly number[]): Latency => ({
  p50: quantile(ascending, 0.5),
  p99: quantile(ascending, 0.99),
});

/** Latencies per entry, in rounds as above: the load of the database and the generator varies more than the servers do. */
async function atHalfLoad(
  { connections, name }: Scenario,
  rated: readonly Rated[],
  servers: Servers,
  { rounds, seconds, half }: { rounds: number; seconds: number; half: (entry: Rated) => number },
): Promise<Map<Entry, Latency[]>> {
  const latencies = new Map<Entry, Latency[]>(rated.map(({ entry }) => [entry, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const ratedServer of rotated(rated, round)) {
      const { contestant, next, status = 200 } = ratedServer.entry;
      const load = {
        next,
        connections,
        seconds,
        seed: round + 1,
        status,
        perSecond: half(ratedServer),
        isMixed: name === 'mixed',
      };
      latencies.get(ratedServer.entry)?.push(latencyOf(await pace(servers(contestant), load)));
    }
  }
  return latencies;
}

function rotated<T>(values: readonly T[], by: number): T[] {
  const at = by % values.length;
  return [...values.slice(at), ...values.slice(0, at)];
}

function spreadOfKnown(values: readonly (number | undefined)[]): Spread | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === values.length ? spreadOf(known) : undefined;
}
