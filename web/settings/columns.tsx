import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { digitsOf } from '../../clients/typescript/src/money';
import { axisTop } from './axis';
import { amount, FigureCard, number } from './figures';
import { type Bucket, labelsOf } from './months';
import { useTabStop } from './tabStop';

/* Columns over time, in HTML that the style sheet lays out, so that text keeps its size. */

/** What is counted: `1 order`, `12 orders`. */
export type Things = readonly [one: string, many: string];
const counted = (count: number, [one, many]: Things): string => `${number(count)} ${count === 1 ? one : many}`;

/** Multiples of a power of ten that an axis may end at, so that its middle is round too. */
const TOPS = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8];

interface ColumnsProps {
  readonly id: string;
  readonly of: readonly Bucket[];
  readonly currency: string;
  readonly things: Things;
}

/** The most columns that each have their name below and their value above; the style sheet leaves out some where there is no room. */
const MOST_NAMED = 14;
/** How many of more columns have a name. */
const LABELS = 6;

/** A column for each month or year. One under the pointer or with the focus shows its exact values. */
export function Columns({ id, of: buckets, currency, things }: ColumnsProps): JSX.Element {
  const [shown, setShown] = useState<number>();
  const { list, attributesOf } = useTabStop<HTMLUListElement>(buckets.length, Infinity, setShown);
  const [, many] = things;
  const by = buckets.some(({ year }) => year !== undefined) ? 'month' : 'year';
  const title = `${many.charAt(0).toUpperCase()}${many.slice(1)} by ${by}`;
  const count = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
  if (count === 0)
    return (
      <FigureCard id={id} title={title}>
        <p class="hint">No {many} in this period.</p>
      </FigureCard>
    );
  const total = amount(
    buckets.reduce((sum, { minor }) => sum + minor, 0n),
    currency,
  );
  const values = buckets.map(({ minor }) => Math.max(0, Number(minor) / 10 ** digitsOf(currency)));
  const highest = Math.max(...values);
  const isNarrow = buckets.length > MOST_NAMED;
  const top = axisTop(highest, TOPS);
  const brief = new Intl.NumberFormat(navigator.language, { notation: 'compact', maximumFractionDigits: 1 });
  const labels = labelsOf(buckets, isNarrow ? LABELS : MOST_NAMED);
  return (
    <FigureCard id={id} title={title} sum={<Sum of={total} count={counted(count, things)} />}>
      <div class="columns" onMouseLeave={() => setShown(undefined)}>
        <Axis top={top} currency={currency} />
        <ul class={isNarrow ? 'narrow' : undefined} aria-label={title} ref={list}>
          {buckets.map((bucket, index) => {
            const { name, minor } = bucket;
            const { [index]: value = 0 } = values;
            return (
              <li key={name}>
                <div
                  role="img"
                  class={index === shown ? 'shown' : undefined}
                  aria-label={`${name}: ${amount(minor, currency)} in ${counted(bucket.count, things)}`}
                  onMouseEnter={() => setShown(index)}
                  {...attributesOf(index)}
                >
                  <span class="column" style={{ height: `${(value / top) * 100}%` }}>
                    {value > 0 && (
                      <span class={value === highest ? 'value highest' : 'value'}>{brief.format(value)}</span>
                    )}
                  </span>
                </div>
                <span class="month" aria-hidden="true">
                  {labels[index]?.map((text) => (
                    <span key={text}>{text}</span>
                  ))}
                </span>
              </li>
            );
          })}
        </ul>
        {shown !== undefined && <Tip of={buckets} at={shown} currency={currency} things={things} />}
      </div>
    </FigureCard>
  );
}

function Sum({ of: sum, count }: { of: string; count: string }): JSX.Element {
  return (
    <>
      <strong>{sum}</strong> in {count}
    </>
  );
}

function Axis({ top, currency }: { top: number; currency: string }): JSX.Element {
  const format = new Intl.NumberFormat(navigator.language, {
    style: 'currency',
    currency,
    notation: 'compact',
    minimumFractionDigits: 0,
    maximumFractionDigits: 1,
  });
  return (
    <div class="axis" aria-hidden="true">
      {[top, top / 2, 0].map((value) => (
        <span key={value}>{format.format(value)}</span>
      ))}
    </div>
  );
}

/** The exact values of a column, beside it. Its label says the same. */
function Tip({ of: buckets, at, currency, things }: Omit<ColumnsProps, 'id'> & { at: number }): JSX.Element | null {
  const { [at]: bucket } = buckets;
  if (!bucket) return null;
  const place = (at + 0.5) / buckets.length;
  const side = place < 0.5 ? { left: `calc(3.5rem + ${place * 88}%)` } : { right: `${(1 - place) * 88 + 4}%` };
  return (
    <p class="tip" aria-hidden="true" style={side}>
      <strong>{bucket.name}</strong> {amount(bucket.minor, currency)} <small>{counted(bucket.count, things)}</small>
    </p>
  );
}
