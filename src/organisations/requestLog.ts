import { trusted } from 'mongoose';
import { UNKNOWN_ADDRESS } from '../auth/addresses';
import { areDuplicateKeys } from '../database/faults';
import { nativeCollection } from '../database/native';
import { findPage, type ListArguments, type Page } from '../database/pagination';
import { invalidRequest } from '../errors';
import type { ControlModels } from './models';
import { presentOrganisations } from './organisations';
import { type RequestFilters, statusesOf } from './requestFilters';
import type { RequestRow } from './requestRows';

/** Rows of an organisation that are kept, of those that failed and of the others. */
export const MOST_ROWS = 10_000;
/** Rows that are read at once. */
const AT_ONCE = 100;

/** A page of an organisation's requests, newest first. */
export interface RequestPageQuery extends ListArguments, RequestFilters {
  readonly organisationId: string;
}

export type RequestLog = ReturnType<typeof requestLog>;

/** The requests that were made with keys (docs/decisions/request-log.md). */
export function requestLog(models: Pick<ControlModels, 'requests' | 'organisations'>, most = MOST_ROWS) {
  const { requests } = models;
  const native = nativeCollection(requests);

  /** @throws AppError invalid_request for a status that is none */
  function page({ organisationId, limit, cursor, ...given }: RequestPageQuery): Promise<Page<RequestRow>> {
    const filters = Object.fromEntries(
      Object.entries(given).filter(([, value]) => value !== null && value !== undefined),
    );
    return findPage(requests, {
      ...{ organisationId, operation: 'request_log', args: { limit: limit ?? null, cursor: cursor ?? null }, filters },
      conditions: [{ organisation_id: organisationId, ...conditionsOf(filters) }],
      defaultSort: '-at',
    });
  }

  return {
    /** Stores rows of organisations that are not erased; those that an interrupted call has stored already are left as they are. */
    async add(all: readonly RequestRow[]): Promise<void> {
      const before = await presentOrganisations(models, all.map(organisationOf));
      const rows = all.filter((row) => before.has(organisationOf(row)));
      if (rows.length === 0) return;
      try {
        await native.insertMany([...rows], { ordered: false });
      } catch (error) {
        if (!areDuplicateKeys(error)) throw error;
      }
      const after = await presentOrganisations(models, before);
      const gone = [...before].filter((id) => !after.has(id));
      if (gone.length > 0) await native.deleteMany({ organisation_id: { $in: gone } });
    },
    /** Deletes the oldest rows of an organisation that has more than it may. */
    async trim(organisationId: string): Promise<void> {
      for (const failed of [true, false]) {
        const kind = { organisation_id: organisationId, failed };
        const newestFirst = { sort: { at: -1, _id: -1 }, projection: { at: 1 } } as const;
        const surplus = await native.findOne<Pick<RequestRow, 'at'>>(kind, { ...newestFirst, skip: most });
        if (surplus) await native.deleteMany({ ...kind, at: { $lte: surplus.at } });
      }
    },
    page,
    /** When a key was last used from an address that could not be read, in the newest rows since a time. */
    async lastFromUnknown(since: Date): Promise<Date | undefined> {
      const newest = [{ $match: { at: { $gt: since } } }, { $sort: { at: -1 } }, { $limit: MOST_ROWS }];
      const found = [{ $match: { address: UNKNOWN_ADDRESS } }, { $limit: 1 }];
      const [row] = await native.aggregate<Pick<RequestRow, 'at'>>([...newest, ...found]).toArray();
      return row?.at;
    },
    /** The newest requests, at most `limit`, read in parts. @throws AppError invalid_request */
    async list(query: Omit<RequestPageQuery, 'limit' | 'cursor'>, limit: number): Promise<RequestRow[]> {
      const rows: RequestRow[] = [];
      for (let [cursor, hasMore] = [null as string | null, true]; hasMore && rows.length < limit;) {
        const part = await page({ ...query, cursor, limit: Math.min(AT_ONCE, limit - rows.length) });
        rows.push(...part.data);
        cursor = part.next_cursor;
        hasMore = part.has_more;
      }
      return rows;
    },
  };
}

function organisationOf({ organisation_id }: RequestRow): string {
  return organisation_id;
}

function conditionsOf({ status, key_id, ...others }: RequestFilters): Record<string, unknown> {
  return {
    ...others,
    ...(typeof key_id === 'string' && { key_id: key_id.toLowerCase() }),
    ...(typeof status === 'string' && { status: statusCondition(status) }),
  };
}

function statusCondition(filter: string): unknown {
  const statuses = statusesOf(filter);
  if (statuses) return trusted({ $gte: statuses[0], $lt: statuses[1] });
  const detail = 'must be a status, e.g. 404, or a class of them, e.g. 4xx';
  throw invalidRequest([{ parameter: 'status', code: 'format', detail }]);
}
