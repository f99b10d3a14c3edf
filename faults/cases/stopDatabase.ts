import { acknowledgement, isSuccess, labelOf, type Reply, Tally } from '../client';
import type { Gateway } from '../gateway';
import { type Entry, verify } from '../ledger';
import { callOf, newEntry } from '../load';
import { brokenWrites, type Case, countsOf, number, Promises } from '../outcome';
import { residentMiB } from '../processes';
import { milliseconds, sleep, until } from '../timing';

/** Maximum time until the 503, in milliseconds. */
const ANSWER_BOUND = 3000;
const RECOVERY_BOUND = 10_000;
/** Maximum growth of memory while requests wait, in MiB. */
const GROWTH_BOUND = 150;

interface Probe {
  readonly reply: Reply;
  readonly started: number;
  readonly ended: number;
}

/** SIGSTOP of the database: its connections stay open, but it does not respond. */
export const stopDatabase: Case = {
  name: 'stop-database',
  title: 'SIGSTOP the database',
  what: ({ databaseStop }) =>
    `The database is stopped with SIGSTOP for ${milliseconds(databaseStop)}: its connections stay open, but it does not respond. Each gateway gets ten reads and two writes per second. Promise: every request that starts meanwhile gets 503 with Retry-After within ${milliseconds(ANSWER_BOUND)}, memory grows by at most ${String(GROWTH_BOUND)} MiB, and requests succeed again within ${milliseconds(RECOVERY_BOUND)} of SIGCONT. Recovery is from SIGCONT to the first success of each gateway.`,
  async run({ rig, scale, random }) {
    const gateways = await rig.gateways();
    const tenant = await rig.newTenant('stopped database');
    const entries: Entry[] = [];
    const probes: Promise<Probe>[] = [];
    let isOver = false;

    async function probe(gateway: Gateway, entry?: Entry): Promise<Probe> {
      const started = performance.now();
      const call = entry ? callOf(entry, tenant.key) : ({ method: 'GET', path: '/api/v1/products?limit=5' } as const);
      const reply = await gateway.call({ ...call, key: tenant.key });
      if (entry) entry.acknowledged = acknowledgement(reply);
      return { reply, started, ended: performance.now() };
    }

    async function drive(gateway: Gateway): Promise<void> {
      for (let turn = 0; !isOver; turn += 1) {
        probes.push(probe(gateway));
        if (turn % 5 === 0) {
          const entry = newEntry(random, true);
          entry.tries = 1;
          entries.push(entry);
          probes.push(probe(gateway, entry));
        }
        await sleep(100);
      }
    }

    const drivers = gateways.map(drive);
    await sleep(2000);
    const before = await resident(gateways);
    rig.database.freeze();
    const frozenAt = performance.now();
    let during = before;
    while (performance.now() - frozenAt < scale.databaseStop) {
      await sleep(500);
      during = Math.max(during, await resident(gateways));
    }
    rig.database.thaw();
    const thawedAt = performance.now();
    const recoveries = await Promise.all(gateways.map((gateway) => untilServed(gateway, tenant.key)));
    await sleep(2000);
    isOver = true;
    await Promise.all(drivers);
    const done = await Promise.all(probes);
    await sleep(3000);
    const after = await resident(gateways);

    const meanwhile = done.filter(({ started }) => started >= frozenAt && started < thawedAt);
    const tally = new Tally();
    for (const { reply } of meanwhile) tally.add(labelOf(reply));
    const clean = meanwhile.filter(({ reply }) => isCleanRefusal(reply));
    // a request that starts just before SIGCONT may succeed after it
    const unclean = meanwhile.filter(
      ({ reply, ended }) => !isCleanRefusal(reply) && !(isSuccess(reply) && ended >= thawedAt),
    );
    const slowest = Math.max(0, ...meanwhile.map(({ reply }) => reply.ms));
    const verdict = await verify(entries, rig.store, tenant.organisationId);
    const promises = new Promises();
    promises.broken.push(...brokenWrites(verdict));
    promises.keep(
      unclean.length === 0,
      `${number(unclean.length)} of ${number(meanwhile.length)} requests did not get 503 with Retry-After`,
    );
    promises.keep(slowest <= ANSWER_BOUND * scale.slack, `the slowest answer took ${milliseconds(slowest)}`);
    promises.keep(during - before <= GROWTH_BOUND, `memory grew by ${String(Math.round(during - before))} MiB`);
    const recovered = recoveries.flatMap((ms) => ms ?? []);
    promises.keep(
      recovered.length === gateways.length && Math.max(...recovered) <= RECOVERY_BOUND * scale.slack,
      `recovery took ${recoveries.map((ms) => (ms === undefined ? 'too long' : milliseconds(ms))).join(', ')}`,
    );
    return {
      ...countsOf(verdict),
      recoveries: recovered,
      notes: [
        `${number(meanwhile.length)} requests started during the stop: ${tally.toString()}; ${number(clean.length)} got 503 with Retry-After; the slowest took ${milliseconds(slowest)}.`,
        `Memory of the larger gateway: ${String(Math.round(before))} MiB before, ${String(Math.round(during))} at most during the stop, ${String(Math.round(after))} after it.`,
        `${number(verdict.unacknowledgedPresent)} writes are stored although their client got 503 or no answer (at most once each).`,
      ],
      broken: promises.broken,
    };
  },
};

async function resident(gateways: readonly Gateway[]): Promise<number> {
  const sizes = await Promise.all(gateways.map((gateway) => residentMiB(gateway.pid())));
  return Math.max(0, ...sizes.map((size) => size ?? 0));
}

/** Whether it was refused as promised: 503 with Retry-After. */
function isCleanRefusal(reply: Reply): boolean {
  return reply.kind === 'answer' && reply.status === 503 && reply.headers['retry-after'] !== undefined;
}

/** Milliseconds until the gateway serves a key's reads; undefined if not within a minute. */
function untilServed(gateway: Gateway, key: string): Promise<number | undefined> {
  const ask = async (): Promise<boolean> =>
    isSuccess(await gateway.call({ method: 'GET', path: '/api/v1/products?limit=5', key }, 5000));
  return until(ask, 60_000, 20);
}
