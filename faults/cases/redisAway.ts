import { isSuccess, labelOf, type Reply, Tally } from '../client';
import { type Gateway, readiness } from '../gateway';
import { hammer } from '../hammer';
import { type Case, type CaseInput, number, type Outcome, Promises } from '../outcome';
import type { Tenant } from '../rig';
import { milliseconds, quantile, sleep, until } from '../timing';

const LIMIT = 600;
const INSTANCES = 2;
/** Longest that a request may wait because Redis is away, beyond the slowest before, in milliseconds. */
const WAIT_BOUND = 500;
const READY_BOUND = 10_000;
/** More than any limit lets through. */
const HAMMERED = 1400;

interface Kind {
  readonly name: string;
  readonly ms: number;
  begin(): void | Promise<void>;
  end(): void | Promise<void>;
}

/** Redis killed and started again, then stopped: requests go on, limited by memory. */
export const redisAway: Case = {
  name: 'redis-away',
  title: 'Redis killed, then stopped',
  what: ({ redisStop }) =>
    `Redis gets SIGKILL and is started again ${milliseconds(redisStop)} later; then it gets SIGSTOP for ${milliseconds(redisStop)}. RATE_LIMIT_PER_MINUTE=${String(LIMIT)}, INSTANCES=${String(INSTANCES)}. A steady 20 requests a second go to the two gateways throughout; during the outage a fresh key sends ${number(HAMMERED)} requests as fast as it can. Promise: no request fails, none waits more than ${String(WAIT_BOUND)} ms longer than the slowest before, the key still gets at most ${String(INSTANCES)} × ${String(LIMIT / INSTANCES)}, \`readyz\` says degraded (200) and is ok within ${milliseconds(READY_BOUND)} of Redis' return. Recovery is from that return to \`readyz\` ok on both.`,
  async run(input) {
    const { rig, scale, tell } = input;
    const gateways = await rig.gateways({ RATE_LIMIT_PER_MINUTE: String(LIMIT), INSTANCES: String(INSTANCES) });
    const tenant = await rig.newTenant('redis away');
    const { redis } = rig;
    const kinds: Kind[] = [
      { name: 'killed', ms: scale.redisStop, begin: () => redis.kill(), end: () => redis.restart() },
      {
        name: 'stopped',
        ms: scale.redisStop,
        begin: () => {
          redis.freeze();
        },
        end: () => {
          redis.thaw();
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
  const degraded = until(() => all(gateways, 'degraded'), Math.max(kind.ms, READY_BOUND * scale.slack), 50);
  const during = await steady(gateways, quiet, kind.ms / 2);
  const burst = await hammer(gateways, hammered, HAMMERED);
  const degradedAfter = await degraded;
  await sleep(Math.max(0, kind.ms - (performance.now() - beganAt)));
  await kind.end();
  const ready = await until(() => all(gateways, 'ok'), READY_BOUND * scale.slack, 50);
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
  promises.keep(
    added <= WAIT_BOUND * scale.slack,
    `Redis ${kind.name}: a request waited ${milliseconds(added)} longer`,
  );
  const share = LIMIT / INSTANCES;
  promises.keep(
    burst.perGateway.every((count) => count > 0 && count <= share),
    `Redis ${kind.name}: the key got ${burst.perGateway.join(' and ')} on the two gateways, at most ${String(share)} each were due`,
  );
  promises.keep(degradedAfter !== undefined, `Redis ${kind.name}: readyz never said degraded`);
  promises.keep(ready !== undefined, `Redis ${kind.name}: readyz was not ok in time`);
  const ms = during.map((reply) => reply.ms);
  return {
    recoveries: ready === undefined ? [] : [ready],
    notes: [
      `Redis ${kind.name}: ${number(replies.length)} steady requests, ${number(failed.length)} failed; median ${milliseconds(quantile(ms, 0.5))} and slowest ${milliseconds(slowestDuring)} during the outage, slowest ${milliseconds(slowestBefore)} before it; \`readyz\` said degraded after ${degradedAfter === undefined ? 'never' : milliseconds(degradedAfter)}; the hammering key got ${burst.perGateway.join(' + ')} answers of ${number(HAMMERED)} (${burst.tally.toString()}).`,
    ],
    broken: promises.broken,
  };
}

/** Twenty requests a second to the gateways in turn, whether or not earlier ones were answered. */
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

async function all(gateways: readonly Gateway[], status: string): Promise<boolean> {
  const said = await Promise.all(gateways.map((gateway) => readiness(gateway)));
  return said.every((one) => one === status);
}
