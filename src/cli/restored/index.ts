import type { ExplainedCommand } from '../help';
import { fixedTime } from '../values';

export function addRestored(program: ExplainedCommand): void {
  program
    .subcommand(
      'restored',
      'say that the database was restored from a backup: every organisation gets feed.gap; with a log, revoke again what was revoked since',
    )
    .requiredOption(
      '--since <time>',
      'the time whose state it has again: when the backup began; a date or time, no age',
      fixedTime,
    )
    .option(
      '--replay <file>',
      "log of the gateways, or - for standard input: do again what its audit events since then say was ended, such as keys' revocations",
    )
    .option('--yes', 'with --replay, also erase again the organisations that were erased since; a gateway does it')
    .option('--dry-run', 'only say what would be done')
    .json('{since, gap, organisations, dry_run, lines, steps, objects, failures}')
    .examples(
      [
        'scopegate restored --since 2026-11-29T02:00:00Z --replay gateways.log --dry-run',
        'scopegate restored --since 2026-11-29T02:00:00Z --replay gateways.log --yes',
        'zcat gateway-*.log.gz | scopegate restored --since 2026-11-29T02:00:00Z --replay -',
      ],
      [
        'The gateway that records events stores feed.gap in each organisation, also in those that are idle. With the time of an earlier call, or',
        'of the restore that doctor warns of, no gap is stored again.',
        '',
        '--replay reads the lines with the message "audit event", in any order and among others, and applies what they end or narrow: keys',
        'revoked, replaced or changed; organisations suspended, on another plan or erased; customers erased; people signed out; invitations',
        'revoked; webhook endpoints disabled or deleted. Of opposites the last counts. Run it again to continue; what is so already is left.',
        'A webhook endpoint whose URL, types or secret were changed is disabled: it has its former ones again, and the log does not say the new ones.',
        'What was created since, such as the key that replaced another, cannot be created again.',
      ],
    )
    .run(async () => (await import('./command.js')).restoredCommand);
}
