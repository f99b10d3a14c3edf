import { type Command, Option } from 'commander';
import { AUDIT_ACTIONS, type AuditAction, type AuditEvent } from '../../organisations/auditEvents';
import { addExamples } from '../common/help';
import { print, printJson, printTable } from '../common/terminal';
import { count, moment, uuid } from '../common/values';

interface AuditOptions {
  readonly org?: string;
  readonly action?: AuditAction;
  readonly since?: Date;
  readonly limit: number;
  readonly json?: true;
}

export function addAudit(program: Command): void {
  const command = program
    .command('audit')
    .description('show who changed organisations and keys, when and from where; newest first')
    .option('--org <id>', 'only this organisation', uuid)
    .addOption(new Option('--action <action>', 'only this type of event').choices(AUDIT_ACTIONS))
    .option('--since <time>', 'only events since a date (e.g. 2026-11-21) or an age (e.g. 7d)', moment)
    .option('--limit <count>', 'maximum number of events to show', count, 100)
    .option('--json', 'print an array of {id, at, action, actor, organisation_id, key_id, details} as JSON')
    .action(audit);
  addExamples(command, [
    'scopegate audit --since 7d',
    'scopegate audit --org 689defbf-4477-4b15-966e-4830b650ded3 --action key.revoked --json',
  ]);
}

async function audit({ org, action, since, limit, json }: AuditOptions): Promise<void> {
  const { withStore } = await import('../common/withStore.js');
  const events = await withStore(({ control }) => control.audit.list({ organisationId: org, action, since, limit }));
  if (json) {
    printJson(events.map(({ _id: id, ...event }) => ({ id, ...event })));
    return;
  }
  if (events.length === 0) {
    print('No matching events.');
    return;
  }
  printTable(['WHEN', 'WHO', 'FROM', 'WHAT', 'ORGANISATION', 'KEY', 'DETAILS'], events.map(toRow));
}

function toRow({ at, actor, action, organisation_id, key_id, details }: AuditEvent): string[] {
  return [at.toISOString(), actor.who, actor.from, action, organisation_id, key_id ?? '', JSON.stringify(details)];
}
