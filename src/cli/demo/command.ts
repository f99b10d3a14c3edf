import { type Config, givenVariables, readConfig } from '../../config';
import { serveUntilStopped } from '../serve/serveUntilStopped';
import { printJson, printPainted } from '../common/terminal';
import type { DemoCommandOptions } from './index';
import { prepareDemo } from './prepare';
import { signInUrl } from '../common/signInUrl';
import { invitation } from './invitation';

/** The demo's defaults, which the environment overrides. */
const DEFAULTS = { INTROSPECTION: 'public', LOG_LEVEL: 'warn' } as const;

/** `scopegate demo`. Resolves after it is stopped. */
export async function demoCommand(options: DemoCommandOptions): Promise<void> {
  const { config, portIsSet } = demoConfig(options);
  await serveUntilStopped(config, {
    prepare: (store, signal) => prepareDemo(store, config, signal),
    anyPort: !portIsSet,
    onListening: ({ url }, { demoKey: key, organisation, quoteId, signInToken }) => {
      const address = reachable(url);
      const { id, name, plan } = organisation;
      const settings = signInUrl(address, signInToken);
      if (options.json)
        printJson({ url: address, key, organisation: { id, name, plan }, sandbox: `${address}/graphql`, settings });
      else printPainted(invitation({ url: address, key, name, quoteId, settings }));
    },
  });
}

function demoConfig(options: DemoCommandOptions): { config: Config; portIsSet: boolean } {
  const given = givenVariables();
  const port = options.port === undefined ? {} : { PORT: String(options.port) };
  return {
    config: readConfig({ ...DEFAULTS, ...given, ...port }),
    portIsSet: options.port !== undefined || given.PORT !== undefined,
  };
}

/** A URL that a browser on this machine can open: 0.0.0.0 and :: mean all of its addresses. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}
