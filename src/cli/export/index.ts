import type { ExplainedCommand } from '../common/help';
import { uuid } from '../common/values';
import type { ExportOptions } from './command';

export function addExport(program: ExplainedCommand): void {
  program
    .command('export')
    .description("write an organisation's data to files that import can read, and organisation.json")
    .argument('<dir>', 'folder to write to; created if missing')
    .requiredOption('--org <id>', 'id of the organisation', uuid)
    .option('--keys', 'also write the keys: their hashes and the fingerprint of KEY_PEPPER, no secrets')
    .option('--force', 'overwrite existing files')
    .option('--json', 'print {dir, files: {products: 77, …}} as JSON')
    .examples([
      'scopegate export --org 689defbf-4477-4b15-966e-4830b650ded3 backup',
      'scopegate export --org 689defbf-4477-4b15-966e-4830b650ded3 backup --keys --force --json',
    ])
    .action(async (folder: string, options: ExportOptions) =>
      (await import('./command.js')).exportCommand(folder, options),
    );
}
