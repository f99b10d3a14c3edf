import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { axisTop } from './axis';
import { answerTime, count } from './numbers';
import { type Period, type Span, spanAt } from './periods';
import { useTabStop } from './tabStop';
import { length } from './time';

/* What is counted in a period as stacked bars, and times as lines: SVG, coloured by the style sheet. */

const [LEFT, RIGHT, TOP, BOTTOM] = [52, 8, 10, 26];
const HEIGHTS = { bars: 200, lines: 120 };
/** The least length of a part of a bar, and the greatest width of a bar, in pixels. */
const [LEAST, WIDEST] = [3, 48];
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Lengths of a bar's parts: each is visible, at the expense of the longest, so that the bar keeps its length. */
function lengthsOf(counts: readonly number[], scale: (count: number) => number): readonly number[] {
  const lengths = counts.map((count) => (count === 0 ? 0 : Math.max(scale(count), LEAST)));
  const longest = Math.max(...lengths);
  const shortened = Math.max(longest - sum(lengths) + scale(sum(counts)), longest === 0 ? 0 : LEAST);
  return lengths.with(lengths.indexOf(longest), shortened);
}

/** The width of an element, so that a chart fills it and its text keeps its size; 0 until it is known. */
function useWidth() {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const { current: element } = place;
    if (!element) return undefined;
    const measure = (): void => setWidth(element.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { place, width };
}

/** A part of a bar, or a line. */
export interface Series<Bucket> {
  /** Its colour, by a class of the style sheet. */
  readonly kind: string;
  readonly name: string;
  readonly of: (bucket: Bucket) => number | null;
}

interface ChartProps<Bucket> {
  readonly of: readonly Bucket[];
  readonly period: Period;
  /** The chart's text alternative. */
  readonly description: string;
  /** The parts of each bar, from the bottom up. */
  readonly bars: readonly Series<Bucket>[];
  /** Times in milliseconds, below the bars. */
  readonly lines?: readonly Series<Bucket>[];
  /** The address of what a bucket counts. */
  readonly open?: (span: Span) => string | undefined;
}

/** Bars and, below them, lines. A bucket under the pointer or with the focus shows its numbers, and opens what it counts. */
export function Chart<Bucket extends { readonly start: string }>(props: ChartProps<Bucket>): JSX.Element {
  const { of: buckets, period, description, bars, lines = [], open } = props;
  const { place, width } = useWidth();
  const [shown, setShown] = useState<number>();
  const stacks = buckets.map((bucket) => bars.map(({ of }) => of(bucket) ?? 0));
  const courses = lines.map(({ kind, of }) => ({ kind, values: buckets.map(of) }));
  const slowest = Math.max(...courses.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const marks = buckets.map((bucket): Mark => {
    const span = spanAt(bucket.start, period);
    return {
      span,
      href: open?.(span),
      numbers: [
        ...bars.map(({ kind, name, of }) => ({ kind, name, text: count(of(bucket)) })),
        ...lines.map(({ kind, name, of }) => ({ kind, name, text: answerTime(of(bucket)) })),
      ],
    };
  });
  const plot = { width, labels: marks.map(({ span }) => span.label) };
  const [tip] = shown === undefined ? [] : marks.slice(shown);
  return (
    <div class="charts" ref={place} onMouseLeave={() => setShown(undefined)}>
      {width > 0 && (
        <>
          <Plot {...plot} kind="bars" description={description} highest={Math.max(...stacks.map(sum))}>
            {(x, scale) => <Bars of={stacks} kinds={bars.map(({ kind }) => kind)} x={x} scale={scale} />}
          </Plot>
          {slowest > 0 && (
            <Plot {...plot} kind="lines" description="Times to answer, in the same period" highest={slowest}>
              {(x, scale) => courses.map((course) => <Line key={course.kind} {...course} x={x} scale={scale} />)}
            </Plot>
          )}
          <Marks of={marks} shown={shown} show={setShown} />
          {tip && <Tip of={tip} place={(shown ?? 0) / buckets.length} />}
        </>
      )}
    </div>
  );
}

/** What is said of a bucket. */
interface Mark {
  readonly span: Span;
  readonly href: string | undefined;
  readonly numbers: readonly { readonly kind: string; readonly name: string; readonly text: string }[];
}

interface Scales {
  /** The middle of a bucket, and the room for each. */
  readonly x: { readonly at: (index: number) => number; readonly step: number };
  /** The height of a number above the axis. */
  readonly scale: (number: number) => number;
}

interface PlotProps {
  readonly kind: keyof typeof HEIGHTS;
  readonly width: number;
  /** Those of the buckets. */
  readonly labels: readonly string[];
  readonly highest: number;
  readonly description: string;
  readonly children: (x: Scales['x'], scale: Scales['scale']) => ComponentChildren;
}

/** The axes of a chart; what it draws stands on the line of 0. */
function Plot({ kind, width, labels, highest, description, children }: PlotProps): JSX.Element {
  const height = HEIGHTS[kind];
  // at least 2, so that its middle is a whole number
  const top = axisTop(Math.max(highest, 2), [1, 2, 5]);
  const scale = (number: number): number => (number / top) * (height - TOP - BOTTOM);
  const step = (width - LEFT - RIGHT) / labels.length;
  const x = { at: (index: number) => LEFT + (index + 0.5) * step, step };
  const numbers = new Intl.NumberFormat('en', { notation: top < 10_000 ? 'standard' : 'compact' });
  const words = (number: number): string => (kind === 'lines' ? length(number) : numbers.format(number));
  // as many labels as there is room for
  const every = Math.ceil(64 / step);
  return (
    <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={description}>
      {[0, top / 2, top].map((number) => (
        <g key={number} transform={`translate(0 ${height - BOTTOM - scale(number)})`}>
          <line class="grid" x1={LEFT} x2={width - RIGHT} />
          {Number.isInteger(number) && (
            <text x={LEFT - 6} y={4} text-anchor="end">
              {words(number)}
            </text>
          )}
        </g>
      ))}
      {labels.map(
        (label, index) =>
          index % every === 0 && (
            <text key={index} x={x.at(index)} y={height - 8} text-anchor="middle">
              {label}
            </text>
          ),
      )}
      <g transform={`translate(0 ${height - BOTTOM})`}>{children(x, scale)}</g>
    </svg>
  );
}

interface BarsProps extends Scales {
  readonly of: readonly (readonly number[])[];
  readonly kinds: readonly string[];
}

function Bars({ of: stacks, kinds, x, scale }: BarsProps): JSX.Element {
  const width = Math.min(x.step * 0.7, WIDEST);
  return (
    <>
      {stacks.map((stack, index) => {
        const lengths = lengthsOf(stack, scale);
        return kinds.map(
          (kind, part) =>
            lengths[part] !== 0 && (
              <rect
                key={`${index} ${kind}`}
                class={kind}
                x={x.at(index) - width / 2}
                y={-sum(lengths.slice(0, part + 1))}
                width={width}
                height={lengths[part]}
              />
            ),
        );
      })}
    </>
  );
}

interface LineProps extends Scales {
  readonly kind: string;
  readonly values: readonly (number | null)[];
}

/** A line with a gap where there is no value; a value between two gaps is a point. */
function Line({ kind, values, x, scale }: LineProps): JSX.Element {
  const isThere = (index: number): boolean => typeof values[index] === 'number';
  const path = values.map((value, index) =>
    value === null ? '' : `${isThere(index - 1) ? 'L' : 'M'}${x.at(index)} ${-scale(value)}`,
  );
  return (
    <g class={kind}>
      <path d={path.join('')} />
      {values.map(
        (value, index) =>
          value !== null &&
          !isThere(index - 1) &&
          !isThere(index + 1) && <circle key={index} cx={x.at(index)} cy={-scale(value)} r={2} />,
      )}
    </g>
  );
}

interface MarksProps {
  readonly of: readonly Mark[];
  readonly shown: number | undefined;
  readonly show: (index: number | undefined) => void;
}

/** A link over each bucket. The tab key stops at one of them, from which the arrow keys lead to the others. */
function Marks({ of: marks, shown, show }: MarksProps): JSX.Element {
  const { list, attributesOf } = useTabStop<HTMLUListElement>(marks.length, marks.length - 1, show);
  return (
    <ul class="marks" ref={list} style={{ left: `${LEFT}px`, right: `${RIGHT}px` }}>
      {marks.map(({ span, href, numbers }, index) => (
        <li key={span.since}>
          <a
            class={index === shown ? 'shown' : undefined}
            {...(href === undefined ? { role: 'img' as const } : { href })}
            aria-label={`${span.local}: ${numbers.map(({ name, text }) => `${name} ${text}`).join(', ')}`}
            onMouseEnter={() => show(index)}
            {...attributesOf(index)}
          />
        </li>
      ))}
    </ul>
  );
}

/** The exact numbers of a bucket; the label of its link says the same. `place` is where it begins, from 0 to 1. */
function Tip({ of: { span, numbers }, place }: { of: Mark; place: number }): JSX.Element {
  const side =
    place < 0.5 ? { left: `calc(${LEFT + 16}px + ${place * 90}%)` } : { right: `calc(${90 - place * 90}% + 16px)` };
  return (
    <div class="tip" aria-hidden="true" style={side}>
      <strong>{span.local}</strong>
      <small>{span.utc}</small>
      <dl>
        {numbers.map(({ kind, name, text }) => (
          <div key={kind}>
            <dt>
              <span class={`swatch ${kind}`} /> {name}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

export function Legend({ of: series }: { of: readonly Pick<Series<never>, 'kind' | 'name'>[] }): JSX.Element {
  return (
    <p class="legend">
      {series.map(({ kind, name }) => (
        <span key={kind}>
          <span class={`swatch ${kind}`} /> {name}
        </span>
      ))}
    </p>
  );
}
