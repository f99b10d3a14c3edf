import type { ExplainedCommand } from '../common/help';
import { port } from '../common/values';
import type { DemoOptions } from './command';

export function addDemo(program: ExplainedCommand): void {
  program
    .command('demo')
    .description('start a gateway with example data, and print an API key and commands to try')
    .option('--port <port>', 'port to listen on (default: PORT, or the next free one from 4000)', port)
    .option('--json', 'print {url, key, organisation, sandbox, settings} as JSON when ready')
    .environment()
    .examples(
      ['scopegate demo', 'scopegate demo --port 8080'],
      [
        'The example data (Northwind Traders) is loaded once and stays in DATA_DIR. So does the key, in the file demo-key; the next',
        'start prints it again if it is still valid. INTROSPECTION defaults to public and LOG_LEVEL to warn. Press Ctrl-C to stop.',
      ],
    )
    .action(async (options: DemoOptions) => (await import('./command.js')).demoCommand(options));
}
