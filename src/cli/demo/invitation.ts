import { paint } from '../common/terminal';

export interface InvitationOptions {
  readonly url: string;
  readonly key: string;
  /** Name of the organisation. */
  readonly name: string;
  readonly quoteId: string;
  /** Signs in on the settings page, once. */
  readonly settings: string;
}

const ORDERS_WITH_CUSTOMERS = '{ orders(limit: 3) { data { number status total_minor currency customer { name } } } }';

/** What a demo prints: the key, lines that work as they are pasted, and where to look. */
export function invitation({ url, key, name, quoteId, settings }: InvitationOptions): string {
  const bold = (text: string): string => paint(process.stdout, 'bold', text);
  const curl = `curl -s -H 'Authorization: Bearer ${key}'`;
  return [
    '',
    bold(`The demo of ${name} is up: listening on ${url}`),
    '',
    `  ${bold('API key')}    ${key}`,
    `  ${bold('Sandbox')}    ${url}/graphql`,
    `  ${bold('Reference')}  ${url}/api/v1/docs`,
    `  ${bold('Settings')}   ${settings} (signs in once, within 15 minutes)`,
    '',
    bold('Find products:'),
    `${curl} '${url}/api/v1/products?q=chai'`,
    '',
    bold('Read one quote with its lines:'),
    `${curl} '${url}/api/v1/quotes/${quoteId}'`,
    '',
    bold('Ask GraphQL for orders with their customers:'),
    `${curl} -H 'Content-Type: application/json' --data '${JSON.stringify({ query: ORDERS_WITH_CUSTOMERS })}' '${url}/graphql'`,
    '',
    'Ctrl-C stops it; the data stay for the next start.',
  ].join('\n');
}
