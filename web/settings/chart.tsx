import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Answer } from './api';
import { answerTime, count } from './numbers';
import { type Period, type Span, spanAt } from './periods';
import { length } from './time';

/* The requests of a period as stacked bars and their times to answer as lines: SVG, coloured by the style sheet. */

type Bucket = Answer<'usage'>['buckets'][number];

const [LEFT, RIGHT, TOP, BOTTOM] = [52, 8, 10, 26];
const HEIGHTS = { bars: 200, lines: 120 };
/** The least length of a part of a bar, and the greatest width of a bar, in pixels. */
const [LEAST, WIDEST] = [3, 48];
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** A round maximum for an axis: 1, 2 or 5 times a power of ten, and a whole number. */
function axisTop(highest: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(highest, 1)));
  return [1, 2, 5].map((step) => step * power).find((top) => top >= Math.max(highest, 2)) ?? 10 * power;
}

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

interface ChartProps {
  readonly of: readonly Bucket[];
  readonly period: Period;
  /** The chart's text alternative. */
  readonly description: string;
  /** The page that lists the requests. */
  readonly at: string;
}

/** Both charts, one above the other. A bucket under the pointer or with the focus shows its numbers, and opens its requests. */
export function Chart({ of: buckets, period, description, at: page }: ChartProps): JSX.Element {
  const { place, width } = useWidth();
  const [shown, setShown] = useState<number>();
  const spans = buckets.map(({ start }) => spanAt(start, period));
  const slowest = Math.max(...buckets.map(({ p95_ms: ms }) => ms ?? 0));
  const plot = { width, count: buckets.length, labels: spans.map(({ label }) => label) };
  return (
    <div class="charts" ref={place} onMouseLeave={() => setShown(undefined)}>
      {width > 0 && (
        <>
          <Plot
            {...plot}
            kind="bars"
            description={description}
            highest={Math.max(...buckets.map((one) => one.requests))}
          >
            {(x, scale) => <Bars of={buckets} x={x} scale={scale} />}
          </Plot>
          {slowest > 0 && (
            <Plot {...plot} kind="lines" description="Times to answer, in the same period" highest={slowest}>
              {(x, scale) => <Lines of={buckets} x={x} scale={scale} />}
            </Plot>
          )}
          <Marks of={buckets} spans={spans} page={page} shown={shown} show={setShown} />
          {shown !== undefined && <Tip of={buckets[shown]} span={spans[shown]} place={shown / buckets.length} />}
        </>
      )}
    </div>
  );
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
  readonly count: number;
  readonly labels: readonly string[];
  readonly highest: number;
  readonly description: string;
  readonly children: (x: Scales['x'], scale: Scales['scale']) => ComponentChildren;
}

