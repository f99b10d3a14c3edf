import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Answer } from './api';
import { count } from './numbers';
import { useTabStop } from './tabStop';
import { CLOCK, clockOf, createFormat, DAY, exact } from './time';

/* Bars of the listed requests over time. Clicking one, or dragging over several, narrows the period to them; arrow keys move between them. */

type Intervals = Answer<'requestHistogram'>['intervals'];

interface HistogramProps {
  /** Undefined until it is read. */
  readonly of: Answer<'requestHistogram'> | undefined;
  /** Called with the start and the end of a chosen period, in ISO 8601. */
  readonly narrow: (since: string, until: string) => void;
}

const dayOf = createFormat({ weekday: 'short', ...DAY });
const clockWithSeconds = createFormat({ ...CLOCK, second: '2-digit' });
/** The least length of a part of a bar, in percent. */
const LEAST = 3;

/** `Sat 28 Nov, 10:00 – 13:00`, in local time. */
export function periodInWords(since: string, until: string): string {
  const clock = [since, until].every((time) => Date.parse(time) % 60_000 === 0) ? clockOf : clockWithSeconds;
  const [day, endDay] = [dayOf(since), dayOf(until)];
  return `${day}, ${clock(since)} – ${endDay === day ? '' : `${endDay}, `}${clock(until)}`;
}

const endOf = (start: string, seconds: number): string => new Date(Date.parse(start) + seconds * 1000).toISOString();

function sumOf(intervals: Intervals): { readonly successful: number; readonly failed: number } {
  let [successful, failed] = [0, 0];
  for (const interval of intervals) {
    successful += interval.successful;
    failed += interval.failed;
  }
  return { successful, failed };
}

export function Histogram({ of: histogram, narrow }: HistogramProps): JSX.Element {
  /** The bars that are pointed at or have the focus: one, or those that were dragged over. */
  const [marked, setMarked] = useState<readonly [from: number, to: number]>();
  const [isDragging, setDragging] = useState(false);
  const { intervals = [], interval_seconds: seconds = 1 } = histogram ?? {};
  const { list: place, attributesOf } = useTabStop<HTMLDivElement>(intervals.length, 0, (at) =>
    setMarked(at === undefined ? undefined : [at, at]),
  );
  const last = intervals.length - 1;
  const highest = Math.max(1, ...intervals.map(({ successful, failed }) => successful + failed));
  const lengthOf = (requests: number): string =>
    requests === 0 ? '0' : `${Math.max(LEAST, (100 * requests) / highest)}%`;
  // there may be fewer bars than when they were marked
  const [from, to] = (marked ?? [0, last]).map((at) => Math.min(at, last)).sort((left, right) => left - right) as [
    number,
    number,
  ];
  const sums = sumOf(intervals.slice(from, to + 1));

  const spanOf = (first: number, final: number): readonly [string, string] => [
    intervals[first]?.start ?? '',
    endOf(intervals[final]?.start ?? '', seconds),
  ];
  const barAt = ({ clientX }: PointerEvent): number => {
    const { left = 0, width = 1 } = place.current?.getBoundingClientRect() ?? {};
    return Math.max(0, Math.min(last, Math.floor(((clientX - left) / width) * intervals.length)));
  };
  const choose = (first: number, final: number): void => {
    setDragging(false);
    setMarked(undefined);
    if (histogram) narrow(...spanOf(first, final));
  };

  if (histogram && intervals.length === 0) return <></>;
  return (
    <div class="card histogram">
      <p class="histogram-legend">
        <span>{marked && histogram ? periodInWords(...spanOf(from, to)) : 'Listed requests'}</span>
        {histogram && (
          <>
            <span>
              <span class="swatch fine" />
              {count(sums.successful)} successful
            </span>
            <span>
              <span class="swatch faults" />
              {count(sums.failed)} failed
            </span>
          </>
        )}
      </p>
      <div
        class="histogram-bars"
        ref={place}
        role="group"
        aria-label="Listed requests over time"
        tabIndex={-1}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          setDragging(true);
          setMarked([barAt(event), barAt(event)]);
        }}
        onPointerMove={(event) => {
          const at = barAt(event);
          setMarked((before) => [isDragging ? (before?.[0] ?? at) : at, at]);
        }}
        onPointerUp={() => {
          if (isDragging) choose(from, to);
        }}
        onPointerCancel={() => setDragging(false)}
        onPointerLeave={() => {
          if (!isDragging) setMarked(undefined);
        }}
      >
        {intervals.map(({ start, successful, failed }, at) => {
          const period = periodInWords(start, endOf(start, seconds));
          return (
            <button
              key={start}
              type="button"
              class={marked && at >= from && at <= to ? 'marked' : undefined}
              aria-label={`${period}: ${count(successful)} successful, ${count(failed)} failed`}
              title={exact(start)}
              {...attributesOf(at)}
              // of a pointer, onPointerUp has chosen
              onClick={({ detail }) => {
                if (detail !== 0) return;
                // this bar goes
                place.current?.focus();
                choose(at, at);
              }}
            >
              <span class="faults" style={{ height: lengthOf(failed) }} />
              <span class="fine" style={{ height: lengthOf(successful) }} />
            </button>
          );
        })}
      </div>
      {histogram && (
        <p class="histogram-axis" aria-hidden="true">
          {[0, Math.floor(last / 2), last].map((at) => (
            <span key={at}>{periodInWords(...spanOf(at, at)).replace(/ – .*/, '')}</span>
          ))}
        </p>
      )}
    </div>
  );
}
