import type { Command } from 'commander';
import { teach } from '../common/help';
import { uuid } from '../common/values';

export interface ExportCommandOptions {
  readonly org: string;
  readonly force?: true;
  readonly json?: true;
}

export function addExport(program: Command): void {
  const command = program
    .command('export')
    .description("write an organisation's data as the files that import takes, and organisation.json")
    .argument('<dir>', 'folder to write to; made when it is missing')
    .requiredOption('--org <id>', 'id of the organisation', uuid)
    .option('--force', 'replace files of these names that are there already')
    .option('--json', 'print {dir, files: {products: 77, …}} as JSON')
    .action(async (folder: string, options: ExportCommandOptions) => {
      const { exportCommand } = await import('./command.js');
      await exportCommand(folder, options);
    });
  teach(command, [
    'scopegate export --org 689defbf-4477-4b15-966e-4830b650ded3 backup',
    'scopegate export --org 689defbf-4477-4b15-966e-4830b650ded3 backup --force --json',
  ]);
}
