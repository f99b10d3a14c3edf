import type { Organisation } from '../../../src/auth/principal';
import { MINUTE } from '../../../src/units';
import { generateKey } from '../../../src/auth/keys';
import { IDS, makeStocked } from '../../support/fixtures/contract';
import { type Client, client } from '../../support/client';
import { commandsOf, type SentCommand, startWatchedGateway } from '../../support/commands';
import { makeKey } from '../../support/factories';
import { metric, served, servedBy } from '../../support/gateway';

/*
 * A key that was accepted before is read beside what its request asks for (docs/decisions/one-round-trip.md). Whatever has changed since, the
 * answer is that of the key as it is now, and a read that was begun in vain stays the only one. Revocations over many trials are in
 * test/security/revocation.test.ts.
 */

const PATH = `/quotes/${IDS.quote}`;
/** With more rows than a page without a turn has. */
const LIST = '/quotes?limit=50';
const PATHS = [PATH, LIST];

const gateway = servedBy(startWatchedGateway);
const other = served();

interface Seen {
  readonly organisation: Organisation;
  readonly id: string;
  readonly caller: Client;
  /** The same key at another gateway. */
  readonly elsewhere: Client;
}

/** A key that both gateways have accepted, of an organisation whose quotes they have read. */
async function makeSeen(organisation: Organisation | Promise<Organisation> = makeStocked(gateway)): Promise<Seen> {
  const of = await organisation;
  const { id, key } = await makeKey(gateway, of);
  const [caller, elsewhere] = [client(gateway, key), client(other, key)];
  for (const path of [...PATHS, ...PATHS]) {
    for (const one of [caller, elsewhere]) expect((await one.get(path)).status).toBe(200);
  }
  return { organisation: of, id, caller, elsewhere };
}

const keys = () => gateway.databases.control.collection<{ _id: string }>('api_keys');
const set = (id: string, change: object): Promise<unknown> => keys().updateOne({ _id: id }, { $set: change });

/** Each way in which a key can have changed since it was accepted. */
const CHANGES: readonly (readonly [string, (seen: Seen) => Promise<unknown>, number, string])[] = [
  ['revoked', ({ id }) => other.control.apiKeys.revoke(id), 401, 'unauthenticated'],
  ['expired', ({ id }) => set(id, { expires_at: new Date(Date.now() - MINUTE) }), 401, 'unauthenticated'],
  ['replaced at once', ({ id }) => other.control.apiKeys.rotate(id, { overlap: 0 }), 401, 'unauthenticated'],
  ['deleted', ({ id }) => keys().deleteOne({ _id: id }), 401, 'unauthenticated'],
  ['given another secret', ({ id }) => set(id, { hash: generateKey('svc_live_', '').hash }), 401, 'unauthenticated'],
  [
    'withdrawn from its address',
    ({ id }) => other.control.apiKeys.update(id, { allowed_ranges: ['203.0.113.0/24'] }),
    ...([401, 'unauthenticated'] as const),
  ],
  ['erased', ({ organisation }) => other.control.erasing.begin(organisation.id), 401, 'unauthenticated'],
  [
    'suspended',
    ({ organisation }) => other.control.organisations.suspend(organisation.id),
    ...([403, 'organisation_suspended'] as const),
  ],
  [
    'given a plan without integrations',
    ({ organisation }) => other.control.organisations.setPlan(organisation.id, 'starter'),
    ...([403, 'plan_required'] as const),
  ],
  ['left without scopes', ({ id }) => set(id, { scopes: [] }), 403, 'insufficient_scope'],
];

/** Without those that look after indexes in the background. */
const asked = (sent: readonly SentCommand[]): string[] =>
  sent.map(({ name }) => name).filter((name) => !['listIndexes', 'count'].includes(name));

const WRITTEN = 'scopegate_written_answers_total{from="bytes",reason="none"}';

