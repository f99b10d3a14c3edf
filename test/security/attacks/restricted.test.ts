import { randomUUID } from 'node:crypto';
import type { Organisation } from '../../../src/auth/principal';
import type { Operation } from '../../../src/schema/declaredOperations';
import { includedFields } from '../../../src/schema/restDocument';
import { published } from '../../../src/schema/model';
import { ask as askGraphql, callOver, type Called } from '../../support/attacks/calls';
import { canaryRecords, secretsIn, secretsInText } from '../../support/attacks/canaries';
import { argumentProbes, type Probe } from '../../support/attacks/probes';
import { type Holding, IDENTITIES, type Identity, type Scene } from '../../support/attacks/scene';
import { type Client, client, type Json } from '../../support/client';
import { makeKey, makeOrganisation, store } from '../../support/factories';
import type { Arguments } from '../../support/faces';
import { served } from '../../support/gateway';
import { ALL_FACES, argumentsOf, CALLS, operations, RELATIONS, REST, takesId } from '../../support/operations';
import type { Ids } from '../../support/operations';
import { type ListName, type Records, RESOURCES } from '../../support/resources';

/*
 * A key restricted to some customers is answered as if the organisation had no others: in every operation and API, however it names what belongs to
 * the others, it gets what a key of an organisation without them gets. What only whoever can write may tell apart is tested below.
 */

const gateway = served();

/** An organisation with two customers' data, and one with the first's alone; products are not anyone's. */
interface Worlds {
  readonly whole: Organisation;
  readonly twin: Organisation;
  readonly mine: Records;
  readonly others: Records;
  /** The key under test, one for the other customers, and a key of the twin. */
  readonly restricted: Client;
  readonly stranger: Client;
  readonly expected: Client;
  readonly scene: Scene;
}

let worlds: Worlds;

const idsOf = (records: Records): Ids =>
  Object.fromEntries(RESOURCES.map(({ list, one }) => [one, records[list][0]!.id])) as unknown as Ids;
const customersOf = ({ customers }: Records): string[] => customers.map(({ id }) => id).sort();

beforeAll(async () => {
  const [mine, others] = [canaryRecords('mine'), canaryRecords('others')];
  const [whole, twin] = [await makeOrganisation(gateway), await makeOrganisation(gateway)];
  for (const organisation of [whole, twin]) await store(gateway, organisation, mine);
  await store(gateway, twin, { products: others.products });
  await store(gateway, whole, others);
  const callerFor = async (organisation: Organisation, records?: Records): Promise<Client> => {
    const customerIds = records && customersOf(records);
    return client(gateway, (await makeKey(gateway, organisation, customerIds && { customerIds })).key);
  };
  const restricted = await callerFor(whole, mine);
  const stranger = await callerFor(whole, others);
  const holding = (records: Records, caller: Client): Holding => {
    return { organisation: whole, records, ids: idsOf(records), caller, secrets: secretsIn(records) };
  };
  const [own, victim] = [holding(mine, restricted), holding(others, stranger)];
  const scene = { gateway, own, other: own, victim, closed: [], callerWith: () => restricted, homeOf: () => own };
  worlds = { whole, twin, mine, others, restricted, stranger, expected: await callerFor(twin), scene };
});

/** Texts and ids of what belongs to the other customers. */
function foreignSecrets(): Set<string> {
  const { products: _free, ...records } = worlds.others;
  return secretsIn(records);
}

/** What an answer shows of the other customers, unless the caller sent it. */
function leaksIn({ answer }: Called, said: unknown): string[] {
  const words = JSON.stringify(said);
  const foreign = foreignSecrets();
  const shown = `${JSON.stringify([...answer.headers])}${answer.text}`;
  return [...secretsInText(shown)].filter((secret) => foreign.has(secret) && !words.includes(secret));
}

