import type { ComponentChildren, JSX } from 'preact';
import './usage.css';
import { DAY, MINUTE } from '../../src/units';
import { type Answer, type Key, now } from './api';
import { Chart, Legend, type Series } from './chart';
import { KeyLink, shownName } from './keyNames';
import type { Reading } from './list';
import { answerTime, count, counted } from './numbers';
import { Ago, Heading, Outdated, Problem } from './parts';
import { type InPeriod, type Period, Periods, sinceOf, type Span, spanAt, spanOf, USUAL } from './periods';
import { Cell, Head, HeadRow } from './table';
import { Tiles } from './tiles';

/* Usage in a period: that of one key on its page, and that of all keys on the overview. */

type Usage = Omit<Answer<'usage'>, 'mcp'>;

/** Shown with every empty count, since the latest requests are not counted yet. */
export const AGE = 'Figures are up to a minute old.';

/** How long requests are kept, in milliseconds; before that a bar opens nothing. */
const REQUESTS_KEPT = 7 * DAY;
type Bucket = Usage['buckets'][number];
const BARS: readonly Series<Bucket>[] = [
  {
    kind: 'fine',
    name: 'Successful',
    of: ({ requests, errors, rate_limited: limited }) => Math.max(0, requests - errors - limited),
  },
  { kind: 'faults', name: 'Errors', of: ({ errors }) => errors },
  { kind: 'limited', name: 'Rate limited', of: ({ rate_limited: limited }) => limited },
];
const LINES: readonly Series<Bucket>[] = [
  { kind: 'p50_ms', name: 'Median', of: ({ p50_ms: ms }) => ms },
  { kind: 'p95_ms', name: '95th percentile', of: ({ p95_ms: ms }) => ms },
];

interface UsageProps {
  readonly of: InPeriod<Usage>;
  /** The address of the list of requests with these filters. */
  readonly addressOf: (filters: string) => string;
}

/** `whose` names the key, or all keys. */
export function Figures({ of: usage, addressOf, whose }: UsageProps & { whose: string }): JSX.Element {
  const { period, requests, errors, rate_limited: limited } = usage;
  const counts = `${count(requests)}, including ${count(errors)} errors and ${count(limited)} rate limited.`;
  const open = ({ since, until }: Span): string | undefined =>
    Date.parse(until) > now() - REQUESTS_KEPT ? addressOf(`since=${since}&until=${until}`) : undefined;
  const description = `Requests with ${whose} in ${spanOf(period)}: ${counts}`;
  return (
    <>
      <Tiles of={usage} period={period} failed={<FailedLink of={usage} addressOf={addressOf} />} />
      <div class="card">
        <Legend of={[...BARS, ...LINES]} />
        <Chart of={usage.buckets} period={period} description={description} bars={BARS} lines={LINES} open={open} />
        <details class="as-table">
          <summary>As a table</summary>
          <Buckets of={usage.buckets} period={period} />
        </details>
      </div>
    </>
  );
}

/** A count of errors that links to the failed requests, among which are those that were rate limited. */
function FailedLink({ of: { errors, period }, addressOf }: UsageProps): JSX.Element | null {
  if (errors === 0) return null;
  return (
    <a
      href={addressOf(`result=failed${sinceOf(period)}`)}
      title="All failed requests, with those that were rate limited, and calls of several elements of which some failed"
    >
      {counted(errors, 'error')}
    </a>
  );
}

interface NumbersProps {
  readonly title: string;
  readonly columns: readonly string[];
  readonly children: ComponentChildren;
}

