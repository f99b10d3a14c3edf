import type { ExplainedCommand } from '../common/help';
import { uuid } from '../common/values';
import type { EraseOptions } from './eraseCommand';

export function addErase(org: ExplainedCommand): void {
  org
    .command('erase')
    .description('erase an organisation for good: its keys, sessions, data and database; the data are exported first')
    .argument('<id>', 'id of the organisation', uuid)
    .requiredOption('--confirm <name>', 'name of the organisation, to make sure that it is this one')
    .option('--export <dir>', 'folder for the export (default: erased/ID in DATA_DIR)')
    .option('--no-export', 'export nothing')
    .option('--json', 'print {id, erased, export} as JSON')
    .examples(
      [
        'scopegate org erase 689defbf-4477-4b15-966e-4830b650ded3 --confirm "Acme Ltd"',
        'scopegate org erase 689defbf-4477-4b15-966e-4830b650ded3 --confirm "Acme Ltd" --no-export --json',
      ],
      [
        'Its keys get 401 as soon as this starts. If it is interrupted, run it again to continue: it cannot be undone, but as long as',
        'the export is not complete no data are deleted. One audit event without personal data is kept.',
      ],
    )
    .action(async (id: string, options: EraseOptions) => (await import('./eraseCommand.js')).eraseCommand(id, options));
}
