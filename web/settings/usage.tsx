import type { ComponentChildren, JSX } from 'preact';
import { type Answer, type Key, settings } from './api';
import { Bars } from './chart';
import type { Reading } from './list';
import { Ago, Cell, Head, HeadRow, Problem } from './parts';
import { choose, chosen } from './route';
import { length } from './time';

/* Usage in a period: that of one key on its page, and that of all keys on the overview. The period is in the address. */

type Usage = Omit<Answer<'usage'>, 'mcp'>;
export type Period = 'last_24h' | 'last_30d';

/** Shown with every empty count, since the latest requests are not counted yet. */
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
    <fieldset class="segments">
      <legend class="unseen">{props.label}</legend>
      {choice('last_24h', '24 hours')}
      {choice('last_30d', '30 days')}
    </fieldset>
  );
}

/** The totals double as the chart's legend. */
const SWATCHES: Readonly<Record<string, string>> = { Errors: 'bad', '429s': 'limited' };

export function Totals({ of: totals }: { of: readonly (readonly [string, ComponentChildren])[] }): JSX.Element {
  return (
    <dl class="totals">
      {totals.map(([name, value]) => (
        <div key={name}>
          <dt>
            {SWATCHES[name] !== undefined && <span class={`swatch ${SWATCHES[name]}`} />}
            {name}
          </dt>
          <dd>{typeof value === 'number' ? words(value) : value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** `of` names the key, or all keys. */
export function Chart({ of, usage, period }: { of: string; usage: Usage; period: Period }): JSX.Element {
  const counts = `${words(usage.requests)}, including ${words(usage.errors)} errors and ${words(usage.rate_limited)} with status 429.`;
  const description = `Requests with ${of} in ${spanOf(period)}: ${counts}`;
  return <Bars of={usage.buckets} isHourly={period === 'last_24h'} description={description} />;
}

/** What is counted under something other than an operation's name. */
const LABELS: Readonly<Record<string, string>> = {
  none: 'failed before it was known',
  multiple: 'several in one request',
  other: 'not in the schema',
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
      <HeadRow columns={columns} />
      <tbody>{children}</tbody>
    </table>
  );
}

/** Times are counted in buckets, so a percentile is known only up to its bucket's upper bound. */
function time(ms: number | null): string {
  if (ms === null) return 'none';
  const bound = settings.timeBounds.find((candidate) => ms <= candidate);
  return bound === undefined || ms === settings.timeBounds.at(-1) ? `${length(ms)} or more` : `up to ${length(bound)}`;
}

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

/** A count of errors that links to the failed requests. */
export function FailedLink({ of: count, at, period }: { of: number; at: string; period: Period }): JSX.Element {
  if (count === 0) return <>0</>;
  return <a href={`${at}?result=failed${period === 'last_24h' ? '&since=24' : ''}`}>{words(count)}</a>;
}

interface CodesProps {
  readonly of: Usage['codes'];
  readonly name: NumbersProps['name'];
  /** Where the counted requests are listed. */
  readonly at: string;
  readonly period: Period;
}

export function Codes({ of, name, at, period }: CodesProps): JSX.Element {
  return (
    <Numbers class="codes" name={name} columns={['Error code', 'Requests']}>
      {of.map(({ code, requests }) => (
        <tr key={code}>
          <Head label="Code">
            <a href={`${at}?code=${code}${period === 'last_24h' ? '&since=24' : ''}`}>
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
      <table>
        <HeadRow columns={['From (UTC)', 'Requests', 'Errors', '429s']} />
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

interface KeyUsageProps {
  readonly of: Reading<Answer<'usage'>>;
  readonly whose: Key;
  readonly period: Period;
  readonly change: (to: Period) => void;
}

/** The requests of a key. */
export function KeyUsage({ of: usage, whose: key, period, change }: KeyUsageProps): JSX.Element {
  const { value, failure } = usage;
  return (
    <section aria-labelledby="usage-title">
      <div class="heading">
        <h2 id="usage-title" tabIndex={-1}>
          Usage
        </h2>
        <Periods name="key-period" label="Period" of={period} change={change} />
      </div>
      <Problem failure={failure} again={usage.again} />
      {value && !failure && <Figures of={value} whose={key} period={period} />}
    </section>
  );
}

function Figures({ of: usage, whose: key, period }: { of: Answer<'usage'>; whose: Key; period: Period }): JSX.Element {
  const { requests, errors, rate_limited: limited, mcp, operations, codes } = usage;
  const [slowest] = operations.toSorted((left, right) => (right.p95_ms ?? 0) - (left.p95_ms ?? 0));
  const from = key.last_used_from === null ? null : <span class="quiet">from {key.last_used_from}</span>;
  return (
    <>
      <Totals
        of={[
          ['Requests', requests],
          ['Errors', <FailedLink of={errors} at={`/settings/keys/${key.id}`} period={period} />],
          [
            'Slowest operation',
            <>
              {time(slowest?.p95_ms ?? null)}
              {slowest && <span class="quiet">{slowest.operation}, 95th percentile</span>}
            </>,
          ],
          [
            'Last used',
            <>
              <Ago at={key.last_used_at} otherwise="never" />
              {from}
            </>,
          ],
        ]}
      />
      {requests === 0 && (
        <p class="hint">
          No requests with this key in {spanOf(period)}, apart from any refused with 401. {AGE}
        </p>
      )}
      <Chart of={key.name} usage={usage} period={period} />
      {requests > 0 && (
        <p class="hint">
          <span class="swatch limited" />
          {words(limited)} got a 429, and {words(mcp)} came over MCP. {AGE.slice(0, -1)}; times are in UTC.
        </p>
      )}
      <details>
        <summary>As a table</summary>
        <Buckets of={usage.buckets} period={period} />
      </details>
      {operations.length > 0 && (
        <>
          <h3 id="operations-title">By operation</h3>
          <Operations of={operations} name={{ 'aria-labelledby': 'operations-title' }} />
          <p class="hint">Times to answer are without requests that got a 429.</p>
        </>
      )}
      {codes.length > 0 && (
        <>
          <h3 id="codes-title">By error code</h3>
          <Codes
            of={codes}
            name={{ 'aria-labelledby': 'codes-title' }}
            at={`/settings/keys/${key.id}`}
            period={period}
          />
        </>
      )}
    </>
  );
}
