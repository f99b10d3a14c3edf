import type { Figures, MeasuredScenario } from './measure';
import { SCOPEGATE } from './scenarios';
import { type Spread, spreadOf } from './statistics';

/** The figures that an entry of the scenario is compared with; undefined if it was not measured. */
export function subjectOf({ scenario, figures }: MeasuredScenario): Figures | undefined {
  return figures.find(({ label }) => label === (scenario.subject ?? SCOPEGATE));
}

/**
 * The entry's figure divided by the subject's. Ratios are computed per round, so that both servers had the same conditions;
 * undefined if CPU time cannot be read.
 */
export function ratioOf({ scenario }: MeasuredScenario, entry: Figures, subject: Figures): Spread | undefined {
  const of = ({ samples, latencies }: Figures): (number | undefined)[] =>
    scenario.figure === 'p50' ? latencies.map(({ p50 }) => p50) : samples.map(({ cpu }) => cpu);
  const own = of(subject);
  const ratios = of(entry)
    .map((other = NaN, round) => other / (own[round] ?? NaN))
    .filter((ratio) => Number.isFinite(ratio));
  return ratios.length > 0 ? spreadOf(ratios) : undefined;
}
