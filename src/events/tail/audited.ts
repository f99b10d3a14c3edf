import type { mongo } from 'mongoose';
import type { Logger } from 'pino';
import { AUDIT_MESSAGE, auditLine, WITHOUT_LINE } from '../../organisations/auditLine';
import { AUDIT_EVENTS, type AuditEvent } from '../../organisations/auditRows';
import { describeFailure } from '../../log';
import { SETTLED_READ } from '../../tenant/slots';
import { type Change, END } from './changes';

/*
 * Writes a line of the log for each audit event, whoever caused it, so that a log that is kept outside the database has them too
 * (docs/decisions/restore.md).
 */

interface Options {
  readonly control: string;
  readonly logger: Logger;
}

export function createAuditLines({ control, logger }: Options) {
  return {
    isAuditEvent: ({ operationType, ns }: Change): boolean =>
      operationType !== END && ns.db === control && ns.coll === AUDIT_EVENTS,
    /** Writes the lines of changes that are audit events, in their order. */
    async write(client: mongo.MongoClient, changes: readonly Change[]): Promise<void> {
      if (changes.length === 0) return;
      const ids = changes.map(({ documentKey }) => String(documentKey?._id));
      // read, since the change of an event that is repeated within the hour has only the count and the time
      const rows = client.db(control).collection<AuditEvent>(AUDIT_EVENTS);
      // left out, since an import may name a thousand keys, and no line has them
      const options = { ...SETTLED_READ, projection: { 'details.keys': 0 } } as const;
      const auditEvents = await rows.find({ _id: { $in: ids }, action: { $ne: WITHOUT_LINE } }, options).toArray();
      const byId = new Map(auditEvents.map((row) => [row._id, row]));
      for (const id of ids) {
        const event = byId.get(id);
        if (event) writeLine(event);
      }
    },
  };

  function writeLine(event: AuditEvent): void {
    try {
      logger.info(auditLine(event), AUDIT_MESSAGE);
    } catch (error) {
      // thrown on, it would hold up the events of all, since the tail would read this row again and again
      logger.error({ audit_event: event._id, error: describeFailure(error) }, 'an audit event gets no line');
    }
  }
}
