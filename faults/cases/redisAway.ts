import { isSuccess, labelOf, type Reply, Tally } from '../client';
import { type Gateway, readiness } from '../gateway';
import { hammer } from '../hammer';
import { type Case, type CaseInput, number, type Outcome, Promises } from '../outcome';
import type { Tenant } from '../rig';
import { milliseconds, quantile, sleep, until } from '../timing';

const LIMIT = 600;
const INSTANCES = 2;
/** Maximum added latency while Redis is down, compared with the slowest request before, in milliseconds. */
const WAIT_BOUND = 500;
const READY_BOUND = 10_000;
/** More than the limit allows. */
const HAMMERED = 1400;

interface Kind {
  readonly name: string;
  readonly ms: number;
  begin(): void | Promise<void>;
  end(): void | Promise<void>;
}

/** Redis killed and restarted, then paused: requests succeed, limited by counters in memory. */
export const redisAway: Case = {
  name: 'redis-away',
  title: 'Redis killed, then paused',
  what: ({ redisStop }) =>
    `Redis gets SIGKILL and is restarted ${milliseconds(redisStop)} later; then it is paused with SIGSTOP for ${milliseconds(redisStop)}. RATE_LIMIT_PER_MINUTE=${String(LIMIT)}, INSTANCES=${String(INSTANCES)}. The two gateways get a steady 20 requests per second throughout; during the outage a new key sends ${number(HAMMERED)} requests as fast as it can. Promise: no steady request fails or takes more than ${String(WAIT_BOUND)} ms longer than the slowest one before, the new key still gets at most ${String(INSTANCES)} × ${String(LIMIT / INSTANCES)} answers, \`readyz\` says degraded (200) and is ok again within ${milliseconds(READY_BOUND)} of Redis coming back. Recovery is from then to \`readyz\` ok on both gateways.`,
  async run(input) {
    const { rig, scale, tell } = input;
    const gateways = await rig.gateways({ RATE_LIMIT_PER_MINUTE: String(LIMIT), INSTANCES: String(INSTANCES) });
    const tenant = await rig.newTenant('redis away');
    const { redis } = rig;
    const kinds: Kind[] = [
      { name: 'killed', ms: scale.redisStop, begin: () => redis.kill(), end: () => redis.restart() },
      {
        name: 'paused',
        ms: scale.redisStop,
        begin: () => {
          redis.pause();
        },
        end: () => {
          redis.resume();
        },
      },
    ];
    const outcomes: Outcome[] = [];
    for (const kind of kinds) {
      outcomes.push(await away(kind, gateways, tenant, input));
      tell(`Redis ${kind.name}: done`);
    }
    return {
      recoveries: outcomes.flatMap(({ recoveries }) => recoveries ?? []),
      notes: outcomes.flatMap(({ notes }) => notes),
      broken: outcomes.flatMap(({ broken }) => broken),
    };
  },
};

async function away(
  kind: Kind,
  gateways: readonly Gateway[],
  tenant: Tenant,
  { rig, scale }: CaseInput,
): Promise<Outcome> {
  const freshKey = async (): Promise<string> => (await rig.newKey(tenant.organisationId)).key;
  const promises = new Promises();
  const before = await steady(gateways, await freshKey(), kind.ms / 2);
  const [quiet, hammered] = [await freshKey(), await freshKey()];

  await kind.begin();
  const beganAt = performance.now();
  const degraded = until(() => areReady(gateways, 'degraded'), Math.max(kind.ms, READY_BOUND * scale.slack), 50);
  const during = await steady(gateways, quiet, kind.ms / 2);
  const burst = await hammer(gateways, hammered, HAMMERED);
  const degradedAfter = await degraded;
  await sleep(Math.max(0, kind.ms - (performance.now() - beganAt)));
  await kind.end();
  const ready = await until(() => areReady(gateways, 'ok'), READY_BOUND * scale.slack, 50);
  const after = await steady(gateways, await freshKey(), kind.ms / 4);

  const replies = [...before, ...during, ...after];
  const failed = replies.filter((reply) => !isSuccess(reply));
  const tally = new Tally();
  for (const reply of failed) tally.add(labelOf(reply));
  promises.keep(
    failed.length === 0,
    `Redis ${kind.name}: ${String(failed.length)} steady requests failed (${tally.toString()})`,
  );
  const [slowestBefore, slowestDuring] = [slowest(before), slowest(during)];
  const added = Math.max(0, slowestDuring - slowestBefore);
  promises.keep(added <= WAIT_BOUND * scale.slack, `Redis ${kind.name}: a request took ${milliseconds(added)} longer`);
  const share = LIMIT / INSTANCES;
  promises.keep(
    burst.perGateway.every((count) => count > 0 && count <= share),
    `Redis ${kind.name}: the new key got ${burst.perGateway.join(' and ')} answers from the two gateways, expected 1 to ${String(share)} each`,
  );
  promises.keep(degradedAfter !== undefined, `Redis ${kind.name}: readyz never said degraded`);
  promises.keep(ready !== undefined, `Redis ${kind.name}: readyz was not ok in time`);
  const ms = during.map((reply) => reply.ms);
  return {
    recoveries: ready === undefined ? [] : [ready],
    notes: [
      `Redis ${kind.name}: ${number(replies.length)} steady requests, ${number(failed.length)} failed; median ${milliseconds(quantile(ms, 0.5))} and slowest ${milliseconds(slowestDuring)} during the outage, slowest ${milliseconds(slowestBefore)} before it; \`readyz\` ${degradedAfter === undefined ? 'never said degraded' : `said degraded after ${milliseconds(degradedAfter)}`}; the new key got ${burst.perGateway.join(' + ')} of ${number(HAMMERED)} requests answered (${burst.tally.toString()}).`,
    ],
    broken: promises.broken,
  };
}

/** Twenty requests per second to the gateways in turn, without waiting for earlier answers. */
async function steady(gateways: readonly Gateway[], key: string, forMs: number): Promise<Reply[]> {
  const replies: Promise<Reply>[] = [];
  const end = performance.now() + forMs;
  for (let turn = 0; performance.now() < end; turn += 1) {
    const gateway = gateways[turn % gateways.length];
    if (gateway) replies.push(gateway.call({ method: 'GET', path: '/api/v1/me', key }));
    await sleep(50);
  }
  return Promise.all(replies);
}

const slowest = (replies: readonly Reply[]): number => Math.max(0, ...replies.map(({ ms }) => ms));

/** Whether `readyz` of all of them says this. */
export async function areReady(gateways: readonly Gateway[], status: string): Promise<boolean> {
  const said = await Promise.all(gateways.map((gateway) => readiness(gateway)));
  return said.every((one) => one === status);
}
