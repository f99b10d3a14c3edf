import { cursorsOf, type Probe } from './attackProbes';
import { IDENTITIES, type Scene } from './attackScene';
import { EVENTS } from './eventStream';
import { GRAPHQL, operations } from './operations';

/** Probes of the subscription to events with cursors of other organisations, in both places that take one. */
export async function subscriptionProbes(scene: Scene): Promise<Probe[]> {
  const operation = operations.find(({ name }) => name === 'events')!;
  const cursors = await cursorsOf(scene, operation, { ofCustomer: false });
  const accept = 'text/event-stream';
  return (['after', 'Last-Event-ID'] as const).map((place) => ({
    ...{ way: 'GraphQL subscription', title: `events(${place})`, kind: 'cursor', face: GRAPHQL },
    ...{ operation, scope: operation.scope, identities: IDENTITIES },
    send: async (caller, _home, identity) => {
      const cursor = cursors[identity];
      const [variables, headers] = place === 'after' ? [{ after: cursor }, {}] : [{}, { [place]: cursor }];
      const answer = await caller.graphql(EVENTS, variables, { accept, ...headers });
      const { data, errors } = answer.body;
      return { answer, value: data && { data: [data.events] }, error: errors?.[0].extensions, said: cursor };
    },
  }));
}
