import { type OperationDefinitionNode, parse } from 'graphql';
import type { RequestContext } from '../operations/context';
import type { Execute } from '../operations/execution';
import { DAY } from '../units';
import { DOCUMENTS } from './documents';

/* The answers to a page's first calls are sent with the page, which saves a round trip on a slow connection. */

type Calls = Partial<Record<keyof typeof DOCUMENTS, object>>;

/** The first calls of each page with their variables, as web/settings makes them if the address has no filters. */
const FIRST: Readonly<Record<string, () => Calls>> = {
  '/settings/integrations': () => ({
    newestKeys: {},
    expiringKeys: { expires_before: new Date(Date.now() + 7 * DAY).toISOString() },
    allUsage: { period: 'last_24h' },
  }),
  '/settings/keys': () => ({ keys: { state: 'active' } }),
  '/settings/requests': () => ({ requests: {}, newestKeys: {} }),
  '/settings/members': () => ({ members: {} }),
  '/settings/audit': () => ({ events: { limit: 20 }, newestKeys: {} }),
};
/** The call that every page makes, since its navigation shows how many endpoints are failing. */
const ALWAYS: Calls = { endpoints: {} };

/**
 * Resolves with the answers to the first calls of the page at an address, by the names of their documents. A call that fails is left
 * to the page.
 */
export type OpeningAnswers = (address: string, context: RequestContext) => Promise<object>;

export function openingAnswers(execute: Execute): OpeningAnswers {
  const documents = Object.entries(DOCUMENTS).map(([name, text]) => [name, parse(text)] as const);
  return async (address, contextValue) => {
    const calls: Readonly<Record<string, object>> = { ...ALWAYS, ...FIRST[address]?.() };
    const wanted = documents.filter(([name]) => name in calls);
    const answers = wanted.map(async ([name, document]) => {
      const [operation] = document.definitions as unknown as [OperationDefinitionNode];
      const { data, errors } = await execute({ document, operation, contextValue, variableValues: { ...calls[name] } });
      return errors ? [] : [[name, data?.value] as const];
    });
    return Object.fromEntries((await Promise.all(answers)).flat());
  };
}
