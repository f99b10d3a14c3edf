import { trusted } from 'mongoose';
import { failedWrites } from '../mongo/faults';
import { nativeCollection } from '../mongo/native';
import { presentOrganisations } from './organisationRows';
import type { ControlModels } from './models';
import type { Details } from './usageDetails';
import { createUsageReports } from './usageReports';
import { USAGE_UNITS, type UsageCounts, type UsageUnit } from './usageRows';
import { keptFor, organisationInUsageId, startOf } from './usageUnits';

/** Counts of one key or organisation at one time. */
export interface UsageEntry extends UsageCounts {
  /** Id of the key, or what organisationUsageId makes of the organisation's. */
  readonly keyId: string;
  readonly at: Date;
  /** By operation and error code. */
  readonly details?: Details;
  /** The units in which these counts are not stored yet; all by default. */
  readonly units?: readonly UsageUnit[];
}

export type KeyUsage = ReturnType<typeof createKeyUsage>;

export function createKeyUsage(models: ControlModels, now: () => number) {
  const { usage, apiKeys } = models;
  const native = nativeCollection(usage);

  /** Those of the ids whose organisation exists and is not being erased. */
  async function withOrganisation(ids: readonly string[]): Promise<Set<string>> {
    const keys = await apiKeys.find({ _id: trusted({ $in: ids }) }, { organisation: 1 }).lean();
    const owners = new Map(keys.map(({ _id, organisation }) => [_id, organisation.id]));
    const ownerOf = (id: string): string => organisationInUsageId(id) ?? owners.get(id) ?? '';
    const organisations = await presentOrganisations(models, new Set(ids.map(ownerOf)));
    return new Set(ids.filter((id) => organisations.has(ownerOf(id))));
  }

  return {
    /**
     * Adds counts to their rows of each unit in one command. Resolves with those that could not be added, after calling `onError`; the
     * others must not be added again. Counts of organisations that are gone are dropped. @throws if none was added
     */
    async add(all: readonly UsageEntry[], onError?: (error: unknown) => void): Promise<readonly UsageEntry[]> {
      // asked before and after, in case an organisation is erased in between (organisationRows.ts)
      const before = await withOrganisation(all.map(({ keyId }) => keyId));
      const parts = all
        .filter(({ keyId }) => before.has(keyId))
        .flatMap((entry) => (entry.units ?? USAGE_UNITS).map((unit) => ({ ...entry, units: [unit] as const })));
      if (parts.length === 0) return [];
      // indexes in `parts`
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
      return parts.filter((_part, index) => failed?.has(index));
    },
    ...createUsageReports(models, now),
  };
}

/** Counts for one row: those of one unit. */
type Part = UsageEntry & { readonly units: readonly [UsageUnit] };

function increment({ keyId, at, requests, errors, rate_limited, mcp = 0, details, units: [unit] }: Part) {
  const start = new Date(startOf(at.getTime(), unit));
  return {
    updateOne: {
      filter: { _id: `${keyId}:${unit}:${start.toISOString()}` },
      update: {
        $inc: { requests, errors, rate_limited, mcp, ...Object.fromEntries(details ?? []) },
        $setOnInsert: { key_id: keyId, unit, start, ends_at: new Date(start.getTime() + keptFor(keyId, unit)) },
      },
      upsert: true,
    },
  };
}