describe('a key that was accepted, and then', () => {
  const cases = PATHS.flatMap((path) => CHANGES.map(([title, ...change]) => [title, path, ...change] as const));
  test.each(cases)('%s, gets its error from %s, for at most one read', async (_title, path, change, status, code) => {
    const seen = await makeSeen();
    await change(seen);
    const written = await metric(gateway, WRITTEN);
    const sent = await commandsOf(gateway, seen.organisation, async () => {
      const first = await Promise.all(Array.from({ length: 8 }, () => seen.caller.get(path)));
      for (const answer of [...first, await seen.caller.get(path)]) {
        expect([answer.status, answer.body.code]).toEqual([status, code]);
        expect(answer.text).not.toContain(IDS.quote);
      }
    });
    expect(asked(sent).join()).toMatch(/^(find)?$/);
    const later = await commandsOf(gateway, seen.organisation, async () => {
      expect((await seen.caller.get(path)).status).toBe(status);
    });
    expect(asked(later)).toEqual([]);
    // what is dropped is not counted
    expect(await metric(gateway, WRITTEN)).toBe(written);
  });

  test.each([
    ['what takes more than one read', `${PATH}?include=customer`],
    ['a list that also reads the time of its changes', `${LIST}&updated_since=2026-01-01T00:00:00Z`],
    ['an object of a collection that was not read before', `/products/${IDS.product}`],
    ['a list of a collection that was not read before', '/products'],
  ])('revoked, has nothing read of %s', async (_title, path) => {
    const seen = await makeSeen(makeStocked(other));
    await gateway.control.apiKeys.revoke(seen.id);
    const sent = await commandsOf(gateway, seen.organisation, async () => {
      expect((await seen.caller.get(path)).status).toBe(401);
    });
    expect(asked(sent)).toEqual([]);
  });

  test('refused, costs its organisation no point', async () => {
    const seen = await makeSeen();
    const { caller } = await makeSeen(Promise.resolve(seen.organisation));
    const left = async (): Promise<number> => (await caller.get('/me')).body.organisation_rate_limit.remaining;
    await gateway.control.apiKeys.revoke(seen.id);
    const before = await left();
    expect((await seen.caller.get(PATH)).status).toBe(401);
    expect(await left()).toBe(before - 1);
  });
});

describe('while its key is being read', () => {
  /** Resolves when a command to an organisation's database has reached this stage. */
  function reaches(stage: 'commandStarted' | 'commandSucceeded', { organisation }: Seen): Promise<void> {
    const driver = gateway.databases.control.getClient();
    const name = `org_${organisation.id.replaceAll('-', '')}`;
    return new Promise((resolve) => {
      const look = ({ databaseName }: { databaseName: string }): void => {
        if (databaseName !== name) return;
        driver.off(stage as 'commandStarted', look);
        resolve();
      };
      driver.on(stage as 'commandStarted', look);
    });
  }

  /** Lets no key be read before `first`. */
  function keysAfter(first: () => Promise<unknown>): void {
    const { apiKeys } = gateway.control;
    const find = apiKeys.find.bind(apiKeys);
    jest.spyOn(apiKeys, 'find').mockImplementationOnce(async (id) => {
      await first();
      return find(id);
    });
  }
  afterEach(() => jest.restoreAllMocks());

  test.each(PATHS)('a request reads %s', async (path) => {
    const seen = await makeSeen();
    const begun = reaches('commandStarted', seen);
    keysAfter(() => begun);
    expect((await seen.caller.get(path)).text).toContain(IDS.quote);
  });

  test.each(PATHS)('a request is not answered, even if it has read %s', async (path) => {
    const seen = await makeSeen();
    const read = reaches('commandSucceeded', seen);
    keysAfter(async () => {
      await read;
      await gateway.control.apiKeys.revoke(seen.id);
    });
    const { status, body } = await seen.caller.get(path);
    expect([status, body.code]).toEqual([401, 'unauthenticated']);
  });
});
