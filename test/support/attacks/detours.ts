import { randomUUID } from 'node:crypto';
import type { Operation } from '../../../src/schema/declaredOperations';
import { published } from '../../../src/schema/model';
import { ask, callOver } from './calls';
import { cursorsOf, type Probe } from './probes';
import type { Kind } from './rule';
import { IDENTITIES, type Identity, type Holding, idsOf, NAMED, type Scene } from './scene';
import type { Client, Json } from '../client';
import { EVENTS } from '../eventStream';
import { store } from '../factories';
import type { Arguments } from '../faces';
import { argumentsOf, CALLS, GRAPHQL, operations, RELATIONS, REST, takesId } from '../operations';
import { names, RESOURCES } from '../resources';

/* Ways to reach another organisation's data other than arguments of an operation. */

/** Probes of relations, with the callers' own rows referring to customers and quotes of other organisations. */
export async function relationProbes(scene: Scene): Promise<Probe[]> {
  const customers = idsOf(scene, ({ records }) => records.customers[NAMED]!.id);
  const quotes = idsOf(scene, ({ records }) => records.quotes[NAMED]!.id);
  const parents = new Map<string, string>();
  for (const home of [scene.own, scene.other]) {
    for (const identity of STORABLE) {
      const named: Json = { customer_id: customers[identity], quote_id: quotes[identity] };
      for (const { list, one, members } of RESOURCES) {
        const { type, unique } = TYPES.find(({ collection }) => collection === list)!;
        if (one === 'customer' || !RELATIONS.some(({ parent }) => parent === type)) continue;
        const given = Object.entries(named).filter(([member]) => names(members).includes(member));
        const own = { id: randomUUID(), external_ref: null, ...(unique && { [unique]: randomUUID() }) };
        await store(scene.gateway, home.organisation, {
          [list]: [
            { ...home.records[list][0]!, ...Object.fromEntries(given), ...own, ...anew(home.records[list][0]!) },
          ],
        });
        parents.set(`${type} ${home.organisation.id} ${identity}`, own.id);
      }
    }
  }
  return RELATIONS.filter(({ parent }) => parent !== 'Customer').map(
    ({ parent, name, scope, operation, document }): Probe => ({
      way: 'GraphQL relation',
      title: `${parent}.${name}`,
      kind: 'relation',
      face: GRAPHQL,
      operation,
      scope,
      identities: STORABLE,
      send: async (caller, { organisation }, identity) => {
        const variables = { id: parents.get(`${parent} ${organisation.id} ${identity}`)! };
        return { ...(await ask(caller, document, variables, [operation.name, name])), said: variables };
      },
    }),
  );
}

/** The same messages as others, if it is a thread. */
function anew({ messages }: Json): Json {
  return (
    messages && {
      external_ref: null,
      messages: messages.map((message: Json) => ({ ...message, id: randomUUID(), external_ref: null })),
    }
  );
}

const TYPES = [...published.stored.values()];

/** Malformed ids are left out, since an import rejects them. */
const STORABLE: readonly Identity[] = ['own', 'foreign', 'random'];

/** Probes of a customer's lists with a cursor. */
export async function relationCursorProbes(scene: Scene): Promise<Probe[]> {
  const probes: Probe[] = [];
  for (const { parent, name, scope, operation, document } of RELATIONS.filter(({ parent }) => parent === 'Customer')) {
    const list = operations.find((operation) => operation.name === name)!;
    const cursors = await cursorsOf(scene, list, { ofCustomer: true });
    const paged = document
      .replace('($id: ID!', '($id: ID!, $cursor: String')
      .replace(` ${name} {`, ` ${name}(cursor: $cursor) {`);
    probes.push({
      way: 'GraphQL relation',
      title: `${parent}.${name}(cursor)`,
      kind: 'cursor',
      face: GRAPHQL,
      operation,
      scope,
      identities: IDENTITIES,
      send: async (caller, home, identity) => {
        const variables = { id: home.ids.customer, cursor: cursors[identity] };
        return { ...(await ask(caller, paged, variables, [operation.name, name])), said: variables };
      },
    });
  }
  return probes;
}

