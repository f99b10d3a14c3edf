import type { Page } from '../tenant/pagination';
import { invalidRequest, notFound } from '../errors';
import type { AuditPageQuery } from '../organisations/audit';
import type { AuditEvent } from '../organisations/auditRows';
import type { Control } from '../organisations/control';
import { DAYS_KEPT, organisationUsageId, type UsagePeriod } from '../organisations/usageUnits';
import type { RequestPageQuery, RequestQuery } from '../organisations/requestLog';
import { shownRequest } from '../organisations/requestName';
import { DAY } from '../units';
import type { AdminContext } from './caller';
import { keyOf } from './keys';

/* What an organisation's keys and people did. */

interface Days {
  /** YYYY-MM-DD. */
  readonly from?: string | null;
  readonly to?: string | null;
}

interface UsageQuery extends Days {
  /** Of one key; if it is missing, of all, including revoked and expired ones. */
  readonly key_id?: string | null;
  /** Instead of days. */
  readonly period?: UsagePeriod | null;
}

/** Days of usage in an answer, if no first day is given. */
const USUAL_DAYS = 30;
/** Bounds an answer whose `to` is far in the future: fewer days are kept. */
const MAX_DAYS = 100;

export function createReportOperations({ organisation, isOperator }: AdminContext, control: Control) {
  const { apiKeys, audit, usage, requests } = control;
  const organisationId = organisation.id;

  return {
    async usage({ key_id, period, ...days }: UsageQuery) {
      const id =
        key_id == null ? organisationUsageId(organisationId) : (await keyOf(apiKeys, organisationId, key_id))._id;
      if (period == null) {
        const { first, last } = rangeOf(days, control.now());
        return usage.readDays(id, first, last);
      }
      if (days.from != null || days.to != null) refuse('period', 'not_allowed', 'cannot be combined with days');
      return usage.read(id, period);
    },
    usage_by_key: async ({ period }: { readonly period: UsagePeriod }) => ({
      data: await usage.readByKey(organisationId, period),
    }),
    audit_events: async (query: Omit<AuditPageQuery, 'organisationId' | 'isOperator'>) =>
      mapPage(await audit.page({ ...query, organisationId, isOperator }), auditEvent),
    request_log: async (query: Omit<RequestPageQuery, 'organisationId'>) =>
      mapPage(await requests.page({ ...query, organisationId }), shownRequest),
    async logged_request({ id }: { readonly id: string }) {
      const row = await requests.find(organisationId, id.toLowerCase());
      if (!row) throw notFound('request in the log');
      return shownRequest(row);
    },
    request_histogram: (query: Omit<RequestQuery, 'organisationId'>) =>
      requests.histogram({ ...query, organisationId }),
    request_counts: async (query: Omit<RequestQuery, 'organisationId'>) => ({
      data: await requests.countByKey({ ...query, organisationId }),
    }),
  };
}

/**
 * The first and last day of usage to answer with, as midnight in UTC. Only the last DAYS_KEPT can be read, also of all keys together: of these, older
 * days are kept only for the comparison with the period before. @throws AppError invalid_request
 */
function rangeOf({ from, to }: Days, now: number): { readonly first: Date; readonly last: Date } {
  const today = Math.floor(now / DAY) * DAY;
  const earliest = today - (DAYS_KEPT - 1) * DAY;
  const last = to == null ? today : Date.parse(to);
  const first = from == null ? Math.max(last - (USUAL_DAYS - 1) * DAY, earliest) : Date.parse(from);
  if (from != null && first < earliest)
    refuse('from', 'range', `must be at or after ${dayOf(earliest)}: the last ${String(DAYS_KEPT)} days can be read`);
  if (first > last && to == null) refuse('from', 'range', `must not be after today, ${dayOf(today)}`);
  if (first > last || last - first >= MAX_DAYS * DAY)
    refuse('to', 'range', `must be at or after ${dayOf(first)}, and at most ${String(MAX_DAYS - 1)} days later`);
  return { first: new Date(first), last: new Date(last) };
}

function refuse(parameter: string, code: 'range' | 'not_allowed', detail: string): never {
  throw invalidRequest([{ parameter, code, detail }]);
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

function mapPage<From, To>(page: Page<From>, map: (row: From) => To): Page<To> {
  return { ...page, data: page.data.map(map) };
}

/** An event as an answer has it: `details` as JSON text. */
function auditEvent({ _id: id, at, action, actor, key_id, times = 1, last_at = at, details }: AuditEvent) {
  const { who, name, from } = actor;
  return {
    id,
    at,
    times,
    last_at,
    action,
    actor: who,
    actor_name: name ?? null,
    from,
    key_id,
    details: JSON.stringify(details),
  };
}
