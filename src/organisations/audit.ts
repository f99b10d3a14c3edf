import { trusted } from 'mongoose';
import type { AuditAction } from './auditEvents';
import type { AuditEvent } from './auditRows';
import { atMost, nativeCollection } from '../mongo/native';
import { findPage, type ListArguments, type Page } from '../tenant/pagination';
import type { ControlModels } from './models';

export interface AuditQuery {
  readonly organisationId?: string | undefined;
  readonly action?: AuditAction | undefined;
  readonly since?: Date | undefined;
  readonly limit: number;
}

export interface AuditPageQuery extends ListArguments {
  readonly organisationId: string;
  readonly action?: string | null;
  readonly key_id?: string | null;
}

export function createAuditLog({ auditEvents }: ControlModels) {
  return {
    page({ organisationId, action, key_id, ...args }: AuditPageQuery): Promise<Page<AuditEvent>> {
      const filters = { ...(action && { action }), ...(key_id && { key_id: key_id.toLowerCase() }) };
      return findPage(nativeCollection(auditEvents), {
        ...{ organisationId, operation: 'audit_events', args, filters },
        conditions: [{ organisation_id: organisationId, ...filters }],
        defaultSort: '-at',
        times: ['at'],
      });
    },
    list({ organisationId, action, since, limit }: AuditQuery): Promise<AuditEvent[]> {
      const filter = {
        ...(organisationId !== undefined && { organisation_id: organisationId }),
        ...(action && { action }),
        ...(since && { at: trusted({ $gte: since }) }),
      };
      return auditEvents.find(filter).sort({ at: -1, _id: -1 }).setOptions(atMost(limit)).lean<AuditEvent[]>().exec();
    },
  };
}
