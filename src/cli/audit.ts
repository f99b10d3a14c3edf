import { Option } from 'commander';
import { AUDIT_ACTIONS, type AuditAction, type AuditEvent } from '../organisations/auditEvents';
import { notFound } from './common/failure';
import type { ExplainedCommand, JsonOption } from './common/help';
import { newest } from './common/newest';
import type { Store } from './common/open';
import { printList } from './common/terminal';
import { count, moment, uuid } from './common/values';
import { withStore } from './common/withStore';

interface AuditOptions extends JsonOption {
  readonly org?: string;
  readonly action?: AuditAction;
  readonly since?: Date;
  readonly limit: number;
}

export function addAudit(program: ExplainedCommand): void {
  program
    .command('audit')
    .description('show who changed organisations and keys, when and from where; newest first')
    .option('--org <id>', 'only this organisation', uuid)
    .addOption(new Option('--action <action>', 'only this type of event').choices(AUDIT_ACTIONS))
    .option('--since <time>', 'only events since a date (e.g. 2026-11-21) or an age (e.g. 7d)', moment)
    .option('--limit <count>', 'maximum number of events to show', count, 100)
    .option('--json', 'print an array of {id, at, action, actor, organisation_id, key_id, details} as JSON')
    .examples([
      'scopegate audit --since 7d',
      'scopegate audit --org 689defbf-4477-4b15-966e-4830b650ded3 --action key.revoked --json',
    ])
    .action(async ({ json, ...options }: AuditOptions) => {
      const events = await withStore((store) => find(store, options));
      printList(
        newest(events, options.limit).map(({ _id: id, ...event }) => ({ id, ...event })),
        {
          WHEN: ({ at }) => at.toISOString(),
          WHO: ({ actor }) => actor.who,
          FROM: ({ actor }) => actor.from,
          WHAT: ({ action }) => action,
          ORGANISATION: ({ organisation_id }) => organisation_id,
          KEY: ({ key_id }) => key_id ?? '',
          DETAILS: ({ details }) => JSON.stringify(details),
        },
        { json, empty: 'No matching events.' },
      );
    });
}

/** The matching events, at most one more than the limit. @throws CommandFailure if there is and was no such organisation */
async function find({ control }: Store, { org: organisationId, ...filters }: AuditOptions): Promise<AuditEvent[]> {
  const events = await control.audit.list({ organisationId, ...filters, limit: filters.limit + 1 });
  if (organisationId === undefined || events.length > 0 || (await control.organisations.find(organisationId))) {
    return events;
  }
  // the events of an organisation outlive it
  const [any] = await control.audit.list({ organisationId, limit: 1 });
  if (!any) throw notFound('organisation', organisationId, 'see scopegate org list');
  return events;
}
