import type { ComponentChildren, JSX } from 'preact';
import type { Answer } from './api';
import { answerTime, count, percent } from './numbers';
import { type Period, spanBefore } from './periods';

/* The four figures of a period, each with its course and its change against the period before. */

type Usage = Pick<Answer<'usage'>, 'requests' | 'errors' | 'rate_limited' | 'p95_ms' | 'previous' | 'buckets'>;

interface Figure {
  readonly name: string;
  /** Of the period, of the one before and of each bucket; null if there is none. */
  readonly of: (counts: Pick<Usage, 'requests' | 'errors' | 'rate_limited' | 'p95_ms'>) => number | null;
  readonly words: (value: number | null) => string;
  /** Whether a change is shown as a share of the former value. */
  readonly isRelative?: boolean;
  /** Whether more is worse. */
  readonly isFault?: boolean;
}

const FIGURES: readonly Figure[] = [
  { name: 'Requests', of: ({ requests }) => requests, words: count, isRelative: true },
  {
    name: 'Error rate',
    of: ({ requests, errors }) => (requests === 0 ? null : errors / requests),
    words: percent,
    isFault: true,
  },
  { name: '95th percentile', of: ({ p95_ms: ms }) => ms, words: answerTime, isFault: true },
  { name: 'Rate limited', of: ({ rate_limited: limited }) => limited, words: count, isFault: true },
];

interface TilesProps {
  readonly of: Usage;
  readonly period: Period;
  /** What is shown beside the error rate. */
  readonly failed: ComponentChildren;
}

export function Tiles({ of: usage, period, failed }: TilesProps): JSX.Element {
  return (
    <dl class="tiles">
      {FIGURES.map((figure) => (
        <div class="card" key={figure.name}>
          <dt>{figure.name}</dt>
          <dd class="figure">
            {figure.words(figure.of(usage))} {figure.name === 'Error rate' && <small>{failed}</small>}
          </dd>
          <dd>
            {usage.previous && (
              <Change of={figure} now={figure.of(usage)} before={figure.of(usage.previous)} period={period} />
            )}
          </dd>
          <dd aria-hidden="true">
            <Course of={usage.buckets.map(figure.of)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface ChangeProps {
  readonly of: Figure;
  readonly now: number | null;
  readonly before: number | null;
  readonly period: Period;
}

function Change({ of: { words, isRelative, isFault }, now, before, period }: ChangeProps): JSX.Element {
  const than = `${words(before)} in ${spanBefore(period)}, up to the same time`;
  // what is shown as the same text has not changed
  if (now === null || before === null || words(now) === words(before))
    return <span title={than}>{now === null || before === null ? 'nothing to compare' : 'no change'}</span>;
  const isMore = now > before;
  const share = Math.abs(now - before) / before;
  // a share of a few says little
  const text = isRelative && before >= 10 && share < 10 ? percent(share) : `from ${words(before)}`;
  return (
    <span class={isFault ? (isMore ? 'bad' : 'good') : undefined} title={than}>
      <span aria-hidden="true">{isMore ? '↑' : '↓'}</span> <span class="unseen">{isMore ? 'up' : 'down'}</span> {text}
    </span>
  );
}

const [WIDTH, HEIGHT] = [120, 28];

interface CourseProps {
  readonly of: readonly (number | null)[];
  /** Part of these, drawn as faults. */
  readonly faults?: readonly number[];
}

/** A spark line. */
export function Course({ of: values, faults }: CourseProps): JSX.Element {
  const top = Math.max(...values.map((value) => value ?? 0)) || 1;
  const step = WIDTH / Math.max(values.length - 1, 1);
  const pointsOf = (numbers: readonly (number | null)[]): string =>
    numbers
      .flatMap((value, at) => (value === null ? [] : [`${at * step},${HEIGHT - 1 - (value / top) * (HEIGHT - 2)}`]))
      .join(' ');
  return (
    <svg class="course" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <polyline class="fine" points={pointsOf(values)} />
      {faults?.some((count) => count > 0) && <polyline class="faults" points={pointsOf(faults)} />}
    </svg>
  );
}