/** Probes of the subscription to events with cursors of other organisations, in both places that take one. */
export async function subscriptionProbes(scene: Scene): Promise<Probe[]> {
  const operation = operations.find(({ name }) => name === 'events')!;
  const cursors = await cursorsOf(scene, operation, { ofCustomer: false });
  const accept = 'text/event-stream';
  return (['after', 'Last-Event-ID'] as const).map((place) => ({
    way: 'GraphQL subscription',
    title: `events(${place})`,
    kind: 'cursor',
    face: GRAPHQL,
    operation,
    scope: operation.scope,
    identities: IDENTITIES,
    send: async (caller, _home, identity) => {
      const cursor = cursors[identity];
      const [variables, headers] = place === 'after' ? [{ after: cursor }, {}] : [{}, { [place]: cursor }];
      const answer = await caller.graphql(EVENTS, variables, { accept, ...headers });
      const { data, errors } = answer.body;
      return { answer, value: data && { data: [data.events] }, error: errors?.[0].extensions, said: cursor };
    },
  }));
}

/** Regular calls of every operation, with an unexpected organisation id. */
export function organisationProbes(scene: Scene): Probe[] {
  const ids = idsOf(scene, ({ organisation }) => organisation.id);
  return CALLS.flatMap(({ operation, face }) => {
    const probe = (way: string, kind: Kind, send: Probe['send']): Probe => ({
      way: `${face.name} ${way}`,
      title: `${operation.name}(${way})`,
      kind,
      face,
      operation,
      scope: operation.scope,
      identities: IDENTITIES,
      send,
    });
    const inHeader = probe('organisation header', 'plain', async (caller, home, identity) => {
      const headers = { 'x-organisation-id': ids[identity], 'x-tenant-id': ids[identity] };
      return { ...(await callOver(face, caller, operation, argumentsOf(operation, home.ids), headers)), said: headers };
    });
    if (face !== REST || operation.kind === 'Mutation') return [inHeader];
    const inQuery = probe('organisation parameter', 'smuggled', async (caller, home, identity) => {
      const args = { ...argumentsOf(operation, home.ids), organisation_id: ids[identity] };
      return { ...(await callOver(face, caller, operation, args)), said: args };
    });
    return [inHeader, inQuery];
  });
}

/** Probes with Idempotency-Keys used by the same key, by the victim's, or by another key of the caller's organisation. */
export async function replayProbes(scene: Scene): Promise<Probe[]> {
  const probes: Probe[] = [];
  for (const { operation, face } of CALLS.filter(({ operation }) => operation.kind === 'Mutation')) {
    const used = await useKeys(scene, operation);
    probes.push({
      way: `${face.name} replay`,
      title: `${operation.name} (Idempotency-Key)`,
      kind: 'replay',
      face,
      operation,
      scope: operation.scope,
      identities: IDENTITIES,
      send: async (caller, home, identity) => {
        const args = repeatable(operation, scene.own, home);
        const headers = { 'idempotency-key': used[identity] };
        return { ...(await callOver(face, caller, operation, args, headers)), said: [args, headers] };
      },
    });
  }
  return probes;
}

async function useKeys(scene: Scene, operation: Operation): Promise<Record<Identity, string>> {
  const { own, victim } = scene;
  const [mine, foreign, sibling] = [randomUUID(), randomUUID(), randomUUID()];
  const first = async (caller: Client, key: string, home = own): Promise<void> => {
    const args = repeatable(operation, own, home);
    const answer = await REST.call(caller, operation, args, { 'idempotency-key': key });
    if (answer.status >= 300) throw new Error(answer.text);
  };
  await first(own.caller, mine);
  await first(victim.caller, foreign, victim);
  await first(scene.callerWith('scope missing', 'quotes:write'), sibling);
  return { own: mine, foreign, random: sibling, malformed: 'a b' };
}

/** The same write for every organisation, except for the id of an object; the ids in its answer show whose it is. */
function repeatable(operation: Operation, { records }: Holding, home: Holding): Arguments {
  if (takesId(operation)) return argumentsOf(operation, home.ids);
  const { name } = operation;
  const { sku } = records.products.at(-1) as Json;
  const { external_ref } = records.customers.at(-1) as Json;
  const writes: Record<string, Arguments> = {
    upsert_products: { products: [{ sku, name: 'Replayed' }] },
    upsert_customers: { customers: [{ external_ref, name: 'Replayed' }] },
    upsert_invoices: { invoices: [{ number: (records as Json).invoices?.at(-1)?.number, status: 'void' }] },
    open_request: { text: 'Replayed' },
  };
  if (!writes[name]) throw new Error(`add a write of ${name} to test/support/attacks/detours.ts`);
  return writes[name];
}
