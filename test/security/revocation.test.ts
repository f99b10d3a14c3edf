import { client } from '../support/client';
import { makeKey } from '../support/factories';
import { late, served } from '../support/gateway';
import { ALL_FACES, argumentsOf, operations } from '../support/operations';
import { IDS, makeStocked } from '../support/fixtures/contract';

/** The promise is about every trial; TEST_FULL makes more, to find rare failures. */
const TRIALS = process.env.TEST_FULL ? 1000 : 5;
/** A trial takes some 60 ms, and many times that on a machine that does other work. */
const WITHIN = 60_000 + TRIALS * 3000;
/** Reads of an object and of a list, which start during the key lookup if the key was accepted before (docs/decisions/one-round-trip.md). */
const READS = operations.filter(({ name }) => name === 'quote' || name === 'quotes');

const gateways = [served(), served()] as const;
const organisation = late(() => makeStocked(gateways[0]));

/** The same status from each gateway over each API. */
function all(status: number): number[] {
  return gateways.flatMap(() => ALL_FACES.flatMap(() => READS.map(() => status)));
}

/** Statuses of concurrent requests to each gateway over each API. */
function ask(key: string): Promise<number[]> {
  const calls = gateways.flatMap((gateway) =>
    ALL_FACES.flatMap((face) => READS.map((read) => face.call(client(gateway, key), read, argumentsOf(read, IDS)))),
  );
  return Promise.all(calls.map(async (call) => (await call).status));
}

describe('an acknowledged revocation', () => {
  test(
    `applies to the next request on each gateway and API, in ${String(TRIALS)} of ${String(TRIALS)} trials`,
    async () => {
      for (let trial = 0; trial < TRIALS; trial += 1) {
        const { id, key } = await makeKey(gateways[0], organisation);
        const before = await ask(key);
        await gateways[trial % 2]!.control.apiKeys.revoke(id);
        const after = await ask(key);
        expect({ trial, before, after }).toEqual({ trial, before: all(200), after: all(401) });
      }
    },
    WITHIN,
  );

  test(
    `applies while older requests are in flight, in ${String(TRIALS)} of ${String(TRIALS)} trials`,
    async () => {
      let answered = 0;
      for (let trial = 0; trial < TRIALS; trial += 1) {
        const { id, key } = await makeKey(gateways[0], organisation);
        const inFlight = [ask(key), ask(key), ask(key)];
        await gateways[trial % 2]!.control.apiKeys.revoke(id);
        const after = await ask(key);
        expect({ trial, after }).toEqual({ trial, after: all(401) });
        const older = (await Promise.all(inFlight)).flat();
        expect(older.filter((status) => status !== 200 && status !== 401)).toEqual([]);
        answered += older.filter((status) => status === 200).length;
      }
      // some really were in flight
      expect(answered).toBeGreaterThan(0);
    },
    WITHIN,
  );

  test('keeps its first timestamp, and returns false for an unknown key', async () => {
    const [{ control }] = gateways;
    const { id } = await makeKey(gateways[0], organisation);
    expect(await control.apiKeys.revoke(id)).toBe(true);
    const first = (await control.apiKeys.find(id))?.revoked_at;
    expect(await control.apiKeys.revoke(id)).toBe(true);
    expect((await control.apiKeys.find(id))?.revoked_at).toEqual(first);
    expect(await control.apiKeys.revoke(organisation.id)).toBe(false);
  });

  test('does not affect other keys of the organisation', async () => {
    const [one, other] = [await makeKey(gateways[0], organisation), await makeKey(gateways[0], organisation)];
    await gateways[0].control.apiKeys.revoke(one.id);
    expect(await ask(other.key)).toEqual(all(200));
  });
});
