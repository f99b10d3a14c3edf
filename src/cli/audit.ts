import { Option } from 'commander';
import { AUDIT_ACTIONS, type AuditAction } from '../organisations/auditEvents';
import type { AuditEvent } from '../organisations/auditRows';
import { notFound } from './ending';
import { type ExplainedCommand, type JsonOption, ORG_ID } from './help';
import type { Store } from './store';
import { printList } from './terminal';
import { count, moment, uuid } from './values';
import { withStore } from './withStore';

interface AuditOptions extends JsonOption {
  readonly org?: string;
  readonly action?: AuditAction;
  readonly since?: Date;
  readonly limit: number;
}

export function addAudit(program: ExplainedCommand): void {
  program
    .subcommand('audit', 'show who changed organisations and keys, when and from where; newest first')
    .option('--org <id>', 'only this organisation', uuid)
    .addOption(new Option('--action <action>', 'only this type of event').choices(AUDIT_ACTIONS))
    .option('--since <time>', 'only events since a date (e.g. 2026-11-21) or an age (e.g. 7d)', moment)
    .option('--limit <count>', 'maximum number of events to show', count, 100)
    .json('an array of {id, at, action, actor, times, last_at, organisation_id, key_id, details}')
    .examples(['scopegate audit --since 7d', `scopegate audit --org ${ORG_ID} --action key.revoked --json`])
    .action(audit);
}

async function audit({ json, limit, ...filters }: AuditOptions): Promise<void> {
  // one more than is shown, so that printList can say that there are more
  const events = await withStore((store) => eventsOf(store, { ...filters, limit: limit + 1 }));
  printList(
    // an event that repeats soon is stored once, with the number of times and the last of them
    events.map(({ _id: id, at, times = 1, last_at = at, ...event }) => ({ id, at, times, last_at, ...event })),
    {
      WHEN: ({ at }) => at.toISOString(),
      WHO: ({ actor }) => actor.who,
      FROM: ({ actor }) => actor.from,
      WHAT: ({ action, times }) => (times > 1 ? `${action} (${String(times)} times)` : action),
      ORGANISATION: ({ organisation_id }) => organisation_id,
      KEY: ({ key_id }) => key_id ?? '',
      DETAILS: ({ details }) => JSON.stringify(details),
    },
    { json, limit, empty: 'No matching events.' },
  );
}

/** The matching events, newest first. @throws CommandFailure if no such organisation exists or has existed */
async function eventsOf({ control }: Store, { org: organisationId, ...filters }: AuditOptions): Promise<AuditEvent[]> {
  const events = await control.audit.list({ organisationId, ...filters });
  if (organisationId === undefined || events.length > 0 || (await control.organisations.find(organisationId))) {
    return events;
  }
  // an erased organisation still has events
  const [any] = await control.audit.list({ organisationId, limit: 1 });
  if (!any) throw notFound('organisation', organisationId);
  return events;
}
