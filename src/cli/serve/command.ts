import { readConfig } from '../../config';
import { print, printJson } from '../common/terminal';
import type { ServeCommandOptions } from './index';
import { serveUntilStopped } from './serveUntilStopped';

/** `scopegate serve`. Resolves after it is stopped and every accepted request is answered. */
export async function serveCommand(options: ServeCommandOptions): Promise<void> {
  await serveUntilStopped(readConfig(), {
    prepare: () => Promise.resolve({}),
    anyPort: false,
    onListening: ({ url }) => {
      if (options.json) printJson({ url });
      else print(`listening on ${url}`);
    },
  });
}
