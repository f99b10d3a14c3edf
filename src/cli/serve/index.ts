import type { ExplainedCommand, JsonOption } from '../common/help';
import type { Config } from '../../config';
import { CommandFailure } from '../common/failure';
import { print, printJson } from '../common/terminal';
import { workers } from '../common/values';

export function addServe(program: ExplainedCommand): void {
  program
    .command('serve')
    .description('serve the API; SIGTERM or Ctrl-C stop it after accepted requests finish')
    .option(
      '--workers <count>',
      'processes that serve the port, 1 to 64, or auto for one per core; limits are exact over all of them',
      workers,
      1,
    )
    .option('--json', 'print {url} as JSON when ready')
    .environment()
    .examples([
      'scopegate serve',
      'scopegate serve --workers auto',
      'PORT=8080 MONGODB_URI=mongodb://db.example/?replicaSet=rs0 scopegate serve',
    ])
    .action(async ({ json, workers: count }: ServeOptions) => {
      const { readConfig } = await import('../../config.js');
      const onListening = (url: string): void => {
        if (json) printJson({ url });
        else print(`listening on ${url}`);
      };
      const config = readConfig();
      refuseUnfit(config);
      if (count > 1) {
        const { serveWithWorkers } = await import('./serveWithWorkers.js');
        await serveWithWorkers(config, count, onListening);
        return;
      }
      const { serveUntilStopped } = await import('./serveUntilStopped.js');
      await serveUntilStopped(config, async ({ control }) => {
        await control.pepper.adopt();
        return { onListening };
      });
    });
}

interface ServeOptions extends JsonOption {
  readonly workers: number;
}

/** The embedded database and keys without a pepper are for development. @throws CommandFailure in production */
function refuseUnfit({ NODE_ENV, MONGODB_URI, KEY_PEPPER }: Config): void {
  if (NODE_ENV !== 'production') return;
  if (MONGODB_URI === undefined) {
    throw new CommandFailure(
      'NODE_ENV is production, but MONGODB_URI is not set: the embedded database is for development',
    );
  }
  if (KEY_PEPPER === '') {
    throw new CommandFailure(
      'NODE_ENV is production, but KEY_PEPPER is not set: set it before the first key is created',
    );
  }
}
