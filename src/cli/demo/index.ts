import type { Command } from 'commander';
import { listVariables, teach } from '../common/help';
import { port } from '../common/values';

export interface DemoCommandOptions {
  readonly port?: number;
  readonly json?: true;
}

export function addDemo(program: Command): void {
  const command = program
    .command('demo')
    .description('start everything with example data, and print a key and what to try with it')
    .option('--port <port>', 'port to listen on; PORT or the next free one from 4000 when left out', port)
    .option('--json', 'print {url, key, organisation, sandbox, settings} as JSON once it answers')
    .action(async (options: DemoCommandOptions) => {
      const { demoCommand } = await import('./command.js');
      await demoCommand(options);
    });
  listVariables(command);
  teach(
    command,
    ['scopegate demo', 'scopegate demo --port 8080'],
    [
      'The example data (Northwind Traders) are loaded once and stay in DATA_DIR, and so does the key, in the file demo-key: the',
      'next start shows it again while it works. INTROSPECTION is public and LOG_LEVEL warn, unless they are set. Ctrl-C stops it.',
    ],
  );
}
