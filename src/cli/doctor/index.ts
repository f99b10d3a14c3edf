import type { ExplainedCommand } from '../common/help';
import type { DoctorOptions } from './command';

export function addDoctor(program: ExplainedCommand): void {
  program
    .command('doctor')
    .description('check the environment, the database, Redis, the indexes and the files, and suggest fixes')
    .option('--fix', 'create missing indexes, and drop those that are no longer needed')
    .option('--json', 'print {ok, checks: [{name, ok, detail, fix?}]} as JSON')
    .environment()
    .examples(['scopegate doctor', 'scopegate doctor --fix', 'scopegate doctor --json'])
    .action(async (options: DoctorOptions) => (await import('./command.js')).doctorCommand(options));
}
