import type { Figures, MeasuredScenario } from './measure';
import type { Comparison } from './scenarios';
import { type Spread, spreadOf } from './statistics';

export interface Compared extends Comparison {
  /** Over the rounds; undefined if CPU time cannot be read. */
  readonly ratio: Spread | undefined;
}

/** A scenario's ratios. They are computed per round, so that both servers had the same conditions. */
export function compared({ scenario, figures }: MeasuredScenario): Compared[] {
  return scenario.comparisons.map((comparison) => ({
    ...comparison,
    ratio: ratioOf(comparison, find(figures, comparison.subject), find(figures, comparison.against)),
  }));
}

function ratioOf({ figure }: Comparison, subject: Figures, other: Figures): Spread | undefined {
  const of = ({ samples, latencies }: Figures): (number | undefined)[] =>
    figure === 'p50' || figure === 'p99'
      ? latencies.map((latency) => latency[figure])
      : samples.map((sample) => sample[figure]);
  const theirs = of(other);
  const ratios = of(subject)
    .map((mine = NaN, round) => (figure === 'rate' ? mine / (theirs[round] ?? NaN) : (theirs[round] ?? NaN) / mine))
    .filter((ratio) => Number.isFinite(ratio));
  return ratios.length > 0 ? spreadOf(ratios) : undefined;
}

function find(figures: readonly Figures[], label: string): Figures {
  const result = figures.find((candidate) => candidate.label === label);
  if (!result) throw new Error(`no measurement for ${label}`);
  return result;
}
