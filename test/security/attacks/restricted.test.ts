import { randomUUID } from 'node:crypto';
import type { Organisation } from '../../../src/auth/principal';
import { includedFields } from '../../../src/schema/restDocument';
import { published } from '../../../src/schema/model';
import { ask as askGraphql, callOver, type Called } from '../../support/attacks/calls';
import { canaryRecords, secretsIn, secretsInText } from '../../support/attacks/canaries';
import { argumentProbes, type Probe, type Sent } from '../../support/attacks/probes';
import type { Holding, Scene } from '../../support/attacks/scene';
import { type Client, client, type Json } from '../../support/client';
import { makeKey, makeOrganisation, store } from '../../support/factories';
import type { Arguments } from '../../support/faces';
import { served } from '../../support/gateway';
import { ALL_FACES, argumentsOf, CALLS, operations, RELATIONS, REST, takesId } from '../../support/operations';
import type { Ids } from '../../support/operations';
import { type Records, RESOURCES } from '../../support/resources';

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
function leaksIn({ answer, said }: Sent): string[] {
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
    .replaceAll(/"(\w+_at|etag)":"(?:[^"\\]|\\.)+"/g, '"$1":"<time>"')
    .replaceAll(/"(remaining|reset_at|instance|request_id)":("[^"]+"|\d+)/g, '"$1":0');
  return inOneOrder(JSON.parse(plain));
}

/** Rows that were written at the same time are in the order of their ids, which differ. */
function inOneOrder(answer: Json): Json {
  const rows = answer.value?.data as Json[] | undefined;
  return rows ? { ...answer, value: { ...answer.value, data: rows.map((row) => JSON.stringify(row)).sort() } } : answer;
}

interface Cell {
  readonly title: string;
  /** A write, which later cells may see. */
  readonly isWrite?: boolean;
  readonly send: (caller: Client) => Promise<Sent>;
}

/** Number of reads tested concurrently. */
const ABREAST = 8;

/** Cells that differ from an organisation without the other customers, or show something of them. */
async function failures(cells: readonly Cell[]): Promise<unknown[]> {
  const failed: unknown[] = [];
  const look = async ({ title, send }: Cell): Promise<void> => {
    const answer = await send(worlds.restricted);
    const [found, wanted] = [comparable(answer), comparable(await send(worlds.expected))];
    const leaks = leaksIn(answer);
    if (leaks.length > 0 || JSON.stringify(found) !== JSON.stringify(wanted))
      failed.push({ title, leaks, found: brief(found), wanted: brief(wanted) });
  };
  const reads = cells.filter(({ isWrite }) => !isWrite);
  for (let at = 0; at < reads.length; at += ABREAST) await Promise.all(reads.slice(at, at + ABREAST).map(look));
  for (const cell of cells.filter(({ isWrite }) => isWrite)) await look(cell);
  return failed;
}
const brief = (value: unknown): string => JSON.stringify(value).slice(0, 300);

/** Operations whose answers name the organisation or the key itself, or depend on when its events were recorded. */
const OWN_ANSWER = ['me', 'events'];
/** Bulk calls of restricted types: a key restricted to customers creates no object without one. */
const CREATES = published.upserts
  .filter(({ stored }) => stored.restrictedBy !== undefined)
  .map(({ operation }) => operation);

/** Calls that name nothing, in each API. */
const plainCalls = () =>
  CALLS.filter(({ operation }) => operation.kind === 'Query' && !OWN_ANSWER.includes(operation.name));

/** One way in each API to name another's object, and one to name the key's own, which shows that the others' are what differs. */
const cellsOf = (probes: readonly Probe[]) =>
  probes
    .filter(({ way }) => !['GraphQL alias', 'GraphQL fragment'].includes(way))
    .flatMap((probe) =>
      (probe.face === REST ? (['own', 'foreign'] as const) : (['foreign'] as const)).map((identity) => ({
        probe,
        identity,
      })),
    );

test('every argument by which an operation can name an object of another customer gives what it gives where there is none', async () => {
  const { scene } = worlds;
  const probes = await argumentProbes(scene);
  const cells = cellsOf(
    probes.filter(({ kind, operation }) => kind !== 'cursor' && !OWN_ANSWER.includes(operation.name)),
  )
    .filter(({ probe, identity }) => !(CREATES.includes(probe.operation.name) && identity !== 'own'))
    .map(({ probe, identity }) => ({
      title: `${probe.way}: ${probe.title}, ${identity}`,
      isWrite: probe.operation.kind === 'Mutation',
      send: (caller: Client) => probe.send(caller, scene.own, identity),
    }));
  expect(cells.length).toBeGreaterThan(100);
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
        send: async (caller: Client) => ({ ...(await callOver(face, caller, operation, args)), said: args }),
      };
    });
  });
  const relations = RELATIONS.flatMap(({ parent, name, operation, document }) =>
    [scene.own, scene.victim].map(({ ids }) => {
      const variables = argumentsOf(operation, ids);
      return {
        title: `${parent}.${name}`,
        send: async (caller: Client) => {
          const called = await askGraphql(caller, document, variables, [operation.name, name]);
          return { ...called, said: variables };
        },
      };
    }),
  );
  expect(await failures([...cells, ...relations])).toEqual([]);
});

test('a list is read to its end by cursors, those of another key included, without a row of other customers', async () => {
  const { restricted, stranger, mine } = worlds;
  for (const { list } of RESOURCES.filter(({ list }) => list !== 'products')) {
    const foreign = foreignSecrets();
    let [pages, cursor] = ['', undefined as string | undefined];
    do {
      const { text, body } = await restricted.get(`/${list}`, {
        limit: 4,
        sort: 'created_at',
        ...(cursor && { cursor }),
      });
      [pages, cursor] = [pages + text, body.next_cursor ?? undefined];
    } while (cursor !== undefined);
    expect(mine[list].filter(({ id }) => !pages.includes(id))).toEqual([]);
    expect([...secretsInText(pages)].filter((secret) => foreign.has(secret))).toEqual([]);
    const theirs = (await stranger.get(`/${list}`, { limit: 1 })).body.next_cursor as string;
    const rest = await restricted.get(`/${list}`, { cursor: theirs });
    expect([...secretsInText(rest.text)].filter((secret) => foreign.has(secret))).toEqual([]);
  }
});

test.each(ALL_FACES)('$name: an Idempotency-Key of another key replays nothing', async (face) => {
  const { scene, restricted, stranger } = worlds;
  for (const operation of operations.filter(({ kind }) => kind === 'Mutation')) {
    const key = randomUUID();
    const usual = (ids: Ids): Arguments =>
      argumentsOf(operation, ids, operation.name.startsWith('upsert') ? { dry_run: false } : {});
    const first = await callOver(face, stranger, operation, usual(scene.victim.ids), { 'idempotency-key': key });
    expect([operation.name, first.error]).toEqual([operation.name, undefined]);
    const foreign = usual(scene.victim.ids);
    const again = await callOver(face, restricted, operation, foreign, { 'idempotency-key': key });
    expect([operation.name, again.answer.headers.get('idempotent-replayed')]).toEqual([operation.name, null]);
    expect([operation.name, leaksIn({ ...again, said: foreign })]).toEqual([operation.name, []]);
  }
});
