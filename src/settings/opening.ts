import { type OperationDefinitionNode, parse } from 'graphql';
import type { RequestContext } from '../operations/context';
import type { Execute } from '../operations/execution';
import { DAY } from '../units';
import { DOCUMENTS } from './documents';

/* What a page asks first is answered with it: on a slow line that saves a round trip. */

type Calls = Partial<Record<keyof typeof DOCUMENTS, object>>;

/** The first calls of a page with their variables, as web/settings makes them if the address chooses nothing. */
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
/** The call of every page, which says beside its list how many endpoints fail. */
const ALWAYS: Calls = { endpoints: {} };

/** Resolves with the answers to the first calls of the page at an address, by the names of their documents; one that fails is left to the page. */
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
