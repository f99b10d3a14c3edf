import { trusted } from 'mongoose';
import { atMost, nativeCollection } from '../mongo/native';
import { DAY } from '../units';
import type { ControlModels } from './models';
import { codesOf, type CodeUsage, operationsOf, type OperationUsage, totalsOf, type UsageTotals } from './usageDetails';
import { eachCount, type UsageCounts, type UsageRow, type UsageUnit } from './usageRows';
import { startOf, UNIT_LENGTHS, USAGE_PERIODS, type UsagePeriod } from './usageUnits';

/* What was counted, for people and operators. */

export interface UsageBucket extends UsageTotals {
  readonly start: Date;
}

export interface UsageReport extends UsageTotals {
  /** All of the period, oldest first, including those without requests. */
  readonly buckets: UsageBucket[];
  readonly operations: OperationUsage[];
  readonly codes: CodeUsage[];
  /** The same length of time before; null without requests on a day before that, since a part of a period says nothing about another. */
  readonly previous: UsageTotals | null;
}

interface KeyTotals extends UsageCounts {
  readonly key_id: string;
}

/** Keys in an answer: those with the most requests. */
const MOST_KEYS = 10;
/** Keys among which these are looked for: those used last. */
const AMONG_KEYS = 1000;

export function createUsageReports({ usage, apiKeys }: Pick<ControlModels, 'usage' | 'apiKeys'>, now: () => number) {
  /** The start of a period that ends now. */
  function firstOf(period: UsagePeriod): number {
    const { unit, buckets } = USAGE_PERIODS[period];
    return startOf(now(), unit) - (buckets - 1) * UNIT_LENGTHS[unit];
  }

  /** The share of a unit that has passed, from 0 to 1. */
  const passedOf = (start: number, length: number): number => Math.min(1, Math.max(0, (now() - start) / length));

  /** `first` is the start of the first of so many `buckets`, each a unit long, in milliseconds since 1970. */
  async function report(keyId: string, unit: UsageUnit, first: number, buckets: number): Promise<UsageReport> {
    const length = UNIT_LENGTHS[unit];
    const before = first - buckets * length;
    const starts = Array.from({ length: buckets }, (_, at) => first + at * length);
    const end = first + buckets * length;
    const [all, earlier] = await Promise.all([
      usage.find({ key_id: keyId, unit, start: trusted({ $gte: new Date(before), $lt: new Date(end) }) }).lean(),
      usage.exists({ key_id: keyId, unit: 'day', start: trusted({ $lt: new Date(startOf(before, 'day')) }) }),
    ]);
    const rows = all.filter(({ start }) => start.getTime() >= first);
    return {
      ...totalsOf(rows),
      buckets: starts.map((at) => {
        const row = rows.find(({ start }) => start.getTime() === at);
        return { start: new Date(at), ...totalsOf(row ? [row] : []) };
      }),
      operations: operationsOf(rows),
      codes: codesOf(rows),
      previous: earlier && previousOf(all, first, length, passedOf(end - length, length)),
    };
  }

  return {
    /** The requests of a key, or of an organisation (organisationUsageId), in a period up to now. */
    read(keyId: string, period: UsagePeriod): Promise<UsageReport> {
      const { unit, buckets } = USAGE_PERIODS[period];
      return report(keyId, unit, firstOf(period), buckets);
    },
    /** The same from one day to another, both included, each as its midnight in UTC. */
    readDays: (keyId: string, from: Date, to: Date): Promise<UsageReport> =>
      report(keyId, 'day', from.getTime(), (to.getTime() - from.getTime()) / DAY + 1),
    /** The keys of an organisation with the most requests in a period up to now, most first. */
    async readByKey(organisationId: string, period: UsagePeriod): Promise<KeyTotals[]> {
      const first = new Date(firstOf(period));
      // whenever that was: a stream counts when it ends
      const keys = await apiKeys
        .find({ 'organisation.id': organisationId, last_used_at: trusted({ $ne: null }) }, { _id: 1 })
        .sort({ last_used_at: -1 })
        .setOptions(atMost(AMONG_KEYS))
        .lean();
      const { unit } = USAGE_PERIODS[period];
      const $match = { key_id: { $in: keys.map(({ _id }) => _id) }, unit, start: { $gte: first } };
      const $group = { _id: '$key_id', ...eachCount((name) => ({ $sum: `$${name}` })) };
      const stages = [{ $match }, { $group }, { $sort: { requests: -1, _id: 1 } }, { $limit: MOST_KEYS }];
      const totals = await nativeCollection(usage).aggregate<UsageCounts & { _id: string }>(stages).toArray();
      return totals.map(({ _id: key_id, ...counts }) => ({ key_id, ...counts }));
    },
  };
}

/** Totals of the rows before `first`. Of the unit just before it only `share` counts, the part of the current unit that has passed: both periods are then as long. */
function previousOf(all: readonly UsageRow[], first: number, length: number, share: number): UsageTotals {
  const rows = all.filter(({ start }) => start.getTime() < first);
  const whole = totalsOf(rows);
  const last = totalsOf(rows.filter(({ start }) => start.getTime() === first - length));
  return { ...whole, ...eachCount((name) => Math.round(whole[name] - last[name] * (1 - share))) };
}
