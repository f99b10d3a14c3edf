import type { ComponentChildren, JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { digitsOf, formatAmount } from '../../clients/typescript/src/money';
import type { Bucket } from './months';

/* The pictures of Insights: columns over time, and rankings with bars. HTML that the style sheet lays out, so that text keeps its size. */

export const amount = (minor: number | bigint, currency: string): string =>
  formatAmount(minor, currency, navigator.language);
export const number = (value: number): string => value.toLocaleString(navigator.language);

/** `one` or `many`: `1 order`, `12 orders`. */
export type Thing = readonly [one: string, many: string];
export const counted = (count: number, [one, many]: Thing): string => `${number(count)} ${count === 1 ? one : many}`;

/** A round maximum for an axis: 1, 2 or 5 times a power of ten. */
function axisTop(highest: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(highest, 1)));
  return [1, 2, 5].map((step) => step * power).find((top) => top >= highest) ?? 10 * power;
}

interface CardProps {
  readonly id: string;
  readonly title: string;
  /** What there is in all. */
  readonly sum?: ComponentChildren;
  readonly children: ComponentChildren;
}

function FigureCard({ id, title, sum, children }: CardProps): JSX.Element {
  return (
    <section class="card figure" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {sum !== undefined && <p class="sum">{sum}</p>}
      {children}
    </section>
  );
}

interface ColumnsProps {
  readonly id: string;
  readonly title: string;
  readonly of: readonly Bucket[];
  readonly currency: string;
  readonly thing: Thing;
}

/** The most columns that each have their value above them. */
const MOST_VALUES = 14;

/** A column for each month or year. One under the pointer or with the focus shows its exact values. */
export function Columns({ id, title, of: buckets, currency, thing }: ColumnsProps): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  const [shown, setShown] = useState<number>();
  const [stop, setStop] = useState<number>();
  const values = buckets.map(({ minor }) => Math.max(0, Number(minor) / 10 ** digitsOf(currency)));
  const highest = Math.max(0, ...values);
  const top = axisTop(highest);
  const brief = new Intl.NumberFormat(navigator.language, { notation: 'compact', maximumFractionDigits: 1 });
  const axis = new Intl.NumberFormat(navigator.language, {
    ...{ style: 'currency', currency, notation: 'compact', minimumFractionDigits: 0, maximumFractionDigits: 1 },
  });
  const textOf = ({ minor, count }: Bucket): string => `${amount(minor, currency)} in ${counted(count, thing)}`;
  const all = { minor: buckets.reduce((sum, { minor }) => sum + minor, 0n), count: countOf(buckets) };
  // the tab key stops at one column, from which the arrow keys lead to the others
  const stops = Math.min(stop ?? buckets.length - 1, buckets.length - 1);
  const move = (event: KeyboardEvent, index: number): void => {
    const to = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: buckets.length - 1 }[event.key];
    if (event.key === 'Escape') setShown(undefined);
    if (to === undefined) return;
    event.preventDefault();
    list.current?.querySelectorAll<HTMLElement>('[role="img"]')[to]?.focus();
  };
  // as many names as there is room for on a phone
  const every = Math.ceil(buckets.length / 12);
  const tip = shown === undefined ? undefined : buckets[shown];
  return (
    <FigureCard id={id} title={title} sum={<Sum of={amount(all.minor, currency)} count={counted(all.count, thing)} />}>
      <div class="columns" onMouseLeave={() => setShown(undefined)}>
        <div class="axis" aria-hidden="true">
          {[top, top / 2, 0].map((value) => (
            <span key={value}>{axis.format(value)}</span>
          ))}
        </div>
        <ul class={buckets.length > MOST_VALUES ? 'narrow' : undefined} aria-label={title} ref={list}>
          {buckets.map((bucket, index) => (
            <li key={bucket.name}>
              <div
                role="img"
                class={index === shown ? 'shown' : undefined}
                aria-label={`${bucket.name}: ${textOf(bucket)}`}
                tabIndex={index === stops ? 0 : -1}
                onMouseEnter={() => setShown(index)}
                onFocus={() => {
                  setStop(index);
                  setShown(index);
                }}
                onBlur={() => setShown(undefined)}
                onKeyDown={(event) => move(event, index)}
              >
                <span class="column" style={{ height: `${((values[index] ?? 0) / top) * 100}%` }}>
                  {(values[index] ?? 0) > 0 && (
                    <span class={values[index] === highest ? 'value highest' : 'value'}>
                      {brief.format(values[index] ?? 0)}
                    </span>
                  )}
                </span>
              </div>
              <span class="month" aria-hidden="true">
                {index % every === 0 && bucket.label}
                {index % every === 0 && bucket.year !== buckets[index - every]?.year && <small>{bucket.year}</small>}
              </span>
            </li>
          ))}
        </ul>
        {tip && shown !== undefined && (
          <p class="tip" aria-hidden="true" style={besides((shown + 0.5) / buckets.length)}>
            <strong>{tip.name}</strong> {amount(tip.minor, currency)} <small>{counted(tip.count, thing)}</small>
          </p>
        )}
      </div>
    </FigureCard>
  );
}

const countOf = (buckets: readonly Bucket[]): number => buckets.reduce((sum, { count }) => sum + count, 0);

/** Where a tip is, beside the column at a place from 0 to 1. */
const besides = (place: number): { left: string } | { right: string } =>
  place < 0.5 ? { left: `calc(3.5rem + ${place * 88}%)` } : { right: `${(1 - place) * 88 + 4}%` };

function Sum({ of: sum, count }: { of: string; count: string }): JSX.Element {
  return (
    <>
      <strong>{sum}</strong> in {count}
    </>
  );
}

export interface Rank {
  readonly key: string;
  readonly name: string;
  /** How much of it there is: a count or a quantity. */
  readonly count: string;
  readonly minor: number;
  /** What the length of its bar shows. */
  readonly size: number;
}

interface RankingProps {
  readonly id: string;
  readonly title: string;
  readonly columns: readonly [name: string, count: string, total: string];
  readonly of: readonly Rank[];
  readonly currency: string;
  /** Shown if there are none. */
  readonly none: string;
}

/** Names with their counts and amounts, and a bar for each. */
export function Ranking({ id, title, columns, of: ranks, currency, none }: RankingProps): JSX.Element {
  const most = Math.max(1, ...ranks.map(({ size }) => size));
  return (
    <FigureCard id={id} title={title}>
      {ranks.length === 0 ? (
        <p class="hint">{none}</p>
      ) : (
        <table class="ranking" aria-labelledby={id}>
          <thead>
            <tr>
              {columns.map((name) => (
                <th scope="col" key={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {ranks.map(({ key, name, count, minor, size }) => (
              <tr key={key}>
                <th scope="row">
                  {name}
                  <span class="length" style={{ width: `${Math.max(0, size / most) * 100}%` }} />
                </th>
                <td>{count}</td>
                <td>{amount(minor, currency)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </FigureCard>
  );
}
