import { acknowledgement, type Call, isSuccess, labelOf, type Reply, Tally } from '../client';
import { type Gateway, isReady } from '../gateway';
import { type Entry, verify } from '../ledger';
import { callOf, newEntry } from '../load';
import { brokenWrites, type Case, countsOf, number, Promises } from '../outcome';
import { milliseconds, sleep, spread, until } from '../timing';

const CLIENTS = 16;
/** Interval between calls of each gateway's readyz, in milliseconds. */
const PROBE_EVERY = 100;
/** Timeout of such a call, in milliseconds. */
const PROBE_TIMEOUT = 2000;
/** Consecutive failures of readyz after which a gateway is out of service, as in Kubernetes; one success puts it back. */
const OUT_AFTER = 3;
/** Consecutive failures of readyz that a gateway may have while nothing is done to it: a busy machine causes a few. */
const MOST_FAILURES = 30;
/** In milliseconds; the drain itself is limited to 25 s. */
const EXIT_BOUND = 30_000;
/** Seconds from the first 503 of readyz until the port closes: more than the balancer needs to notice, though each of its probes takes as long as it may. */
const DRAIN_DELAY = 15;
/** Maximum wait for a gateway to be in service, in milliseconds. */
const RETURN_BOUND = 30_000;

/** SIGTERM to one gateway after the other, behind a load balancer and under load. */
export const rollingRestart: Case = {
  name: 'rolling-restart',
  title: 'Rolling restart under load',
  what: ({ restartRounds }) =>
    `${String(CLIENTS)} keep-alive clients behind a small load balancer (polls \`readyz\` ten times per second, removes a gateway after ${String(OUT_AFTER)} consecutive failures, sends to the one that is not being restarted if neither is left, never retries) read and write without an Idempotency-Key. DRAIN_DELAY=${String(DRAIN_DELAY)}. One gateway gets SIGTERM, exits, is restarted and put back into service; then the other; ${number(restartRounds)} rounds. Promise: no request fails, no \`readyz\` fails more than ${String(MOST_FAILURES)} times in a row while its gateway is not being restarted, and each gateway exits with code 0 within ${milliseconds(EXIT_BOUND)}. Recovery is from SIGTERM to the new process being in service.`,
  async run({ rig, scale, random, tell }) {
    const gateways = await rig.gateways({ DRAIN_DELAY: String(DRAIN_DELAY) });
    const tenant = await rig.newTenant('rolling restart');
    const balancer = startBalancer(gateways);
    const entries: Entry[] = [];
    const [tally, failures] = [new Tally(), new Tally()];
    let [isOver, sent, failed, slowest] = [false, 0, 0, 0];

    async function client(): Promise<void> {
      while (!isOver) {
        const entry = random() < 0.3 ? newEntry(random, false) : undefined;
        if (entry) entries.push(entry);
        const read = { method: 'GET', path: '/api/v1/requests?limit=5' } as const;
        const call = { ...(entry ? callOf(entry, tenant.key) : read), key: tenant.key };
        const { reply, gateway } = await balancer.send(call);
        sent += 1;
        slowest = Math.max(slowest, reply.ms);
        tally.add(labelOf(reply));
        if (entry) {
          entry.tries = 1;
          entry.acknowledged = acknowledgement(reply);
        }
        if (!isSuccess(reply)) {
          failed += 1;
          const arrived = reply.kind === 'answer' || reply.mayHaveArrived ? 'connected' : 'never connected';
          failures.add(`${call.method} to ${gateway}: ${labelOf(reply)} (${arrived})`);
        }
        await sleep(random() * 20);
      }
    }

    const clients = Array.from({ length: CLIENTS }, client);
    const promises = new Promises();
    const [recoveries, exits]: [number[], number[]] = [[], []];
    for (let round = 1; round <= scale.restartRounds; round += 1) {
      for (const gateway of gateways) {
        await sleep(500);
        const areIn = await until(() => gateways.every((gateway) => balancer.isIn(gateway)), RETURN_BOUND);
        promises.keep(areIn !== undefined, `the gateways were not both in service before ${gateway.name} was ended`);
        const started = performance.now();
        exits.push(await replace(gateway, balancer, promises, EXIT_BOUND * scale.slack));
        recoveries.push(performance.now() - started);
      }
      tell(`${String(round)} of ${String(scale.restartRounds)} rounds; ${number(failed)} of ${number(sent)} failed`);
    }
    await sleep(500);
    isOver = true;
    await Promise.all(clients);
    const unready = await balancer.stop();
    const verdict = await verify(entries, rig.store, tenant.organisationId);
    promises.broken.push(...brokenWrites(verdict));
    promises.keep(failed === 0, `${number(failed)} of ${number(sent)} requests failed: ${failures.toString()}`);
    const what = `readyz of a gateway that was not being restarted failed ${number(unready)} times in a row`;
    promises.keep(unready <= MOST_FAILURES, what);
    return {
      ...countsOf(verdict),
      recoveries,
      notes: [
        `${number(sent)} requests, ${number(failed)} failed (${tally.toString()}); the slowest took ${milliseconds(slowest)}.`,
        `From SIGTERM to exit (median / max): ${spread(exits)}.`,
      ],
      broken: promises.broken,
    };
  },
};

