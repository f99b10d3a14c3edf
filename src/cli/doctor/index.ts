import type { Command } from 'commander';
import { listVariables, teach } from '../common/help';

export interface DoctorCommandOptions {
  readonly fix?: true;
  readonly json?: true;
}

export function addDoctor(program: Command): void {
  const command = program
    .command('doctor')
    .description('check the environment, the database, Redis and every index, and say what to do')
    .option('--fix', 'make the indexes that are missing')
    .option('--json', 'print {ok, checks: [{name, ok, detail, fix?}]} as JSON')
    .action(async (options: DoctorCommandOptions) => {
      const { doctorCommand } = await import('./command.js');
      await doctorCommand(options);
    });
  listVariables(command);
  teach(command, ['scopegate doctor', 'scopegate doctor --fix', 'scopegate doctor --json']);
}
