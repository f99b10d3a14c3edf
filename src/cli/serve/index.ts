import type { ExplainedCommand, JsonOption } from '../common/help';
import { print, printJson } from '../common/terminal';

export function addServe(program: ExplainedCommand): void {
  program
    .command('serve')
    .description('serve the API; SIGTERM or Ctrl-C stop it after accepted requests finish')
    .option('--json', 'print {url} as JSON when ready')
    .environment()
    .examples(['scopegate serve', 'PORT=8080 MONGODB_URI=mongodb://db.example/?replicaSet=rs0 scopegate serve'])
    .action(async ({ json }: JsonOption) => {
      const [{ readConfig }, { serveUntilStopped }] = await Promise.all([
        import('../../config.js'),
        import('./serveUntilStopped.js'),
      ]);
      const onListening = (url: string): void => {
        if (json) printJson({ url });
        else print(`listening on ${url}`);
      };
      await serveUntilStopped(readConfig(), () => Promise.resolve({ onListening }));
    });
}
