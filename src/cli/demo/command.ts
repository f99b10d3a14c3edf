import { givenVariables, readConfig } from '../../config';
import { EMBEDDED_RANGES } from '../../webhooks/settings';
import { createLogger } from '../../log';
import type { JsonOption } from '../common/help';
import { paint, printJson, printPainted, reachable, signInUrl } from '../common/terminal';
import { serveUntilStopped } from '../serve/serveUntilStopped';
import { prepareDemo } from './prepare';

interface DemoOptions extends JsonOption {
  readonly port?: number;
}

/** The demo's defaults, which the environment overrides. */
const DEFAULTS = { INTROSPECTION: 'public', LOG_LEVEL: 'warn', WEBHOOK_ALLOWED_RANGES: EMBEDDED_RANGES } as const;

/** `scopegate demo`. Resolves after it is stopped. */
export async function demoCommand({ port, json }: DemoOptions): Promise<void> {
  const given = { ...givenVariables(), ...(port !== undefined && { PORT: String(port) }) };
  const config = readConfig({ ...DEFAULTS, ...given });
  await serveUntilStopped(
    config,
    async (store, signal) => {
      const { organisation, demoKey, quoteId, signInToken } = await prepareDemo(store, config, signal);
      const { id, name, plan } = organisation;
      const onListening = (listening: string): void => {
        const url = reachable(listening);
        const settings = signInUrl(url, signInToken);
        if (!json) printPainted(invitation({ url, key: demoKey, name, quoteId, settings }));
        else printJson({ url, key: demoKey, organisation: { id, name, plan }, sandbox: `${url}/graphql`, settings });
      };
      return { demoKey, onListening };
    },
    { logger: createLogger(config.LOG_LEVEL), anyPort: given.PORT === undefined },
  );
}

/** `name` is the organisation's, and `settings` a one-time sign-in link to the settings page. */
type Invitation = Readonly<Record<'url' | 'key' | 'name' | 'quoteId' | 'settings', string>>;

const ORDERS_WITH_CUSTOMERS = '{ orders(limit: 3) { data { number status total_minor currency customer { name } } } }';

/** What the demo prints: the key, the pages, and commands to paste. */
function invitation({ url, key, name, quoteId, settings }: Invitation): string {
  const bold = (text: string): string => paint(process.stdout, 'bold', text);
  const curl = `curl -s -H 'Authorization: Bearer ${key}'`;
  return [
    '',
    bold(`Demo of ${name} is ready: listening on ${url}`),
    '',
    `  ${bold('API key')}    ${key}`,
    `  ${bold('Sandbox')}    ${url}/graphql`,
    `  ${bold('Reference')}  ${url}/api/v1/docs`,
    `  ${bold('Settings')}   ${settings} (one-time sign-in link, valid for 15 minutes)`,
    '',
    bold('Find products:'),
    `${curl} '${url}/api/v1/products?q=chai'`,
    '',
    bold('Read one quote with its lines:'),
    `${curl} '${url}/api/v1/quotes/${quoteId}'`,
    '',
    bold('Query orders with their customers in GraphQL:'),
    `${curl} -H 'Content-Type: application/json' --data '${JSON.stringify({ query: ORDERS_WITH_CUSTOMERS })}' '${url}/graphql'`,
    '',
    'Press Ctrl-C to stop. The data is kept for the next start.',
  ].join('\n');
}
