import type { OrganisationData } from '../tenant/organisationData';
import { startOf, UNIT_LENGTHS, USAGE_PERIODS, type UsagePeriod } from '../organisations/usageUnits';
import { type DeliveryRow, webhookDeliveries } from './deliveries';

/* How the deliveries to an endpoint went: counted from the stored ones, of which a bounded number is read. */

/** Deliveries that are read if statistics are of one endpoint; of each endpoint if they are of all; and then of all together. */
export const MOST_COUNTED = { one: 10_000, each: 1000, all: 20_000 } as const;
/** Different errors in an answer. */
const MOST_ERRORS = 10;

interface DeliveryBucket {
  readonly start: Date;
  delivered: number;
  failed: number;
}

interface ErrorCount {
  /** HTTP status of the answers; null if there was none. */
  readonly status: number | null;
  readonly error: string;
  deliveries: number;
  last_at: Date;
}

/** What is read of a delivery: when it began, and its last attempt if there was one. */
type CountedRow = Pick<DeliveryRow, 'at'> & {
  readonly last?: Pick<DeliveryRow['log'][number], 'at' | 'ok' | 'status' | 'error' | 'ms'>;
};

/** Counts the newest `most` deliveries of an endpoint that began in a period up to now, by their last attempt. */
export async function deliveryStatistics(data: OrganisationData, endpoint: string, period: UsagePeriod, most: number) {
  const { unit, buckets: count } = USAGE_PERIODS[period];
  const length = UNIT_LENGTHS[unit];
  const first = startOf(data.now(), unit) - (count - 1) * length;
  const rows = await newestRows(data, endpoint, most);
  const buckets = Array.from({ length: count }, (_, at): DeliveryBucket => ({
    start: new Date(first + at * length),
    delivered: 0,
    failed: 0,
  }));
  const errors = new Map<string, ErrorCount>();
  const times: number[] = [];
  for (const { at, last } of rows) {
    const bucket = buckets[Math.floor((at.getTime() - first) / length)];
    if (!bucket || !last) continue;
    if (last.ok) {
      bucket.delivered += 1;
      times.push(last.ms);
    } else {
      bucket.failed += 1;
      addTo(errors, last);
    }
  }
  const sum = (kind: 'delivered' | 'failed'): number => buckets.reduce((total, bucket) => total + bucket[kind], 0);
  // if not all were read, what is older than the oldest is not counted; of the period it has only late deliveries of old events
  const oldest = rows.length < most ? undefined : rows.at(-1)?.at;
  return {
    webhook_id: endpoint,
    delivered: sum('delivered'),
    failed: sum('failed'),
    counted_since: oldest && oldest.getTime() > first ? oldest : null,
    p50_ms: times.sort((left, right) => left - right)[Math.floor((times.length - 1) / 2)] ?? null,
    buckets,
    errors: [...errors.values()].sort((left, right) => right.deliveries - left.deliveries).slice(0, MOST_ERRORS),
  };
}

/** Newest event first. A period cannot be read alone: what an endpoint gets late has an old event. */
function newestRows(data: OrganisationData, endpoint: string, most: number): Promise<CountedRow[]> {
  return data
    .collection(webhookDeliveries)
    .aggregate<CountedRow>([
      { $match: { _id: { $gt: `${endpoint}.`, $lt: `${endpoint}/` } } },
      { $sort: { _id: -1 } },
      { $limit: most },
      { $project: { _id: 0, at: 1, last: { $arrayElemAt: ['$log', -1] } } },
      { $project: { 'last.answer': 0 } },
    ])
    .toArray();
}

/** Answers with one status are one error. */
function addTo(errors: Map<string, ErrorCount>, { at, status, error }: NonNullable<CountedRow['last']>): void {
  const name = status === null ? (error ?? '') : `HTTP ${String(status)}`;
  const found = errors.get(name) ?? { status, error: name, deliveries: 0, last_at: at };
  found.deliveries += 1;
  if (at > found.last_at) found.last_at = at;
  errors.set(name, found);
}
