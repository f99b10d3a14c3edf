import { trusted } from 'mongoose';
import { AUDIT_GROUPS, type AuditAction, OPERATORS_ACTIONS } from './auditEvents';
import type { AuditEvent } from './auditRows';
import { between, withoutMissing } from './filters';
import { atMost, nativeCollection } from '../mongo/native';
import { HOUR } from '../units';
import { findPage, type ListArguments, type Page } from '../tenant/pagination';
import type { ControlModels } from './models';

export interface AuditQuery {
  readonly organisationId?: string | undefined;
  readonly action?: AuditAction | undefined;
  /** Of an event that was repeated: since when it happened last. */
  readonly since?: Date | undefined;
  readonly limit: number;
}

export type CustomerAction = Extract<AuditAction, `customer.${string}`>;

interface CustomerEventQuery {
  readonly organisationId: string;
  readonly customerId: string;
  readonly action: CustomerAction;
  readonly after: Date;
  /** `actor.name` of replays: an event of theirs may be of that very time; another's is then the one that is replayed. */
  readonly replayName: string;
}

interface EndpointEventQuery {
  readonly organisationId: string;
  readonly endpoint: string;
  readonly actions: readonly AuditAction[];
  readonly since: Date;
}

export interface AuditPageQuery extends Omit<ListArguments, 'sort'> {
  readonly organisationId: string;
  /** Whether what only operators see is listed, too. */
  readonly isOperator: boolean;
  /** An action or the name of a group of them. */
  readonly action?: string | null;
  readonly key_id?: string | null;
  /** As stored in `actor.who`, or one of {@link ACTOR_KINDS}. */
  readonly actor?: string | null;
  /** ISO 8601; the end is not included. */
  readonly since?: string | null;
  readonly until?: string | null;
}

/** The kinds of actors that can be asked for as a whole: there are few of each, unlike users, and apps, which may register anew each time. */
const ACTOR_KINDS: readonly string[] = ['cli', 'operator', 'system'];

export function createAuditLog({ auditEvents }: ControlModels) {
  /** Matches an actor, or all of a kind: by a list of them, since the index has the events of each in the order of a page. */
  async function actorCondition(organisationId: string, actor: string) {
    if (!ACTOR_KINDS.includes(actor)) return actor;
    // all that begin with the kind and a colon: `;` is the next character
    const ofKind = { organisation_id: organisationId, 'actor.who': trusted({ $gt: `${actor}:`, $lt: `${actor};` }) };
    return trusted({ $in: await auditEvents.distinct('actor.who', ofKind) });
  }

  return {
    async page({ organisationId, isOperator, limit, cursor, ...members }: AuditPageQuery): Promise<Page<AuditEvent>> {
      const { action, key_id, actor, since, until } = members;
      const at = between(since, until);
      const condition = {
        organisation_id: organisationId,
        ...actionCondition(action, isOperator),
        ...(key_id != null && { key_id: key_id.toLowerCase() }),
        ...(actor != null && { 'actor.who': await actorCondition(organisationId, actor) }),
        ...(at && { at }),
      };
      return findPage(nativeCollection(auditEvents), {
        organisationId,
        operation: 'audit_events',
        args: { limit: limit ?? null, cursor: cursor ?? null },
        filters: withoutMissing(members),
        conditions: [condition],
        defaultSort: '-at',
        kindOf: () => 'dateTime',
      });
    },
    /** The newest events, of all organisations unless one is given. */
    list({ organisationId, action, since, limit }: AuditQuery): Promise<AuditEvent[]> {
      const filter = {
        ...(organisationId !== undefined && { organisation_id: organisationId }),
        ...(action && { action }),
        ...(since && happenedSince(since)),
      };
      return auditEvents.find(filter).sort({ at: -1, _id: -1 }).setOptions(atMost(limit)).lean<AuditEvent[]>().exec();
    },
    /** Whether something was done to a customer after a time. */
    async hasCustomerEvent({ organisationId, customerId, action, after, replayName }: CustomerEventQuery) {
      const events = { organisation_id: organisationId, action, 'details.customer_id': customerId };
      const found = await auditEvents.exists({
        ...events,
        at: trusted({ $gte: after }),
        $or: [{ at: trusted({ $gt: after }) }, { 'actor.name': replayName }],
      });
      return found !== null;
    },
    /** Whether one of some things was done to a webhook endpoint at or after a time. */
    async hasEndpointEvent({ organisationId, endpoint, actions, since }: EndpointEventQuery) {
      const found = await auditEvents.exists({
        organisation_id: organisationId,
        action: trusted({ $in: [...actions] }),
        'details.endpoint': endpoint,
        $or: [{ at: trusted({ $gte: since }) }, { last_at: trusted({ $gte: since }) }],
      });
      return found !== null;
    },
  };
}

/** Matches events that happened at or after a time, if only for the last time. The range of `at`, by which they are found, has those of the hour before. */
function happenedSince(since: Date) {
  const at = trusted({ $gte: new Date(since.getTime() - HOUR) });
  return { at, $or: [{ at: trusted({ $gte: since }) }, { last_at: trusted({ $gte: since }) }] };
}

/** Matches an action or those of a group, without those that the caller does not see. */
function actionCondition(action: string | null | undefined, isOperator: boolean) {
  if (action == null) return isOperator ? {} : { action: trusted({ $nin: [...OPERATORS_ACTIONS] }) };
  const group = (AUDIT_GROUPS as Readonly<Partial<Record<string, readonly string[]>>>)[action];
  const ofGroup = group ?? [action];
  // to operators, their own actions are a part of the group `organisation`
  if (isOperator)
    return { action: trusted({ $in: action === 'organisation' ? [...ofGroup, ...OPERATORS_ACTIONS] : [...ofGroup] }) };
  const hidden: readonly string[] = OPERATORS_ACTIONS;
  return { action: trusted({ $in: ofGroup.filter((name) => !hidden.includes(name)) }) };
}
