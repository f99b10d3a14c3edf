import type { Command } from 'commander';
import { listVariables, addExamples } from '../common/help';

export interface DoctorCommandOptions {
  readonly fix?: true;
  readonly json?: true;
}

export function addDoctor(program: Command): void {
  const command = program
    .command('doctor')
    .description('check the environment, the database, Redis and the indexes, and suggest fixes')
    .option('--fix', 'create missing indexes')
    .option('--json', 'print {ok, checks: [{name, ok, detail, fix?}]} as JSON')
    .action(async (options: DoctorCommandOptions) => {
      const { doctorCommand } = await import('./command.js');
      await doctorCommand(options);
    });
  listVariables(command);
  addExamples(command, ['scopegate doctor', 'scopegate doctor --fix', 'scopegate doctor --json']);
}
