import { paint } from '../common/terminal';

export interface InvitationOptions {
  readonly url: string;
  readonly key: string;
  /** Name of the organisation. */
  readonly name: string;
  readonly quoteId: string;
  /** A one-time sign-in link to the settings page. */
  readonly settings: string;
}

const ORDERS_WITH_CUSTOMERS = '{ orders(limit: 3) { data { number status total_minor currency customer { name } } } }';

/** What the demo prints: the key, the pages, and commands to paste. */
export function invitation({ url, key, name, quoteId, settings }: InvitationOptions): string {
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
