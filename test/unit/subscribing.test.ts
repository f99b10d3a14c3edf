import { setImmediate as turn } from 'node:timers/promises';
import { buildSchema, getOperationAST, type GraphQLSchema, parse } from 'graphql';
import { pino } from 'pino';
import { createEventStreams } from '../../src/graphql/streams/eventStreams';
import { type Source, type Streaming, subscribe, type Subscription } from '../../src/graphql/streams/subscribe';
import type { Exchange } from '../../src/http/exchange';
import type { Execution } from '../../src/operations/execution';
import { collectGarbage } from '../support/collectGarbage';

/* What an open stream retains, and how much of a gateway's time it takes at once. */

/** A schema with one subscription, whose payloads come from `source`. */
function schemaOf(source: () => Source): GraphQLSchema {
  const schema = buildSchema('type Query { n: Int } type Subscription { n(after: String): Int }');
  schema.getSubscriptionType()!.getFields().n!.subscribe = source;
  return schema;
}

async function accepted(source: () => Source, variables: Record<string, unknown>): Promise<Subscription> {
  const document = parse('subscription ($after: String) { n(after: $after) }');
  const operation = getOperationAST(document)!;
  const streaming: Streaming = { takesJson: false };
  const execution = { document, operation, contextValue: {}, variableValues: variables } as unknown as Execution;
  await subscribe(schemaOf(source), execution, streaming);
  return streaming.subscription!;
}

test('a stream keeps only the variables its operation uses', async () => {
  const source = (): Source => ({
    cursor: '0',
    ended: new AbortController().signal,
    async *[Symbol.asyncIterator]() {
      await turn();
      yield { n: 1 };
    },
  });
  const make = async (): Promise<{ subscribed: Subscription; other: WeakRef<object> }> => {
    const other = { large: 'x'.repeat(1_000_000) };
    return { subscribed: await accepted(source, { after: '0', other }), other: new WeakRef(other) };
  };
  const { subscribed, other } = await make();
  await turn();
  collectGarbage();
  expect(other.deref() === undefined).toBe(true);
  expect(await subscribed.resultOf({ n: 1 })).toEqual({ data: { n: 1 } });
});

test('streams with many events give way together, after 10 ms of the work of all', async () => {
  const [streams, events] = [50, 20];
  // an event takes 1 ms of this clock
  let [clock, inRow, longest, ended] = [0, 0, 0, 0];
  const now = jest.spyOn(performance, 'now').mockImplementation(() => clock);
  const subscribed = (): Subscription => ({
    source: {
      cursor: '0',
      ended: new AbortController().signal,
      async *[Symbol.asyncIterator]() {
        for (let n = 0; n < events; n += 1) yield await Promise.resolve(n);
      },
    },
    resultOf: (n) => {
      clock += 1;
      longest = Math.max(longest, (inRow += 1));
      return Promise.resolve({ data: { n } });
    },
  });
  const exchange = (): Exchange => {
    const response = {
      headersSent: false,
      closed: false,
      destroyed: false,
      writableEnded: false,
      writeHead: () => undefined,
      write: () => true,
      end: () => (ended += 1),
    };
    return { response, requestId: 'one', log: {} } as unknown as Exchange;
  };
  const yieldToOthers = async (): Promise<void> => {
    await turn();
    inRow = 0;
  };
  const sending = createEventStreams({ logger: pino({ enabled: false }), commentEvery: 60_000 });
  for (let n = 0; n < streams; n += 1) sending.send(exchange(), subscribed(), yieldToOthers);
  while (ended < streams) await turn();
  now.mockRestore();
  expect(clock).toBe(streams * events);
  expect(longest).toBe(10);
});
