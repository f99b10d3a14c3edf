import { randomUUID } from 'node:crypto';
import { type ClientSession, trusted } from 'mongoose';
import type { Actor, AuditAction, AuditEvent } from './auditEvents';
import { findPage, type ListArguments, type Page } from '../database/pagination';
import type { ControlModels } from './models';

export interface AuditQuery {
  readonly organisationId?: string | undefined;
  readonly action?: AuditAction | undefined;
  readonly since?: Date | undefined;
  /** Maximum number of events, newest first. */
  readonly limit: number;
}

/** A page of an organisation's events, newest first. */
export interface AuditPageQuery extends ListArguments {
  readonly organisationId: string;
  readonly action?: string | null;
  readonly key_id?: string | null;
}

export interface AuditLog {
  list(query: AuditQuery): Promise<AuditEvent[]>;
  page(query: AuditPageQuery): Promise<Page<AuditEvent>>;
}

export function auditLog(models: ControlModels): AuditLog {
  return {
    page({ organisationId, action, key_id, ...args }) {
      const filters = { ...(action && { action }), ...(key_id && { key_id: key_id.toLowerCase() }) };
      return findPage(models.auditEvents, {
        ...{ organisationId, operation: 'audit_events', args, filters },
        conditions: [{ organisation_id: organisationId, ...filters }],
        defaultSort: '-at',
      });
    },
    list({ organisationId, action, since, limit }) {
      const filter = {
        ...(organisationId === undefined ? {} : { organisation_id: organisationId }),
        ...(action === undefined ? {} : { action }),
        ...(since === undefined ? {} : { at: trusted({ $gte: since }) }),
      };
      return models.auditEvents.find(filter).sort({ at: -1, _id: -1 }).limit(limit).lean<AuditEvent[]>().exec();
    },
  };
}

/** Writes an event in the transaction of its change, so that neither exists without the other. */
export async function recordEvent(
  models: ControlModels,
  actor: Actor,
  event: Pick<AuditEvent, 'action' | 'organisation_id' | 'key_id' | 'details'>,
  session: ClientSession,
): Promise<void> {
  await models.auditEvents.create([{ _id: randomUUID(), at: new Date(), actor, ...event }], { session });
}
