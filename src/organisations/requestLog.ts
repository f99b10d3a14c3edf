import mongoose, { trusted } from 'mongoose';
import { UNKNOWN_ADDRESS } from '../auth/addresses';
import { areDuplicateKeys } from '../mongo/faults';
import { atMost, nativeCollection } from '../mongo/native';
import { findPage, type ListArguments, type Page } from '../tenant/pagination';
import { CODES, ERROR_CODES, invalidRequest } from '../errors';
import { between, withoutMissing } from './filters';
import type { ControlModels } from './models';
import { presentOrganisations } from './organisationRows';
import { type RequestFilters, statusesOf } from './requestFilters';
import { histogramOf, type IntervalCount, intervalsOf, type RequestHistogram } from './requestHistogram';
import { MAX_ROWS } from './requestLimits';
import type { RequestRow } from './requestRows';
import { requestSearchCondition } from './requestSearch';

export interface RequestQuery extends RequestFilters {
  readonly organisationId: string;
}
export interface RequestPageQuery extends Omit<ListArguments, 'sort'>, RequestQuery {}

/** The most keys in an answer of countByKey. */
const COUNTED_KEYS = 100;
/** Organisations among whose rows a request id is looked up in one command. */
const ORGANISATIONS_AT_ONCE = 1000;
const NEWEST_FIRST = { at: -1, _id: -1 } as const;

interface KeyRequests {
  readonly key_id: string;
  readonly requests: number;
  readonly last_at: Date;
  /** Scopes that the key lacked. */
  readonly missing_scopes: readonly string[];
}
interface CountedRow extends Pick<KeyRequests, 'requests' | 'last_at'> {
  readonly _id: string;
  readonly scopes: readonly (string | null)[];
}

export type RequestLog = ReturnType<typeof createRequestLog>;

/** Rows of all organisations, the newest, among which lastFromUnknown looks. */
const MOST_LOOKED_AT = 10_000;

/** Requests with keys (docs/decisions/request-log.md). `most` is how many rows of each kind an organisation keeps. */
export function createRequestLog(
  models: Pick<ControlModels, 'requests' | 'organisations'>,
  now: () => number,
  most = MAX_ROWS,
) {
  const { requests, organisations } = models;
  const native = nativeCollection(requests);

  return {
    /** Stores the rows of organisations that are not erased, also meanwhile (organisationRows.ts); those that an interrupted call already stored stay as they are. */
    async add(all: readonly RequestRow[]): Promise<void> {
      const before = await presentOrganisations(models, new Set(all.map((row) => row.organisation_id)));
      const rows = all.filter((row) => before.has(row.organisation_id));
      if (rows.length === 0) return;
      try {
        await native.insertMany(rows, { ordered: false });
      } catch (error) {
        if (!areDuplicateKeys(error)) throw error;
      }
      const after = await presentOrganisations(models, before);
      const gone = [...before].filter((id) => !after.has(id));
      if (gone.length > 0) await native.deleteMany({ organisation_id: { $in: gone } });
    },
    /** Deletes an organisation's oldest rows beyond its limit. */
    async trim(organisationId: string): Promise<void> {
      for (const failed of [true, false]) {
        const kind = { organisation_id: organisationId, failed };
        const firstBeyond = { sort: NEWEST_FIRST, skip: most, projection: { at: 1 } };
        const surplus = await native.findOne<Pick<RequestRow, 'at'>>(kind, firstBeyond);
        if (surplus) await native.deleteMany({ ...kind, at: { $lte: surplus.at } });
      }
    },
    /** @throws AppError invalid_request for an invalid status */
    page({ organisationId, limit, cursor, ...members }: RequestPageQuery): Promise<Page<RequestRow>> {
      const filters = withoutMissing(members);
      return findPage(native, {
        organisationId,
        operation: 'request_log',
        args: { limit: limit ?? null, cursor: cursor ?? null },
        filters: { ...filters },
        conditions: [{ organisation_id: organisationId }, ...conditionsOf(filters)],
        defaultSort: '-at',
        kindOf: () => 'dateTime',
      });
    },
    /** Counts matching requests by key; the key with the most comes first. @throws AppError like page */
    async countByKey(query: RequestQuery): Promise<KeyRequests[]> {
      const $group = {
        _id: '$key_id',
        requests: { $sum: 1 },
        last_at: { $max: '$at' },
        scopes: { $addToSet: '$missing_scope' },
      };
      const rows = await native.aggregate<CountedRow>([{ $match: filterOf(query) }, { $group }]).toArray();
      return rows
        .map(({ _id: key_id, scopes, ...counted }) => ({
          key_id,
          ...counted,
          missing_scopes: scopes.filter((scope) => scope !== null).sort(),
        }))
        .sort((left, right) => right.requests - left.requests)
        .slice(0, COUNTED_KEYS);
    },
    /** Counts matching requests of the last seven days by time. @throws AppError like page */
    async histogram(query: RequestQuery): Promise<RequestHistogram> {
      const intervals = intervalsOf(query.since, query.until, now());
      const { first, length, count } = intervals;
      if (count === 0) return histogramOf(intervals, []);
      const since = new Date(Math.max(first, Date.parse(query.since ?? '') || 0)).toISOString();
      // with `failed` in the filter, the index with it has all that is counted
      const either = query.failed == null ? { failed: trusted({ $in: [true, false] }) } : {};
      const $match = filterOf({ ...query, since }, [either]);
      const at = { $floor: { $divide: [{ $subtract: [{ $toLong: '$at' }, first] }, length] } };
      const $group = { _id: { at, failed: '$failed' }, requests: { $sum: 1 } };
      return histogramOf(intervals, await native.aggregate<IntervalCount>([{ $match }, { $group }]).toArray());
    },
    find: (organisationId: string, id: string): Promise<RequestRow | null> =>
      native.findOne({ _id: id, organisation_id: organisationId }),
    /** When a caller's address last could not be read (no proxy named it), according to the newest {@link MOST_LOOKED_AT} rows since a time. */
    async lastFromUnknown(since: Date): Promise<Date | undefined> {
      const newestRows = [{ $match: { at: { $gt: since } } }, { $sort: { at: -1 } }, { $limit: MOST_LOOKED_AT }];
      const firstUnknown = [{ $match: { address: UNKNOWN_ADDRESS } }, { $limit: 1 }];
      const [row] = await native.aggregate<Pick<RequestRow, 'at'>>([...newestRows, ...firstUnknown]).toArray();
      return row?.at;
    },
    /** The newest requests with a `request_id`, of all organisations, at most `limit`: callers may have chosen the same one. */
    async withRequestId(requestId: string, limit: number): Promise<RequestRow[]> {
      const rows: RequestRow[] = [];
      let ids: string[] = [];
      const readRows = async (): Promise<void> => {
        // by organisation, since their index begins with it
        const filter = { organisation_id: { $in: ids }, request_id: { $eq: requestId } };
        rows.push(...(await native.find(filter, { sort: NEWEST_FIRST, ...atMost(limit) }).toArray()));
        ids = [];
      };
      for await (const { _id: id } of organisations.find({}, { _id: 1 }).lean().cursor()) {
        ids.push(id);
        if (ids.length === ORGANISATIONS_AT_ONCE) await readRows();
      }
      if (ids.length > 0) await readRows();
      return rows.sort((left, right) => right.at.getTime() - left.at.getTime()).slice(0, limit);
    },
    /** The newest requests, at most `limit`. @throws AppError invalid_request for an invalid status */
    list: (query: RequestQuery, limit: number) =>
      native.find(filterOf(query), { sort: NEWEST_FIRST, ...atMost(limit) }).toArray(),
  };
}

