import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { mongo } from 'mongoose';
import { MOST_ENDPOINTS, type Plans } from '../auth/plans';
import { nativeCollection } from '../mongo/native';
import { validationFailed } from '../errors';
import type { AuditAction, Authority } from './auditEvents';
import type { NoteId } from './creations';
import type { ControlModels } from './models';
import { holdOrganisation } from './organisationRows';
import { createLastKnown } from './lastKnown';
import { BEAT_EVERY } from './webhookLeases';
import {
  type DisabledReason,
  ENDPOINT_STATES,
  type EndpointRow,
  type EndpointState,
  ownerOf,
  ownersOf,
  storedOwner,
} from './webhookRows';

/* How people manage webhook endpoints; webhookLeases.ts is about delivering to them. */

interface NewEndpoint extends Pick<EndpointRow, 'url' | 'types' | 'position' | 'created_by' | 'master'> {
  readonly organisationId: string;
  readonly customerIds?: readonly string[] | undefined;
}

interface Change {
  readonly update: mongo.UpdateFilter<EndpointRow>;
  readonly action: AuditAction;
  readonly details?: Readonly<Record<string, unknown>>;
}

const NO_FAILURES = { failed: [], failing_since: null, probes: 0 } as const;
const NO_LEASE = { holder: null, until: new Date(0) } as const;

/** How many endpoints match a filter, and some of them: at most {@link SAMPLE_SIZE}, those whose secret was replaced last first. */
export interface Sample {
  readonly count: number;
  readonly rows: readonly Pick<EndpointRow, '_id' | 'organisation_id' | 'rotated_at'>[];
}
const SAMPLE_SIZE = 20;

/** Why an organisation gets no further endpoint, if its plan includes this many. */
export const tooManyEndpoints = (most: number): string =>
  most === 0
    ? 'the plan of the organisation includes no webhook endpoints'
    : `the organisation has ${String(most)} webhook ${most === 1 ? 'endpoint' : 'endpoints'}, the most that its plan includes; delete one first`;

/** The row of an endpoint that is enabled at a time. */
export const newEndpoint = ({ organisationId, customerIds, ...input }: NewEndpoint, at: Date): EndpointRow => ({
  _id: randomUUID(),
  organisation_id: storedOwner(organisationId, customerIds),
  ...(customerIds && { customer_ids: customerIds }),
  ...input,
  state: 'enabled',
  disabled: null,
  version: 1,
  rotated_at: null,
  ...NO_FAILURES,
  last_success_at: null,
  parked: 0,
  due: at,
  wakes: 0,
  ...NO_LEASE,
  created_at: at,
});

/**
 * How long the gateway that holds a lease may go on posting after it lost it, in milliseconds: until it next renews the lease, and then one post,
 * whose answer has 17 s (ANSWER_WITHIN and BODY_WITHIN in webhooks/post.ts), and a second for the rest.
 */
const POSTS_AFTER_LOSS = BEAT_EVERY + 18_000;

/** The members that end the lease of an endpoint, or a rest that its receiver asked for. No other gateway begins while the holder may still be posting. */
function withoutHolder({ holder, state, until }: EndpointRow, now: number): Pick<EndpointRow, 'holder' | 'until'> {
  // the `until` of a disabled endpoint is the end of the lease that it lost
  const isLeased = holder !== null || state === 'disabled';
  return isLeased ? { holder: null, until: new Date(Math.min(until.getTime(), now + POSTS_AFTER_LOSS)) } : NO_LEASE;
}

/** Matches endpoints whose secret is derived from another master secret than those with these fingerprints; null stands for that of rows that name none. */
const otherMasters = (masters: readonly (string | null)[]): mongo.Filter<EndpointRow> =>
  // MongoDB's null also matches a member that is missing
  ({ master: { $nin: masters as string[] } });

