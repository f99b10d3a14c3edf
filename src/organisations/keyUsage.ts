import { trusted } from 'mongoose';
import { failedWrites } from '../mongo/faults';
import { nativeCollection } from '../mongo/native';
import { presentOrganisations } from './organisationRows';
import { DAY, HOUR } from '../units';
import type { ControlModels } from './models';
import { codesOf, type CodeUsage, type Details, operationsOf, type OperationUsage } from './usageDetails';
import type { UsageCounts, UsageRow } from './usageRows';

export interface UsageBucket extends Required<UsageCounts> {
  readonly start: Date;
}

export type UsagePeriod = 'last_24h' | 'last_30d';

export interface UsageReport {
  /** Every hour or day, oldest first, including those without requests. */
  readonly buckets: UsageBucket[];
  readonly operations: OperationUsage[];
  readonly codes: CodeUsage[];
}

/** Counts of one key or organisation in one hour. */
export interface UsageEntry extends UsageCounts {
  readonly keyId: string;
  readonly hour: Date;
  /** By operation and error code. */
  readonly details?: Details;
  /** The units in which these counts are not stored yet; both by default. */
  readonly units?: readonly Unit[];
}

type Unit = UsageRow['unit'];

const LENGTHS: Readonly<Record<Unit, number>> = { hour: HOUR, day: DAY };
/** For how many days a day's counts are kept, including that day. */
export const DAYS_KEPT = 32;
/** How long a row is kept after its start: slightly longer than the period it is shown for. */
const KEPT_FOR: Readonly<Record<Unit, number>> = { hour: 2 * DAY, day: DAYS_KEPT * DAY };
const PERIODS = {
  last_24h: { unit: 'hour', buckets: 24 },
  last_30d: { unit: 'day', buckets: 30 },
} as const satisfies Record<UsagePeriod, { unit: Unit; buckets: number }>;

const UNITS: readonly Unit[] = ['hour', 'day'];

const ORGANISATION_PREFIX = 'org:';

/** The id under which the requests of all keys of an organisation are counted, so that its total takes one read. */
export function organisationUsageId(organisationId: string): string {
  return ORGANISATION_PREFIX + organisationId;
}

export type KeyUsage = ReturnType<typeof createKeyUsage>;

export function createKeyUsage(models: ControlModels) {
  const { usage, apiKeys } = models;
  const native = nativeCollection(usage);

  /** Those of the ids whose organisation exists and is not being erased. */
  async function withOrganisation(ids: readonly string[]): Promise<Set<string>> {
    const keys = await apiKeys.find({ _id: trusted({ $in: ids }) }, { organisation: 1 }).lean();
    const owners = new Map(keys.map(({ _id, organisation }) => [_id, organisation.id]));
    const ownerOf = (id: string): string =>
      id.startsWith(ORGANISATION_PREFIX) ? id.slice(ORGANISATION_PREFIX.length) : (owners.get(id) ?? '');
    const organisations = await presentOrganisations(models, new Set(ids.map(ownerOf)));
    return new Set(ids.filter((id) => organisations.has(ownerOf(id))));
  }

  /** `first` is the start of the first of `buckets` hours or days. */
  async function report(keyId: string, unit: Unit, first: number, buckets: number): Promise<UsageReport> {
    const starts = Array.from({ length: buckets }, (_, at) => first + at * LENGTHS[unit]);
    const within = trusted({ $gte: new Date(first), $lte: new Date(starts.at(-1) ?? first) });
    const rows = await usage.find({ key_id: keyId, unit, start: within }).lean();
    const byStart = new Map(rows.map((row) => [row.start.getTime(), row]));
    return {
      buckets: starts.map((start) => {
        const { requests = 0, errors = 0, rate_limited = 0, mcp = 0 } = byStart.get(start) ?? {};
        return { start: new Date(start), requests, errors, rate_limited, mcp };
      }),
      operations: operationsOf(rows),
      codes: codesOf(rows),
    };
  }

  return {
    /**
     * Adds counts to their hours and days in one command. Resolves with those that could not be added, after calling `onError`; the
     * others must not be added again. Counts of organisations that are gone are dropped. @throws if none was added
     */
    async add(all: readonly UsageEntry[], onError?: (error: unknown) => void): Promise<readonly UsageEntry[]> {
      // before and after, in case an organisation is erased in between (organisationRows.ts)
      const before = await withOrganisation(all.map(({ keyId }) => keyId));
      const parts = all
        .filter(({ keyId }) => before.has(keyId))
        .flatMap((entry) => (entry.units ?? UNITS).map((unit) => ({ ...entry, units: [unit] as const })));
      if (parts.length === 0) return [];
      let failed: ReadonlySet<number> | undefined;
      try {
        await native.bulkWrite(parts.map(increment), { ordered: false });
      } catch (error) {
        failed = failedWrites(error);
        if (!failed) throw error;
        onError?.(error);
      }
      // no failure from here on may cause the counts to be written again
      const after = await withOrganisation([...before]).catch(() => before);
      const gone = [...before].filter((id) => !after.has(id));
      if (gone.length > 0) await native.deleteMany({ key_id: { $in: gone } }).catch(() => undefined);
      return parts.filter((_part, at) => failed?.has(at));
    },
    /** The requests of a key, or of an organisation ({@link organisationUsageId}), in a period up to now. */
    read(keyId: string, period: UsagePeriod): Promise<UsageReport> {
      const { unit, buckets } = PERIODS[period];
      const last = startOf(new Date(), unit).getTime();
      return report(keyId, unit, last - (buckets - 1) * LENGTHS[unit], buckets);
    },
    /** The same from one day to another, both included. */
    readDays: (keyId: string, from: Date, to: Date): Promise<UsageReport> =>
      report(keyId, 'day', from.getTime(), (to.getTime() - from.getTime()) / DAY + 1),
  };
}

type Part = UsageEntry & { readonly units: readonly [Unit] };

function increment({ keyId, hour, requests, errors, rate_limited, mcp = 0, details, units: [unit] }: Part) {
  const start = startOf(hour, unit);
  return {
    updateOne: {
      filter: { _id: `${keyId}:${unit}:${start.toISOString()}` },
      update: {
        $inc: { requests, errors, rate_limited, mcp, ...Object.fromEntries(details ?? []) },
        $setOnInsert: { key_id: keyId, unit, start, ends_at: new Date(start.getTime() + KEPT_FOR[unit]) },
      },
      upsert: true,
    },
  };
}

/** Start of the hour or day, in UTC. */
function startOf(moment: Date, unit: Unit): Date {
  return new Date(Math.floor(moment.getTime() / LENGTHS[unit]) * LENGTHS[unit]);
}
