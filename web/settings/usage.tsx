import { type ComponentChildren, type JSX, render } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type Answer, call, type Key } from './api';
import { drawChart } from './chart';
import { byId } from './dom';
import { Reading } from './list';
import { Cell, Head, Problem } from './parts';
import { length } from './requests';
import { choose, chosen } from './route';

/* The requests of a period: of one key, on its page, and the parts of it that the overview shows of all. The address has the period. */

export type Usage = Omit<Answer<'usage'>, 'mcp'>;
export type Period = 'last_24h' | 'last_30d';

/** Said with every count of nothing, since what has just been requested is missing. */
export const AGE = 'Figures are up to a minute old.';
export const periodInAddress = (): Period => (chosen('period') === 'last_30d' ? 'last_30d' : 'last_24h');
export const spanOf = (period: Period): string => (period === 'last_24h' ? 'the last 24 hours' : 'the last 30 days');
const words = (count: number): string => count.toLocaleString('en');

/** `change` is called once the address has the chosen period. */
export function Periods(props: { name: string; label: string; of: Period; change: (to: Period) => void }): JSX.Element {
  const choice = (period: Period, text: string): JSX.Element => (
    <label>
      <input
        type="radio"
        name={props.name}
        checked={props.of === period}
        onChange={() => {
          choose({ period: period === 'last_30d' ? period : null });
          props.change(period);
        }}
      />
      {text}
    </label>
  );
  return (
    <fieldset class="switch">
      <legend class="unseen">{props.label}</legend>
      {choice('last_24h', '24 hours')}
      {choice('last_30d', '30 days')}
    </fieldset>
  );
}

export function Totals({ of: usage, mcp }: { of: Usage; mcp?: number }): JSX.Element {
  const total = (name: ComponentChildren, count: number): JSX.Element => (
    <div>
      <dt>{name}</dt>
      <dd>{words(count)}</dd>
    </div>
  );
  return (
    <dl class="totals">
      {total('Requests', usage.requests)}
      {total([<span key="bad" class="swatch bad" />, 'Errors'], usage.errors)}
      {total([<span key="limited" class="swatch limited" />, '429s'], usage.rate_limited)}
      {mcp !== undefined && total('Over MCP', mcp)}
    </dl>
  );
}

/** `of` says whose requests they are. */
export function Chart({ of, usage, period }: { of: string; usage: Usage; period: Period }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current: element } = place;
    if (!element) return undefined;
    const counts = `${words(usage.requests)}, including ${words(usage.errors)} errors and ${words(usage.rate_limited)} with status 429.`;
    const description = `Requests with ${of} in ${spanOf(period)}: ${counts}`;
    let width = 0;
    const draw = (): void => {
      if (element.clientWidth === width || element.clientWidth === 0) return;
      width = element.clientWidth;
      element.replaceChildren(drawChart(usage.buckets, period === 'last_24h', description, width));
    };
    draw();
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    return () => observer.disconnect();
  }, [of, usage, period]);
  return <div ref={place} />;
}

/** Labels that are no names of operations. */
const LABELS: Readonly<Record<string, string>> = {
  none: 'failed before it was known',
  multiple: 'several in one request',
  other: 'not in the schema',
  introspection: 'of the schema',
};

interface NumbersProps {
  readonly class?: string;
  readonly name: { readonly 'aria-label': string } | { readonly 'aria-labelledby': string };
  readonly columns: readonly string[];
  readonly children: ComponentChildren;
}

function Numbers({ class: more = '', name, columns, children }: NumbersProps): JSX.Element {
  return (
    <table class={`rows numbers ${more}`} {...name}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th scope="col" key={column}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

const time = (ms: number | null): string => (ms === null ? 'none' : length(ms));

export function Operations({ of, name }: { of: Usage['operations']; name: NumbersProps['name'] }): JSX.Element {
  return (
    <Numbers name={name} columns={['Operation', 'Requests', 'Errors', '429s', 'Median', '95th percentile']}>
      {of.map(({ operation, requests, errors, rate_limited: limited, p50_ms: median, p95_ms: high }) => (
        <tr key={operation}>
          <Head label="Operation">{LABELS[operation] ?? <code>{operation}</code>}</Head>
          <Cell label="Requests">{words(requests)}</Cell>
          <Cell label="Errors">{words(errors)}</Cell>
          <Cell label="429s">{words(limited)}</Cell>
          <Cell label="Median">{time(median)}</Cell>
          <Cell label="95th">{time(high)}</Cell>
        </tr>
      ))}
    </Numbers>
  );
}

export function Codes({ of, name }: { of: Usage['codes']; name: NumbersProps['name'] }): JSX.Element {
  return (
    <Numbers class="codes" name={name} columns={['Error code', 'Requests']}>
      {of.map(({ code, requests }) => (
        <tr key={code}>
          <Head label="Error code">
            <a href={`/errors/${code}`}>
              <code>{code}</code>
            </a>
          </Head>
          <Cell label="Requests">{words(requests)}</Cell>
        </tr>
      ))}
    </Numbers>
  );
}

function Buckets({ of, period }: { of: Usage['buckets']; period: Period }): JSX.Element {
  const start = (at: string): string => (period === 'last_24h' ? at.slice(0, 16).replace('T', ' ') : at.slice(0, 10));
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Usage as a table">
      <table class="plain">
        <thead>
          <tr>
            {['From (UTC)', 'Requests', 'Errors', '429s'].map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {of.toReversed().map((bucket) => (
            <tr key={bucket.start}>
              <th scope="row">{start(bucket.start)}</th>
              {[bucket.requests, bucket.errors, bucket.rate_limited].map((count, at) => (
                <td key={at}>{words(count)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const place = byId('usage');
let shown: Key | undefined;
let period: Period = 'last_24h';
const usage = new Reading<Answer<'usage'>>(() => call('usage', { id: shown?.id ?? '', period }), draw);

/** Shows the usage of a key; undefined leaves it. */
export async function openUsage(key: Key | undefined): Promise<void> {
  if (key?.id !== shown?.id) usage.clear();
  shown = key;
  if (key === undefined) return;
  period = periodInAddress();
  await usage.load();
}

function draw(): void {
  const { value, failure } = usage;
  render(
    <>
      <div class="heading">
        <h2 id="usage-title" tabIndex={-1}>
          Usage
        </h2>
        <Periods
          name="key-period"
          label="Period"
          of={period}
          change={(to) => {
            period = to;
            void usage.load();
          }}
        />
      </div>
      <Problem failure={failure} again={usage.again} />
      {value && !failure && (
        <>
          {value.requests === 0 && (
            <p class="empty">
              No requests with this key in {spanOf(period)}. {AGE}
            </p>
          )}
          <Totals of={value} mcp={value.mcp} />
          <Chart of={shown?.name ?? ''} usage={value} period={period} />
          {value.requests > 0 && (
            <p class="hint">
              {AGE.slice(0, -1)}; times are in UTC. Errors are requests that failed, except with status 429.
            </p>
          )}
          <details>
            <summary>As a table</summary>
            <Buckets of={value.buckets} period={period} />
          </details>
          {value.operations.length > 0 && (
            <>
              <h3 id="operations-title">By operation</h3>
              <Operations of={value.operations} name={{ 'aria-labelledby': 'operations-title' }} />
              <p class="hint">Times to answer are estimated, and without requests that got a 429.</p>
            </>
          )}
          {value.codes.length > 0 && (
            <>
              <h3 id="codes-title">By error code</h3>
              <Codes of={value.codes} name={{ 'aria-labelledby': 'codes-title' }} />
            </>
          )}
        </>
      )}
    </>,
    place,
  );
}
