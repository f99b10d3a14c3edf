import type { JSX } from 'preact';
import { type Answer, call } from '../api';
import { Chart, Legend, type Series } from '../chart';
import { Reading } from '../list';
import { count, percent } from '../numbers';
import { Ago, Heading, Outdated, Problem } from '../parts';
import { type InPeriod, inPeriod, type Period, periodInAddress, Periods, spanOf } from '../periods';
import { Cell, Head } from '../table';
import { length, localTime } from '../time';
import { Course } from '../tiles';
import { Numbers } from '../usage';
import { errorText } from './words';

/* How the deliveries to endpoints went. */

export type Statistics = Answer<'deliveryStatistics'>['data'][number];

const BARS: readonly Series<Statistics['buckets'][number]>[] = [
  { kind: 'fine', name: 'Delivered', of: ({ delivered }) => delivered },
  { kind: 'faults', name: 'Failed', of: ({ failed }) => failed },
];

/** The share of deliveries that were accepted; null if there were none. */
const successRate = ({ delivered, failed }: Statistics): number | null =>
  delivered + failed === 0 ? null : delivered / (delivered + failed);

/** The success rate of an endpoint and the course of its deliveries, in a row of the list. */
export function SuccessRate({ of: statistics }: { of: Statistics | undefined }): JSX.Element {
  if (!statistics || successRate(statistics) === null) return <>–</>;
  const { buckets, delivered, failed } = statistics;
  return (
    <span class="rate" title={`${count(delivered)} delivered, ${count(failed)} failed in the last 24 hours`}>
      {percent(successRate(statistics))}
      <Course
        of={buckets.map((bucket) => bucket.delivered + bucket.failed)}
        faults={buckets.map((one) => one.failed)}
      />
    </span>
  );
}

/** The statistics of the shown endpoint, in the period that is in the address. */
export class EndpointStatistics {
  #period: Period = periodInAddress();
  #endpoint = '';
  readonly reading: Reading<InPeriod<Statistics>>;

  constructor(draw: () => void) {
    this.reading = new Reading(async () => {
      const { data, period } = await inPeriod(
        this.#period,
        call('deliveryStatistics', { webhook_id: this.#endpoint, period: this.#period }),
      );
      const [statistics] = data;
      if (!statistics) throw new Error('no statistics of an endpoint');
      return { ...statistics, period };
    }, draw);
  }

  /** Reads those of an endpoint; pass undefined when its page is left. */
  async show(endpoint: string | undefined): Promise<boolean> {
    if (endpoint !== this.#endpoint) this.reading.clear();
    this.#endpoint = endpoint ?? '';
    if (endpoint === undefined) return true;
    this.#period = periodInAddress();
    return this.reading.load();
  }

  view(): JSX.Element {
    const { value, failure, again, isBusy } = this.reading;
    return (
      <section aria-labelledby="deliveries-statistics-title">
        <Heading as="h2" id="deliveries-statistics-title" title="Statistics">
          <Periods
            name="deliveries-period"
            label="Period of the statistics"
            of={this.#period}
            change={(to) => {
              this.#period = to;
              void this.reading.load();
            }}
          />
        </Heading>
        <Problem failure={failure} again={again} />
        {value && !failure && (
          <Outdated is={value.period !== this.#period} isBusy={isBusy}>
            <Figures of={value} />
          </Outdated>
        )}
      </section>
    );
  }
}

function Figures({ of: statistics }: { of: InPeriod<Statistics> }): JSX.Element {
  const { period, delivered, failed, p50_ms: median, counted_since: since, buckets, errors } = statistics;
  const figures = [
    ['Success rate', percent(successRate(statistics))],
    ['Delivered', count(delivered)],
    ['Failed', count(failed)],
    ['Median duration', median === null ? '–' : length(median)],
  ] as const;
  const description = `Deliveries in ${spanOf(period)}: ${count(delivered)} delivered, ${count(failed)} failed.`;
  return (
    <>
      {since !== null && (
        <p class="hint">
          Of the newest {count(delivered + failed)} deliveries, since {localTime(since)}.
        </p>
      )}
      <dl class="tiles">
        {figures.map(([name, value]) => (
          <div class="card" key={name}>
            <dt>{name}</dt>
            <dd class="figure">{value}</dd>
          </div>
        ))}
      </dl>
      <div class="card">
        <Legend of={BARS} />
        <Chart of={buckets} period={period} description={description} bars={BARS} />
      </div>
      {errors.length > 0 && <Errors of={errors} />}
    </>
  );
}

function Errors({ of: errors }: { of: Statistics['errors'] }): JSX.Element {
  return (
    <Numbers title="Errors" columns={['Error', 'Deliveries', 'Last']}>
      {errors.map((error) => (
        <tr key={error.error}>
          <Head label="Error">{errorText(error)}</Head>
          <Cell label="Deliveries">{count(error.deliveries)}</Cell>
          <Cell label="Last">
            <Ago at={error.last_at} />
          </Cell>
        </tr>
      ))}
    </Numbers>
  );
}