/** The filter of a query, and of further conditions. @throws AppError invalid_request for an invalid status */
function filterOf({ organisationId, ...members }: RequestQuery, more: readonly Record<string, unknown>[] = []): object {
  const conditions = [{ organisation_id: organisationId }, ...conditionsOf(withoutMissing(members)), ...more];
  return mongoose.sanitizeFilter({ $and: conditions }) as object;
}

/** Filters as conditions. @throws AppError invalid_request for an invalid status */
function conditionsOf(filters: RequestFilters): Record<string, unknown>[] {
  const { status, key_id, since, until, search, ...others } = filters;
  const at = between(since, until);
  return [
    others,
    // what has a code has failed; with `failed`, an index serves the query
    ...(others.code == null ? [] : [{ failed: true }]),
    ...(key_id == null ? [] : [{ key_id: key_id.toLowerCase() }]),
    ...(at ? [{ at }] : []),
    ...(status == null ? [] : [statusCondition(status)]),
    ...(search == null || search.trim() === '' ? [] : [requestSearchCondition(search)]),
  ];
}

/** Matches a status or class of statuses; an error that GraphQL or MCP answers with 200 counts with the status of its code instead. */
function statusCondition(status: string): Record<string, unknown> {
  const [from, before] = statusesOf(status) ?? [];
  if (from === undefined || before === undefined) {
    const detail = 'must be a status, e.g. 404, or a class of them, e.g. 4xx';
    throw invalidRequest([{ parameter: 'status', code: 'format', detail }]);
  }
  const inRange = trusted({ $gte: from, $lt: before });
  // no code has a status below 400
  if (from <= 200 && before > 200) return { status: inRange, code: trusted({ $nin: CODES }) };
  const codes = Object.entries(ERROR_CODES).flatMap(([code, { status: codeStatus }]) =>
    codeStatus >= from && codeStatus < before ? [code] : [],
  );
  return { $or: [{ status: inRange }, { status: 200, code: trusted({ $in: codes }) }] };
}
