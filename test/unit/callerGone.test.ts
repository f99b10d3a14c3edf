import { execute, parse } from 'graphql';
import type { Exchange } from '../../src/http/exchange';
import { createIncomingRequest } from '../../src/http/exchange';
import { rowHolder, answerRefusal } from '../../src/operations/answers';
import { buildSchemas } from '../../src/operations/build';
import { mergeResolvers } from '../../src/operations/run';
import { resolvers } from '../../src/resources';
import { published } from '../../src/schema/model';
import { settingsResolvers } from '../../src/settings/resolvers';

/* Requests whose caller disconnects. */

function scene() {
  const response = { closed: false, destroyed: false };
  const held: number[] = [];
  const exchange = {
    request: { headers: {}, rawHeaders: [] },
    response,
    bodies: { holdRows: (_exchange: unknown, bytes: number) => held.push(bytes) },
  } as unknown as Exchange;
  return { response, held, context: createIncomingRequest(exchange) };
}

test.each(['closed', 'destroyed'] as const)(
  'a query keeps no more rows once its response is %s, and all of it ends',
  (member) => {
    const { response, held, context } = scene();
    rowHolder(context)?.(7);
    expect(answerRefusal(context)).toBeUndefined();
    response[member] = true;
    expect(() => rowHolder(context)?.(8)).toThrow('The caller disconnected.');
    expect(held).toEqual([7]);
    // relations read nothing once this is set
    expect(answerRefusal(context)).toMatchObject({ code: 'unavailable', extras: { reason: 'unread' } });
  },
);

test('of several writes those that have not begun when the caller leaves are left out', async () => {
  const stored: string[] = [];
  let isGone = false;
  const update_customer = (_: unknown, { name }: { name: string }): object => {
    stored.push(name);
    isGone = name === 'second';
    return { _id: name, name };
  };
  const own = mergeResolvers(resolvers, settingsResolvers, { Mutation: { update_customer } });
  const { graphql: schema } = buildSchemas(published, own);
  const calls = ['first', 'second', 'third', 'fourth'].map(
    (name) => `${name}: update_customer(id: "00000000-0000-4000-8000-000000000000", name: "${name}") { name }`,
  );
  const contextValue = {
    principal: { kind: 'key', scopes: new Set(['customers:read', 'customers:write']) },
    authorise: () => undefined,
    once: (_operation: string, _args: unknown, run: () => unknown) => run(),
    isGone: () => isGone,
  };
  const { data, errors } = await execute({ schema, document: parse(`mutation { ${calls.join(' ')} }`), contextValue });
  expect(stored).toEqual(['first', 'second']);
  expect(data).toMatchObject({ second: { name: 'second' }, third: null, fourth: null });
  expect(errors?.map(({ message }) => message)).toEqual(
    Array(2).fill('The caller disconnected; this write stored nothing.'),
  );
});
