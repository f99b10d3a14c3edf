import type { Command } from 'commander';
import { listVariables, addExamples } from '../common/help';

export interface ServeCommandOptions {
  readonly json?: true;
}

export function addServe(program: Command): void {
  const command = program
    .command('serve')
    .description('serve the API; SIGTERM or Ctrl-C stop it after accepted requests finish')
    .option('--json', 'print {url} as JSON when ready')
    .action(async (options: ServeCommandOptions) => {
      const { serveCommand } = await import('./command.js');
      await serveCommand(options);
    });
  listVariables(command);
  addExamples(command, [
    'scopegate serve',
    'PORT=8080 MONGODB_URI=mongodb://db.example/?replicaSet=rs0 scopegate serve',
  ]);
}