/** Shuts a gateway down gracefully and starts a new process in its place; returns how long the exit took. */
async function replace(gateway: Gateway, balancer: Balancer, promises: Promises, exitBound: number): Promise<number> {
  const started = performance.now();
  balancer.replaces(gateway);
  const code = await Promise.race([gateway.end('SIGTERM'), sleep(exitBound, 'late' as const, { ref: false })]);
  const ms = performance.now() - started;
  promises.keep(
    code === 0,
    `gateway ${gateway.name} exited ${code === 'late' ? 'too late' : `with code ${String(code)}`}`,
  );
  if (code === 'late') await gateway.end('SIGKILL');
  await gateway.restart();
  await until(() => balancer.isIn(gateway), RETURN_BOUND);
  balancer.replaces(undefined);
  return ms;
}

/**
 * A minimal load balancer: keep-alive connections to the ready gateways, no retries. Relies on readyz alone, so a draining gateway gets
 * requests until the failures of its readyz are noticed. If no gateway is ready, as on a machine that is too busy to answer readyz, it
 * sends to those that are not being replaced, as Envoy does.
 */
function startBalancer(gateways: readonly Gateway[]) {
  const inService = new Set(gateways);
  let [turn, isOver, replaced, mostFailures] = [0, false, undefined as Gateway | undefined, 0];

  async function probe(gateway: Gateway): Promise<void> {
    let refusals = 0;
    while (!isOver) {
      refusals = (await isReady(gateway, PROBE_TIMEOUT)) ? 0 : refusals + 1;
      if (refusals === 0) inService.add(gateway);
      if (refusals === OUT_AFTER) inService.delete(gateway);
      if (gateway !== replaced) mostFailures = Math.max(mostFailures, refusals);
      await sleep(PROBE_EVERY);
    }
  }

  const probes = gateways.map(probe);
  return {
    async send(call: Call): Promise<{ reply: Reply; gateway: string }> {
      turn += 1;
      const ready = inService.size > 0 ? [...inService] : gateways.filter((gateway) => gateway !== replaced);
      const gateway = ready[turn % ready.length];
      if (!gateway) throw new Error('there is no gateway but the one that is replaced');
      return { reply: await gateway.call(call), gateway: gateway.name };
    },
    isIn: (gateway: Gateway) => inService.has(gateway),
    /** Says which gateway is being replaced. */
    replaces(gateway: Gateway | undefined): void {
      replaced = gateway;
    },
    /** Resolves with the most consecutive failures of a gateway's readyz while it was not being replaced. */
    async stop(): Promise<number> {
      isOver = true;
      await Promise.all(probes);
      return mostFailures;
    },
  };
}

type Balancer = ReturnType<typeof startBalancer>;
