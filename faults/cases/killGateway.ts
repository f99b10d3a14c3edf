import { readiness } from '../gateway';
import { ANSWER_BOUND, startLoad } from '../load';
import { type Case, number, settle } from '../outcome';
import { milliseconds, sleep, until } from '../timing';

/** kill -9 of one gateway at a time, at random moments, during writes. */
export const killGateway: Case = {
  name: 'kill-gateway',
  title: 'kill -9 a gateway during writes',
  what: ({ gatewayKills }) =>
    `${number(gatewayKills)} times, one of two gateways gets SIGKILL at a random moment while eight clients write (bulk upserts of 20 products, new threads). Six retry each write under one Idempotency-Key, alternating between the gateways, until one answers; two send each write once, without a key. Promise: an acknowledged write is stored exactly once, any other at most once, replays are identical to the first answer, and no answer takes longer than ${milliseconds(ANSWER_BOUND)}. Recovery is from the start of the new process to its first \`readyz\`.`,
  async run({ rig, scale, random, tell }) {
    const gateways = await rig.gateways();
    const tenant = await rig.newTenant('killed gateways');
    const callers = gateways.map(({ call }) => call);
    const load = startLoad({
      callers,
      key: tenant.key,
      random,
      answerBound: ANSWER_BOUND * scale.slack,
    });
    const recoveries: number[] = [];
    const gaps: number[] = [];
    for (let kill = 1; kill <= scale.gatewayKills; kill += 1) {
      await sleep(100 + random() * 700);
      const victim = gateways[random() < 0.5 ? 0 : 1];
      await victim.end('SIGKILL');
      const gap = await load.nextAcknowledgement(30_000);
      if (gap !== undefined) gaps.push(gap);
      const started = performance.now();
      await victim.restart();
      await until(async () => (await readiness(victim)) === 'ok', 30_000);
      recoveries.push(performance.now() - started);
      if (kill % 10 === 0) tell(`${String(kill)} of ${String(scale.gatewayKills)} kills`);
    }
    await load.stop();
    tell(`load ended after ${number(load.entries.length)} writes`);
    const counts = await settle(load, callers, rig, tenant);
    return {
      ...counts,
      recoveries,
      notes: [
        ...counts.notes,
        `From a kill to the next write acknowledged by either gateway: at most ${number(Math.round(Math.max(...gaps)))} ms.`,
      ],
    };
  },
};
