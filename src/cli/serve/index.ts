import type { Command } from 'commander';
import { listVariables, teach } from '../common/help';

export interface ServeCommandOptions {
  readonly json?: true;
}

export function addServe(program: Command): void {
  const command = program
    .command('serve')
    .description('serve the API until SIGTERM or Ctrl-C, which let accepted requests finish')
    .option('--json', 'print {url} as JSON once it answers')
    .action(async (options: ServeCommandOptions) => {
      const { serveCommand } = await import('./command.js');
      await serveCommand(options);
    });
  listVariables(command);
  teach(command, ['scopegate serve', 'PORT=8080 MONGODB_URI=mongodb://db.example/?replicaSet=rs0 scopegate serve']);
}
