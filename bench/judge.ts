import type { Figures, MeasuredScenario } from './measure';
import type { Goal } from './scenarios';
import { type Spread, spreadOf } from './statistics';

export interface Verdict {
  readonly goal: Goal;
  readonly subject: string;
  /** Over the rounds; undefined if CPU time cannot be read. */
  readonly ratio: Spread | undefined;
  readonly isMet: boolean | undefined;
}

/** Checks a scenario's goals. Ratios are computed per round, so that both servers had the same conditions. */
export function judge({ scenario, figures }: MeasuredScenario): Verdict[] {
  return scenario.goals.map((goal) => {
    const subject = goal.subject ?? 'Scopegate';
    const ratio = ratioOf(goal, find(figures, subject), find(figures, goal.against));
    return { goal, subject, ratio, isMet: ratio && ratio.median >= goal.least };
  });
}

function ratioOf({ figure }: Goal, subject: Figures, other: Figures): Spread | undefined {
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
