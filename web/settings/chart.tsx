import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Answer } from './api';

/* Stacked bars of successful requests, errors and 429s: an SVG without inline styles, coloured by the style sheet. */

const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [200, 44, 8, 10, 26];
/** The least length of a part of a bar, in pixels. */
const LEAST = 3;
const PARTS = { fine: 'successful', errors: 'errors', limited: '429s' };
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** A round maximum for the axis: 1, 2 or 5 times a power of ten, and a whole number. */
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

interface BarsProps {
  readonly of: Answer<'usage'>['buckets'];
  readonly isHourly: boolean;
  /** The chart's text alternative. */
  readonly description: string;
}

/** A chart of a period's buckets, as wide as there is room, so that its text keeps its size. */
export function Bars({ of: buckets, isHourly, description }: BarsProps): JSX.Element {
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
  const top = axisTop(Math.max(...buckets.map(({ requests }) => requests)));
  const axis = new Intl.NumberFormat('en', { notation: top < 10_000 ? 'standard' : 'compact' });
  const scale = (count: number): number => (count / top) * (HEIGHT - TOP - BOTTOM);
  const step = (width - LEFT - RIGHT) / buckets.length;
  return (
    <div ref={place}>
      {width > 0 && (
        <svg class="chart" viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={description}>
          {[0, top / 2, top].map((number) => (
            <g key={number} transform={`translate(0 ${HEIGHT - BOTTOM - scale(number)})`}>
              <line class="grid" x1={LEFT} x2={width - RIGHT} />
              {Number.isInteger(number) && (
                <text x={LEFT - 6} y={4} text-anchor="end">
                  {axis.format(number)}
                </text>
              )}
            </g>
          ))}
          {buckets.map(({ start, requests, errors, rate_limited: limited }, at) => {
            const label = isHourly ? `${start.slice(11, 13)}:00` : start.slice(5, 10);
            const counts = [Math.max(0, requests - errors - limited), errors, limited];
            const lengths = lengthsOf(counts, scale);
            return (
              <g key={start} transform={`translate(${LEFT + at * step} ${HEIGHT - BOTTOM})`}>
                {Object.entries(PARTS).map(([kind, words], part) => {
                  const { [part]: count = 0 } = counts;
                  const y = -sum(lengths.slice(0, part + 1));
                  return (
                    count > 0 && (
                      <rect key={kind} class={kind} x={step * 0.15} y={y} width={step * 0.7} height={lengths[part]}>
                        <title>{`${label}: ${count.toLocaleString('en')} ${words}`}</title>
                      </rect>
                    )
                  );
                })}
                {at % (isHourly ? 6 : 5) === 0 && (
                  <text x={step / 2} y={BOTTOM - 8} text-anchor="middle">
                    {label}
                  </text>
                )}
              </g>
            );
          })}
        </svg>
      )}
    </div>
  );
}
