import { argumentProbes, type Probe } from '../../support/attacks/probes';
import {
  organisationProbes,
  relationCursorProbes,
  relationProbes,
  replayProbes,
  subscriptionProbes,
} from '../../support/attacks/detours';
import { expectedOutcome, expectedStatus, outcomeOf } from '../../support/attacks/rule';
import { hashOf, type Identity, type KeyKind, KEYS, makeScene, type Scene } from '../../support/attacks/scene';
import { canariesIn, secretsInText } from '../../support/attacks/canaries';
import { startWatchedGateway } from '../../support/commands';
import type { TestGateway } from '../../support/gateway';
import { databaseName } from '../../../src/mongo/databaseNames';
import type { Answer, Json } from '../../support/client';
import { CALLS, argumentsOf, operations } from '../../support/operations';
import { RESOURCES } from '../../support/resources';

/*
 * Every kind of key, times every operation, times every position where a caller can name an object, times the owner of that
 * object. Each cell must have the outcome of the rule (rule.ts) and show no data of other organisations.
 */

const WAYS = [
  'REST path',
  'REST query',
  'REST body',
  'GraphQL argument',
  'GraphQL alias',
  'GraphQL fragment',
  'GraphQL relation',
  'GraphQL subscription',
  'MCP argument',
  'REST organisation header',
  'GraphQL organisation header',
  'MCP organisation header',
  'REST organisation parameter',
  'REST replay',
  'GraphQL replay',
  'MCP replay',
] as const;

/** Keys that are refused whatever is asked: for them an id of nobody is no other case than that of somebody else. */
const REFUSED: readonly KeyKind[] = ['expired', 'revoked', 'plan off', 'suspended'];

/** Number of cells tested concurrently. */
const ABREAST = 8;

let gateway: TestGateway;
let scene: Scene;
let probes: readonly Probe[];
const total = { cells: 0, failures: 0 };
/** Commands sent to the databases of organisations whose plan or state rejects every request. */
const sentToClosed: string[] = [];

beforeAll(async () => {
  gateway = await startWatchedGateway();
  scene = await makeScene(gateway);
  probes = [
    ...(await argumentProbes(scene)),
    ...(await relationCursorProbes(scene)),
    ...(await relationProbes(scene)),
    ...organisationProbes(scene),
    ...(await subscriptionProbes(scene)),
    ...(await replayProbes(scene)),
  ];
  // a key that was accepted before may begin one read, which is dropped (readAhead.test.ts)
  for (const kind of ['plan off', 'suspended'] as const) await scene.callerWith(kind, undefined).get('/quotes');
  const closed = scene.closed.map(({ id }) => databaseName(id));
  gateway.databases.control.getClient().on('commandStarted', (event) => {
    if (closed.includes(event.databaseName)) sentToClosed.push(event.commandName);
  });
});
afterAll(async () => {
  const { cells, failures } = total;
  process.stdout.write(`attack matrix: ${cells.toLocaleString('en')} cells, ${String(failures)} failures\n`);
  await gateway.stop();
});

interface Cell {
  readonly probe: Probe;
  readonly key: KeyKind;
  readonly identity: Identity;
}

test("the victim's own key can read all of its secrets, so the matrix would detect a leak", async () => {
  const { victim } = scene;
  let seen = '';
  for (const { operation, face } of CALLS.filter((one) => one.operation.kind === 'Query')) {
    seen += (await face.call(victim.caller, operation, argumentsOf(operation, victim.ids))).text;
  }
  for (const { list } of RESOURCES) {
    for (const { id } of victim.records[list]) seen += (await victim.caller.get(`/${list}/${id}`)).text;
  }
  for (const { id } of victim.records.requests) {
    seen += (await victim.caller.get(`/requests/${id}/messages`)).text;
  }
  expect([...victim.secrets].filter((secret) => !seen.includes(secret))).toEqual([]);
  expect(canariesIn(seen).length).toBeGreaterThan(100);
});

test('the matrix covers every operation, and exactly the ways tested here', () => {
  expect([...new Set(probes.map(({ way }) => way))].sort()).toEqual([...WAYS].sort());
  expect([...new Set(probes.map(({ operation }) => operation.name))].sort()).toEqual(
    operations.map(({ name }) => name).sort(),
  );
});

describe.each(WAYS)('by %s', (way) => {
  test("no key can access other organisations' data, and the victim's data are neither shown nor changed", async () => {
    const before = await hashOf(gateway, scene.victim.organisation);
    const cells = probes
      .filter((probe) => probe.way === way)
      .flatMap((probe) => KEYS.flatMap((key) => probe.identities.map((identity): Cell => ({ probe, key, identity }))))
      .filter(({ key, identity }) => !(identity === 'random' && REFUSED.includes(key)));
    const failures: unknown[] = [];
    for (let start = 0; start < cells.length; start += ABREAST) {
      const found = await Promise.all(cells.slice(start, start + ABREAST).map(failureOf));
      failures.push(...found.filter((failure) => failure !== undefined));
    }
    total.cells += cells.length;
    total.failures += failures.length;
    expect(failures).toEqual([]);
    expect(cells.length).toBeGreaterThanOrEqual(KEYS.length);
    expect(await hashOf(gateway, scene.victim.organisation)).toBe(before);
    expect(sentToClosed).toEqual([]);
  });
});

/** Describes what is wrong with the answer of a cell; undefined if nothing is. */
async function failureOf({ probe, key, identity }: Cell): Promise<object | undefined> {
  const { kind, face, operation, scope } = probe;
  const home = scene.homeOf(key);
  const { answer, value, error, said } = await probe.send(scene.callerWith(key, scope), home, identity);
  const expected = expectedOutcome(kind, key, identity, (scope ?? operation.anyOf) !== undefined);
  const found = {
    outcome: outcomeOf(kind, answer, value, error),
    status: answer.status,
    told: toldBy(answer, error),
    leaks: leaksIn(answer, said, expected, key),
  };
  const wanted = {
    outcome: expected,
    status: expectedStatus(face, operation, expected),
    told: {
      challenge: expected === 'unauthenticated' ? 'Bearer' : null,
      isCounted: expected !== 'unauthenticated',
      scope: expected === 'insufficient_scope' ? scope : undefined,
    },
    leaks: [],
  };
  if (JSON.stringify(found) === JSON.stringify(wanted)) return undefined;
  return {
    cell: `${probe.way}: ${probe.title}, key ${key}, ${identity}`,
    found,
    wanted,
    text: answer.text.slice(0, 300),
  };
}

/** What else an answer says about a rejection. */
function toldBy({ headers }: Answer, error: Json): object {
  return {
    // the rest of it says where apps get a key
    challenge: headers.get('www-authenticate')?.split(' ')[0] ?? null,
    isCounted: headers.has('ratelimit'),
    scope: error?.required_scope,
  };
}

/** Secrets leaked by an answer: of other organisations, and the caller's own if it was rejected; not those it sent itself. */
function leaksIn(
  { headers, text }: { headers: Headers; text: string },
  said: unknown,
  outcome: string,
  key: KeyKind,
): string[] {
  const words = JSON.stringify(said);
  const shown = `${JSON.stringify([...headers])}${text}`;
  const refused = ['unauthenticated', 'plan_required', 'organisation_suspended'].includes(outcome);
  const { own, other, victim } = scene;
  const strangers = [victim, own, other].filter((holding) => refused || holding !== scene.homeOf(key));
  return [...secretsInText(shown)].filter(
    (secret) => strangers.some(({ secrets }) => secrets.has(secret)) && !words.includes(secret),
  );
}