export function createWebhookEndpoints(models: ControlModels, plans: Plans, now: () => number) {
  const rows = nativeCollection(models.webhookEndpoints);

  const counts = async (): Promise<ReadonlyMap<EndpointState, number>> =>
    new Map(
      await Promise.all(ENDPOINT_STATES.map(async (state) => [state, await rows.countDocuments({ state })] as const)),
    );

  async function sample(filter: mongo.Filter<EndpointRow>): Promise<Sample> {
    const projection = { organisation_id: 1, rotated_at: 1 } as const;
    const first = { projection, sort: { rotated_at: -1, _id: 1 }, limit: SAMPLE_SIZE } as const;
    const sampleRows = await rows.find(filter, first).toArray();
    const count = sampleRows.length < SAMPLE_SIZE ? sampleRows.length : await rows.countDocuments(filter);
    return { count, rows: sampleRows };
  }

  const filterOf = (id: string, { organisationId }: Pick<Authority, 'organisationId'>) => ({
    _id: id,
    ...(organisationId !== undefined && { organisation_id: ownersOf([organisationId]) }),
  });

  /**
   * Changes an endpoint that `by` may change; undefined if there is none. If `work` returns no change, nothing is written, not even an audit
   * event, and the endpoint is returned as it is; otherwise callers could flood the audit log.
   */
  const change = (
    id: string,
    by: Authority,
    work: (before: EndpointRow) => Change | undefined,
    {
      noteId,
      beforeCommit,
    }: { readonly noteId?: NoteId | undefined; readonly beforeCommit?: () => Promise<void> } = {},
  ): Promise<EndpointRow | undefined> =>
    models.change(async (session, record) => {
      await noteId?.(session, id);
      const before = await rows.findOne(filterOf(id, by), { session });
      const changed = before && work(before);
      if (!changed) return before ?? undefined;
      const { update, action, details } = changed;
      const after = await rows.findOneAndUpdate({ _id: id }, update, { session, returnDocument: 'after' });
      if (after) await record(by.actor, action, ownerOf(after), { endpoint: id, url: after.url, ...details });
      await beforeCommit?.();
      return after ?? undefined;
    });

  return {
    /** Undefined if the organisation does not exist. @throws AppError validation_failed beyond the `webhook_endpoints` of its plan */
    create(input: NewEndpoint, by: Authority, noteId?: NoteId): Promise<EndpointRow | undefined> {
      const { organisationId, customerIds, url, types } = input;
      return models.change(async (session, record) => {
        const row = newEndpoint(input, new Date(now()));
        await noteId?.(session, row._id);
        // writes the organisation's row, so that two creations cannot both take the last place
        const organisation = await holdOrganisation(models, organisationId, session);
        if (!organisation) return undefined;
        const most = plans.of(organisation).webhook_endpoints;
        // a limit of 0 would be none
        const first = { session, limit: most + 1, projection: { _id: 1 } } as const;
        const storedEndpoints = await rows.find({ organisation_id: ownersOf([organisationId]) }, first).toArray();
        if (storedEndpoints.length >= most)
          throw validationFailed([{ pointer: '/url', code: 'too_many', detail: tooManyEndpoints(most) }]);
        await rows.insertOne(row, { session });
        await record(by.actor, 'webhook.created', organisationId, {
          endpoint: row._id,
          url,
          types,
          ...(customerIds && { customer_ids: customerIds }),
        });
        return row;
      });
    },
    /** An organisation's endpoints, oldest first. */
    list: (organisationId: string): Promise<EndpointRow[]> =>
      rows
        .find({ organisation_id: ownersOf([organisationId]) }, { sort: { created_at: 1 }, limit: MOST_ENDPOINTS })
        .toArray(),
    find: async (id: string, by: Pick<Authority, 'organisationId'>): Promise<EndpointRow | undefined> =>
      (await rows.findOne(filterOf(id, by))) ?? undefined,
    /** The change applies from the next page of events on. */
    update: (id: string, set: Partial<Pick<EndpointRow, 'url' | 'types'>>, by: Authority) =>
      change(id, by, (before) => {
        const old = Object.entries(set).map(([name]) => [name, before[name as keyof typeof set]] as const);
        const from = Object.fromEntries(old);
        if (isDeepStrictEqual(from, set)) return undefined;
        return { update: { $set: set }, action: 'webhook.updated', details: { ...set, from, to: set } };
      }),
    /** Replaces its secret by one that is derived from the master secret with this fingerprint. */
    rotate: (id: string, master: string, by: Authority, noteId?: NoteId) =>
      change(
        id,
        by,
        ({ master: former }) => ({
          update: {
            $set: { rotated_at: new Date(now()), master, ...(former !== undefined && { former_master: former }) },
            $inc: { version: 1 },
          },
          action: 'webhook.rotated',
        }),
        { noteId },
      ),
    /**
     * Delivers again, from a position or from where the endpoint stopped. `beforeCommit` changes its deliveries, in another database: once the
     * change is known to be allowed, and before a gateway can work on the endpoint. It may run again after a conflict.
     */
    enable: (
      id: string,
      from: { readonly position: string; readonly time: Date } | undefined,
      by: Authority,
      beforeCommit: () => Promise<void>,
    ): Promise<EndpointRow | undefined> => {
      const work = (before: EndpointRow): Change => {
        const begun = {
          state: 'enabled',
          disabled: null,
          ...NO_FAILURES,
          ...withoutHolder(before, now()),
          due: new Date(now()),
        } as const;
        const set = { ...begun, ...(from && { position: from.position, parked: 0 }) };
        const details = { from: from?.time ?? 'where it stopped' };
        return { update: { $set: set, $inc: { wakes: 1 } }, action: 'webhook.enabled', details };
      };
      return change(id, by, work, { beforeCommit });
    },
    /** An endpoint that is disabled already keeps its first reason. */
    disable: (id: string, reason: DisabledReason, by: Authority): Promise<EndpointRow | undefined> =>
      change(id, by, (before) => {
        if (before.state === 'disabled') return undefined;
        const set = {
          state: 'disabled',
          disabled: { reason, at: new Date(now()) },
          ...withoutHolder(before, now()),
        } as const;
        return { update: { $set: set, $unset: { due: '' } }, action: 'webhook.disabled', details: { reason } };
      }),
    remove: (id: string, by: Authority): Promise<EndpointRow | undefined> =>
      models.change(async (session, record) => {
        const endpoint = await rows.findOneAndDelete(filterOf(id, by), { session });
        if (!endpoint) return undefined;
        await record(by.actor, 'webhook.deleted', ownerOf(endpoint), { endpoint: id, url: endpoint.url });
        return endpoint;
      }),
    /** Whether any organisation has an endpoint; with `except`, only endpoints with a master secret other than these count. */
    any: async ({ except = [] }: { readonly except?: readonly (string | null)[] } = {}): Promise<boolean> =>
      (await rows.findOne(otherMasters(except), { projection: { _id: 1 } })) !== null,
    /** Endpoints whose secret is derived from another master secret than these. */
    except: (masters: readonly (string | null)[]): Promise<Sample> => sample(otherMasters(masters)),
    /** Endpoints whose secret was replaced since a time, and whose former one is derived from another master secret than these. */
    formerExcept: (masters: readonly (string | null)[], since: Date): Promise<Sample> =>
      sample({ rotated_at: { $gt: since }, former_master: { $nin: masters as string[] } }),
    counts,
    lastCounts: createLastKnown<ReadonlyMap<EndpointState, number>>(new Map(), counts),
  };
}
