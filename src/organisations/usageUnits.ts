import { DAY, HOUR, MINUTE } from '../units';
import type { UsageUnit } from './usageRows';

/* The lengths of time in which usage is counted, how long each is kept, and the periods that are reported. */

export const UNIT_LENGTHS: Readonly<Record<UsageUnit, number>> = {
  five_minutes: 5 * MINUTE,
  hour: HOUR,
  day: DAY,
};

export const USAGE_PERIODS = {
  last_1h: { unit: 'five_minutes', buckets: 12 },
  last_24h: { unit: 'hour', buckets: 24 },
  last_7d: { unit: 'day', buckets: 7 },
  last_30d: { unit: 'day', buckets: 30 },
} as const satisfies Record<string, { unit: UsageUnit; buckets: number }>;
export type UsagePeriod = keyof typeof USAGE_PERIODS;

/** For how many days a day's counts are kept, including that day: 30, and a margin. admin.graphql says it, too. */
export const DAYS_KEPT = 32;
/**
 * The same for all keys of an organisation together: 60, so that the longest period can be compared with the one before, and 32 more, chosen, of which any row
 * says that requests were counted before both.
 */
const DAYS_OF_ALL_KEPT = 92;

const ORGANISATION_PREFIX = 'org:';

/** The id under which the requests of all keys of an organisation are counted, so that its total takes one read. */
export function organisationUsageId(organisationId: string): string {
  return ORGANISATION_PREFIX + organisationId;
}

/** The organisation whose requests are counted under an id; undefined for the id of a key. */
export function organisationInUsageId(id: string): string | undefined {
  return id.startsWith(ORGANISATION_PREFIX) ? id.slice(ORGANISATION_PREFIX.length) : undefined;
}

/** Start of the unit that a time is in, in UTC. */
export function startOf(time: number, unit: UsageUnit): number {
  return Math.floor(time / UNIT_LENGTHS[unit]) * UNIT_LENGTHS[unit];
}

/** How long a row is kept after its start, in milliseconds: parts of a day for at least two of the period that shows them, since it is compared with the one before. */
export function keptFor(id: string, unit: UsageUnit): number {
  // an hour more than two: counts are stored up to minutes late if the database was away
  if (unit === 'five_minutes') return 3 * HOUR;
  if (unit === 'hour') return 2 * DAY;
  return (organisationInUsageId(id) === undefined ? DAYS_KEPT : DAYS_OF_ALL_KEPT) * DAY;
}
