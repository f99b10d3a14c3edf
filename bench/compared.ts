import type { Figures, MeasuredScenario } from './measure';
import type { Comparison } from './scenarios';
import { type Spread, spreadOf } from './statistics';

export interface Compared extends Comparison {
  /** Over the rounds; undefined if CPU time cannot be read. */
  readonly ratio: Spread | undefined;
}

/** A scenario's ratios. They are computed per round, so that both servers had the same conditions. */
export function compared({ scenario, figures }: MeasuredScenario): Compared[] {
  return scenario.comparisons.map((one) => ({
    ...one,
    ratio: ratioOf(one, find(figures, one.subject), find(figures, one.against)),
  }));
}

function ratioOf({ figure }: Comparison, subject: Figures, other: Figures): Spread | undefined {
  const of = ({ samples, latencies }: Figures): (number | undefined)[] =>
    figure === 'p50' || figure === 'p99' ? latencies.map((one) => one[figure]) : samples.map((one) => one[figure]);
  const theirs = of(other);
  const ratios = of(subject)
    .map((mine = NaN, round) => (figure === 'rate' ? mine / (theirs[round] ?? NaN) : (theirs[round] ?? NaN) / mine))
    .filter((ratio) => Number.isFinite(ratio));
  return ratios.length > 0 ? spreadOf(ratios) : undefined;
}

function find(figures: readonly Figures[], label: string): Figures {
  const found = figures.find((one) => one.label === label);
  if (!found) throw new Error(`no measurement for ${label}`);
  return found;
}