/** A table of counts in a card. */
export function Numbers({ title, columns, children }: NumbersProps): JSX.Element {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      <table class="rows numbers" aria-label={title}>
        <HeadRow columns={columns} />
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

/** What is counted under something other than an operation's name. */
const LABELS: Readonly<Record<string, string>> = {
  // calls of MCP that are no operation, such as `tools/list`, and what failed before the operation was known
  none: 'no single operation',
  multiple: 'several in one request',
  other: 'not in the schema',
};

export function Operations({ of }: { of: Usage['operations'] }): JSX.Element | null {
  if (of.length === 0) return null;
  return (
    <Numbers
      title="Operations"
      columns={['Operation', 'Requests', 'Errors', 'Rate limited', 'Median', '95th percentile']}
    >
      {of.map(({ operation, requests, errors, rate_limited: limited, p50_ms: median, p95_ms: high }) => (
        <tr key={operation}>
          <Head label="Operation">{LABELS[operation] ?? <code>{operation}</code>}</Head>
          <Cell label="Requests">{count(requests)}</Cell>
          <Cell label="Errors">{count(errors)}</Cell>
          <Cell label="Rate limited">{count(limited)}</Cell>
          <Cell label="Median">{answerTime(median)}</Cell>
          <Cell label="95th">{answerTime(high)}</Cell>
        </tr>
      ))}
    </Numbers>
  );
}

export function Codes({ of: { codes, period }, addressOf }: UsageProps): JSX.Element | null {
  if (codes.length === 0) return null;
  return (
    <Numbers title="Errors by code" columns={['Error code', 'Requests']}>
      {codes.map(({ code, requests }) => (
        <tr key={code}>
          <Head label="Code">
            <a href={addressOf(`code=${code}${sinceOf(period)}`)}>
              <code>{code}</code>
            </a>
          </Head>
          <Cell label="Requests">{count(requests)}</Cell>
        </tr>
      ))}
    </Numbers>
  );
}

/** The keys with the most requests. */
export function TopKeys({ of: { data, period } }: { of: InPeriod<Answer<'usageByKey'>> }): JSX.Element | null {
  if (data.length === 0) return null;
  const search = period === USUAL ? '' : `?period=${period}`;
  return (
    <Numbers title="Top keys" columns={['Key', 'Requests', 'Errors', 'Rate limited']}>
      {data.map(({ key_id: id, requests, errors, rate_limited: limited }) => (
        <tr key={id}>
          <Head label="Key">
            <KeyLink id={id} search={search} hasLastFour />
          </Head>
          <Cell label="Requests">{count(requests)}</Cell>
          <Cell label="Errors">{count(errors)}</Cell>
          <Cell label="Rate limited">{count(limited)}</Cell>
        </tr>
      ))}
    </Numbers>
  );
}

/** The chart's numbers. */
function Buckets({ of, period }: { of: Usage['buckets']; period: Period }): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Usage as a table">
      <table class="numbers">
        <HeadRow columns={['Time', 'Requests', 'Errors', 'Rate limited', 'Median', '95th percentile']} />
        <tbody>
          {of.toReversed().map((bucket) => {
            const { local, utc } = spanAt(bucket.start, period);
            return (
              <tr key={bucket.start}>
                <th scope="row" title={utc}>
                  {local}
                </th>
                {[bucket.requests, bucket.errors, bucket.rate_limited].map((number, at) => (
                  <td key={at}>{count(number)}</td>
                ))}
                <td>{answerTime(bucket.p50_ms)}</td>
                <td>{answerTime(bucket.p95_ms)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** Whether a key was used so recently that its requests may not be counted yet: usage is written within a minute. */
const isJustUsed = ({ last_used_at: at }: Key): boolean => at !== null && now() - Date.parse(at) < 2 * MINUTE;

interface KeyUsageProps {
  readonly of: Reading<InPeriod<Answer<'usage'>>>;
  readonly whose: Key;
  readonly period: Period;
  readonly change: (to: Period) => void;
}

/** The requests of a key. */
export function KeyUsage({ of: usage, whose: key, period, change }: KeyUsageProps): JSX.Element {
  const { value, failure } = usage;
  const addressOf = (filters: string): string =>
    `/settings/keys/${key.id}?${filters}${period === USUAL ? '' : `&period=${period}`}`;
  return (
    <section aria-labelledby="usage-title" class="plain">
      <Heading as="h2" id="usage-title" title="Usage">
        <Periods name="key-period" label="Period" of={period} change={change} />
      </Heading>
      <Problem failure={failure} again={usage.again} />
      {value && !failure && (
        <Outdated is={value.period !== period} isBusy={usage.isBusy}>
          {value.requests === 0 && (
            <p class="hint">
              {isJustUsed(key)
                ? 'This key was used just now. Its requests are counted here within a minute: reload the page then.'
                : `No requests with this key in ${spanOf(value.period)}, apart from any refused with 401. ${AGE}`}
            </p>
          )}
          <Figures of={value} addressOf={addressOf} whose={shownName(key)} />
          <p class="hint">
            Last used <Ago at={key.last_used_at} otherwise="never" />
            {key.last_used_from !== null && ` from ${key.last_used_from}`}. {counted(value.mcp, 'request')} came over
            MCP. {AGE}
          </p>
          <Codes of={value} addressOf={addressOf} />
          <Operations of={value.operations} />
        </Outdated>
      )}
    </section>
  );
}