/** The axes of a chart; what it draws stands on the line of 0. */
function Plot({ kind, width, count: buckets, labels, highest, description, children }: PlotProps): JSX.Element {
  const height = HEIGHTS[kind];
  const top = axisTop(highest);
  const scale = (number: number): number => (number / top) * (height - TOP - BOTTOM);
  const step = (width - LEFT - RIGHT) / buckets;
  const x = { at: (index: number) => LEFT + (index + 0.5) * step, step };
  const numbers = new Intl.NumberFormat('en', { notation: top < 10_000 ? 'standard' : 'compact' });
  const words = kind === 'lines' ? length : numbers.format;
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

const PARTS = ['fine', 'faults', 'limited'] as const;

function Bars({ of: buckets, x, scale }: Scales & { of: readonly Bucket[] }): JSX.Element {
  const width = Math.min(x.step * 0.7, WIDEST);
  return (
    <>
      {buckets.map(({ start, requests, errors, rate_limited: limited }, index) => {
        const lengths = lengthsOf([Math.max(0, requests - errors - limited), errors, limited], scale);
        return PARTS.map(
          (kind, part) =>
            lengths[part] !== 0 && (
              <rect
                key={start + kind}
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

const LINES = ['p50_ms', 'p95_ms'] as const;

/** Lines with a gap where nothing was answered. */
function Lines({ of: buckets, x, scale }: Scales & { of: readonly Bucket[] }): JSX.Element {
  return (
    <>
      {LINES.map((line) => {
        const points = buckets.map(({ [line]: ms }, index) => (ms === null ? null : `${x.at(index)} ${-scale(ms)}`));
        const path = points
          .map((point, at) => (point === null ? '' : `${points[at - 1] ? 'L' : 'M'}${point}`))
          .join('');
        return (
          <g key={line} class={line}>
            <path d={path} />
            {points.map((point, at) =>
              // a time between two gaps has no line
              point !== null && !points[at - 1] && !points[at + 1] ? (
                <circle key={at} cx={x.at(at)} cy={-scale(buckets[at]?.[line] ?? 0)} r={2} />
              ) : null,
            )}
          </g>
        );
      })}
    </>
  );
}

/** How long requests are kept, in milliseconds; before that a bucket opens nothing. */
const KEPT = 7 * 86_400_000;

interface MarksProps {
  readonly of: readonly Bucket[];
  readonly spans: readonly Span[];
  readonly page: string;
  readonly shown: number | undefined;
  readonly show: (index: number | undefined) => void;
}

/** A link over each bucket. The tab key stops at one of them, from which the arrow keys lead to the others. */
function Marks({ of: buckets, spans, page, shown, show }: MarksProps): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  const [stop, setStop] = useState(buckets.length - 1);
  const move = (event: KeyboardEvent, index: number): void => {
    const to = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: buckets.length - 1 }[event.key];
    if (event.key === 'Escape') show(undefined);
    if (to === undefined) return;
    event.preventDefault();
    list.current?.querySelectorAll('a')[to]?.focus();
  };
  return (
    <ul class="marks" ref={list} style={{ left: `${LEFT}px`, right: `${RIGHT}px` }}>
      {buckets.map((bucket, index) => {
        const { since = '', until = '', local = '' } = spans[index] ?? {};
        const isStored = Date.parse(until) > Date.now() - KEPT;
        return (
          <li key={bucket.start}>
            <a
              class={index === shown ? 'shown' : undefined}
              {...(isStored ? { href: `${page}?since=${since}&until=${until}` } : { role: 'img' as const })}
              aria-label={`${local}: ${wordsOf(bucket)}`}
              tabIndex={index === Math.min(stop, buckets.length - 1) ? 0 : -1}
              onMouseEnter={() => show(index)}
              onFocus={() => {
                setStop(index);
                show(index);
              }}
              onBlur={() => show(undefined)}
              onKeyDown={(event) => move(event, index)}
            />
          </li>
        );
      })}
    </ul>
  );
}

function wordsOf({ requests, errors, rate_limited: limited, p95_ms: ms }: Bucket): string {
  const time = ms === null ? '' : `, 95th percentile ${answerTime(ms)}`;
  return `${count(requests)} requests, ${count(errors)} errors, ${count(limited)} rate limited${time}`;
}

/** The exact numbers of a bucket; the label of its link says the same. `place` is where it begins, from 0 to 1. */
function Tip({
  of: bucket,
  span,
  place,
}: {
  of: Bucket | undefined;
  span: Span | undefined;
  place: number;
}): JSX.Element | null {
  if (!bucket || !span) return null;
  const rows = [
    ['fine', 'Successful', count(Math.max(0, bucket.requests - bucket.errors - bucket.rate_limited))],
    ['faults', 'Errors', count(bucket.errors)],
    ['limited', 'Rate limited', count(bucket.rate_limited)],
    ['p50_ms', 'Median', answerTime(bucket.p50_ms)],
    ['p95_ms', '95th percentile', answerTime(bucket.p95_ms)],
  ] as const;
  const side =
    place < 0.5 ? { left: `calc(${LEFT + 16}px + ${place * 90}%)` } : { right: `calc(${90 - place * 90}% + 16px)` };
  return (
    <div class="tip" aria-hidden="true" style={side}>
      <strong>{span.local}</strong>
      <small>{span.utc}</small>
      <dl>
        {rows.map(([kind, name, value]) => (
          <div key={kind}>
            <dt>
              <span class={`swatch ${kind}`} /> {name}
            </dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
