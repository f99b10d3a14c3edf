import type { Command } from 'commander';
import { addExamples } from '../common/help';
import { uuid } from '../common/values';

export interface ExportCommandOptions {
  readonly org: string;
  readonly force?: true;
  readonly json?: true;
}

export function addExport(program: Command): void {
  const command = program
    .command('export')
    .description("write an organisation's data to files that import can read, and organisation.json")
    .argument('<dir>', 'folder to write to; created if missing')
    .requiredOption('--org <id>', 'id of the organisation', uuid)
    .option('--force', 'overwrite existing files')
    .option('--json', 'print {dir, files: {products: 77, …}} as JSON')
    .action(async (folder: string, options: ExportCommandOptions) => {
      const { exportCommand } = await import('./command.js');
      await exportCommand(folder, options);
    });
  addExamples(command, [
    'scopegate export --org 689defbf-4477-4b15-966e-4830b650ded3 backup',
    'scopegate export --org 689defbf-4477-4b15-966e-4830b650ded3 backup --force --json',
  ]);
}