/** An answer without what differs between two organisations, and between two writes. */
function comparable({ answer, value, error }: Called): unknown {
  const known = secretsIn([worlds.mine, worlds.others]);
  const plain = JSON.stringify({ status: answer.status, value, error })
    .replaceAll(/"next_cursor":"[^"]+"/g, '"next_cursor":"<cursor>"')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => (known.has(id) ? id : '<id>'))
    .replaceAll(/"(\w+_at)":"[^"]+"/g, '"$1":"<time>"')
    .replaceAll(/"(remaining|reset_at|instance|request_id)":("[^"]+"|\d+)/g, '"$1":0');
  return JSON.parse(plain) as unknown;
}

/** The answers in both worlds, and what leaks. */
async function both(send: (caller: Client) => Promise<Called>, said: unknown) {
  const [found, wanted] = [await send(worlds.restricted), await send(worlds.expected)];
  return { found: comparable(found), wanted: comparable(wanted), leaks: leaksIn(found, said) };
}

/** Cells that differ from an organisation without the other customers, or show something of them. */
async function failures(cells: readonly { title: string; said: unknown; send: (caller: Client) => Promise<Called> }[]) {
  const failed: unknown[] = [];
  for (const { title, said, send } of cells) {
    const { found, wanted, leaks } = await both(send, said);
    if (leaks.length > 0 || JSON.stringify(found) !== JSON.stringify(wanted))
      failed.push({ title, leaks, found: brief(found), wanted: brief(wanted) });
  }
  return failed;
}
const brief = (value: unknown): string => JSON.stringify(value).slice(0, 300);

/** Operations whose answers name the organisation or the key itself, or depend on when its events were recorded. */
const OWN_ANSWER = ['me', 'events'];
/** Bulk calls of restricted types: a key restricted to customers creates no object without one. */
const CREATES = published.upserts.filter(({ stored }) => stored.restrictedBy !== undefined).map(({ operation }) => operation);

/** Calls that name nothing, in each API. */
const plainCalls = () =>
  CALLS.filter(({ operation }) => operation.kind === 'Query' && !OWN_ANSWER.includes(operation.name));

const cellsOf = (probes: readonly Probe[]) =>
  probes.flatMap((probe) => probe.identities.map((identity) => ({ probe, identity })));

test('every argument by which an operation can name an object of another customer gives what it gives where there is none', async () => {
  const { scene } = worlds;
  const probes = await argumentProbes(scene);
  const cells = cellsOf(probes.filter(({ kind, operation }) => kind !== 'cursor' && !OWN_ANSWER.includes(operation.name)))
    .filter(({ probe, identity }) => !(CREATES.includes(probe.operation.name) && identity !== 'own'))
    .map(({ probe, identity }) => ({
      title: `${probe.way}: ${probe.title}, ${identity}`,
      said: [identity === 'foreign' && scene.victim.records, probe.title],
      send: (caller: Client) => probe.send(caller, scene.own, identity),
    }));
  expect(cells.length).toBeGreaterThan(300);
  expect(await failures(cells)).toEqual([]);
});

test('every read, list and total, with everything that include adds, is that of an organisation without other customers', async () => {
  const { scene } = worlds;
  const cells = plainCalls().flatMap(({ operation, face }) => {
    const root = published.rootField(operation.name)!;
    const include = face === REST ? includedFields(published, root).map(({ name }) => name.value) : [];
    const isList = !takesId(operation) && root.arguments?.some(({ name }) => name.value === 'limit');
    return (['own', 'foreign'] as const).map((identity) => {
      const { ids } = identity === 'own' ? scene.own : scene.victim;
      const usual = argumentsOf(operation, ids);
      const args: Arguments = { ...usual, ...(isList && { limit: 100 }), ...(include.length > 0 && { include }) };
      return {
        title: `${face.name} ${operation.name}, ${identity}`,
        said: args,
        send: (caller: Client) => callOver(face, caller, operation, args),
      };
    });
  });
  const relations = RELATIONS.flatMap(({ parent, name, operation, document }) =>
    [scene.own, scene.victim].map(({ ids }) => {
      const variables = argumentsOf(operation, ids);
      return {
        title: `${parent}.${name}`,
        said: variables,
        send: (caller: Client) => askGraphql(caller, document, variables, [operation.name, name]),
      };
    }),
  );
  // an organisation without the others has as many rows as the key sees, and some
  const lists = await Promise.all(
    RESOURCES.map(async ({ list }) => [list, (await worlds.restricted.get(`/${list}`, { limit: 100 })).body.data.length]),
  );
  expect(Object.fromEntries(lists)).toEqual(
    Object.fromEntries(RESOURCES.map(({ list }) => [list, list === 'products' ? 12 : 6])),
  );
  expect(await failures([...cells, ...relations])).toEqual([]);
});

test('a list is read to its end by cursors, those of another key included, without a row of other customers', async () => {
  const { restricted, stranger, mine } = worlds;
  for (const { list } of RESOURCES.filter(({ list }) => list !== 'products')) {
    const wanted = new Set(mine[list as ListName].map(({ id }) => id));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await restricted.get(`/${list}`, { limit: 4, sort: 'created_at', ...(cursor && { cursor }) });
      seen.push(...body.data.map(({ id }: Json) => id as string));
      cursor = body.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen.filter((id) => wanted.has(id)).length).toBe(seen.length);
    expect(new Set(seen).size).toBeGreaterThanOrEqual(wanted.size);
    const theirs = (await stranger.get(`/${list}`, { limit: 1 })).body.next_cursor as string;
    const rest = await restricted.get(`/${list}`, { cursor: theirs });
    expect(secretsInText(rest.text).intersection(foreignSecrets())).toEqual(new Set());
  }
});

test.each(ALL_FACES)('$name: an Idempotency-Key of another key replays nothing', async (face) => {
  const { scene, restricted, stranger } = worlds;
  for (const operation of operations.filter(({ kind }) => kind === 'Mutation')) {
    const key = randomUUID();
    const usual = (ids: Ids): Arguments => argumentsOf(operation, ids, operation.name.startsWith('upsert') ? { dry_run: false } : {});
    const first = await callOver(face, stranger, operation, usual(scene.victim.ids), { 'idempotency-key': key });
    expect([operation.name, first.error]).toEqual([operation.name, undefined]);
    const foreign = usual(scene.victim.ids);
    const again = await callOver(face, restricted, operation, foreign, { 'idempotency-key': key });
    expect([operation.name, again.answer.headers.get('idempotent-replayed')]).toEqual([operation.name, null]);
    expect([operation.name, leaksIn(again, foreign)]).toEqual([operation.name, []]);
  }
});
