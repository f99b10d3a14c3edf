import type * as Limits from '../../../src/limits';
import { callerOf, makeOrganisation } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { MCP } from '../../support/operations';

/* Tools wait for the turns that GraphQL's operations wait for: here no query has one, and none may wait. */

jest.mock('../../../src/limits', () => {
  const limits = jest.requireActual<typeof Limits>('../../../src/limits');
  const none = { query: 0 };
  return {
    ...limits,
    LARGE_REQUESTS: { ...limits.LARGE_REQUESTS, ...none },
    LARGE_REQUESTS_WAITING: { ...limits.LARGE_REQUESTS_WAITING, ...none },
  };
});

const gateway = served();
const caller = late(async () => callerOf(gateway, await makeOrganisation(gateway)));

test.each(['quote_totals', 'order_totals', 'product_sales'])('%s is a query', async (name) => {
  const refused = await caller.graphql(`{ ${name} { data { __typename } } }`);
  expect(refused.body.errors[0].extensions.code).toBe('unavailable');
  const answer = await caller.mcp('tools/call', { name, arguments: {} });
  expect(answer.status === 503 || MCP.errorOf(answer).code === 'unavailable').toBe(true);
});

test('a list is none', async () => {
  const answer = await caller.mcp('tools/call', { name: 'orders', arguments: { limit: 100 } });
  expect([answer.status, answer.body.result?.isError]).toEqual([200, false]);
});
