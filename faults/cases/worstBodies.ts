import { WORST_BODIES } from '../../tools/worstBodies';
import { isSuccess, labelOf, Tally } from '../client';
import type { Gateway } from '../gateway';
import { type Case, number, type Outcome, Promises } from '../outcome';
import { residentMiB } from '../processes';
import { milliseconds, quantile, sleep } from '../timing';

const KIB = 1024;
/** Sizes of bulk bodies and of others, in bytes: from the size that once took 13 s to the maximum accepted. */
const BULK_SIZES = [80, 160, 1024, 5120].map((kib) => kib * KIB);
const SIZES = [80, 160, 1024].map((kib) => kib * KIB);
/** Maximum size of an error answer, in bytes; a bulk call whose elements fail one by one reports each of them. */
const ANSWER_BOUND = 100 * KIB;
/** Maximum latency of other callers, in milliseconds. */
const OTHERS_BOUND = 1000;
/** Maximum time from the first byte of such a body to its answer, in milliseconds. */
const BODY_BOUND = 2000;
/** Memory a later round may need beyond the first, after garbage collection, in MiB. */
const LEAK_BOUND = 80;
const ROUNDS = 4;

interface Round {
  readonly tally: Tally;
  readonly slowest: { readonly ms: number; readonly name: string };
  readonly largestAnswer: number;
  readonly memory: number;
}

/** One key sends the most expensive bodies while another key's requests continue. */
export const worstBodies: Case = {
  name: 'worst-bodies',
  title: 'The most expensive bodies',
  what: () =>
    `One key sends ${number(WORST_BODIES.length)} kinds of the most expensive JSON that we know of (hundreds of thousands of errors, nested lists, very long names), each from 80 KiB up to the maximum size of its route, one after another, in ${String(ROUNDS)} rounds. Meanwhile another key reads and \`livez\` is polled. Promise: no answer is 500 or an error of more than 100 KiB, each body is answered within ${milliseconds(BODY_BOUND)}, every other request gets 200 within ${milliseconds(OTHERS_BOUND)}, and at least one of the later rounds needs at most ${String(LEAK_BOUND)} MiB more than the first.`,
  async run({ rig, scale, tell }): Promise<Outcome> {
    const [gateway] = await rig.gateways();
    const attacker = await rig.newTenant('worst bodies');
    const other = await rig.newTenant('someone else');
    // warm up
    await gateway.call({ method: 'GET', path: '/api/v1/products', key: other.key });
    const watch = watchOthers(gateway, other.key);
    const rounds: Round[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      rounds.push(await attack(gateway, attacker.key));
      tell(`round ${String(round)} of ${String(ROUNDS)}`);
    }
    const { tally: others, waits } = await watch.stop();
    const promises = new Promises();
    for (const { tally, slowest, largestAnswer } of rounds) {
      promises.keep(!/\b(500|503)\b|timeout|ECONN/.test(tally.toString()), `bodies: ${tally.toString()}`);
      promises.keep(largestAnswer <= ANSWER_BOUND, `an error answer had ${number(largestAnswer)} bytes`);
      const isInTime = slowest.ms <= BODY_BOUND * scale.slack;
      promises.keep(isInTime, `${slowest.name} took ${milliseconds(slowest.ms)}`);
    }
    promises.keep(others.count('200') === waits.length, `other requests: ${others.toString()}`);
    const longest = Math.max(...waits);
    promises.keep(longest <= OTHERS_BOUND * scale.slack, `another request took ${milliseconds(longest)}`);
    const [first = 0, ...later] = rounds.map(({ memory }) => memory);
    const growth = Math.min(...later.slice(-3)) - first;
    promises.keep(
      growth <= LEAK_BOUND,
      `every later round needed at least ${String(Math.round(growth))} MiB more than the first`,
    );
    const slowest = rounds.map((round) => round.slowest).sort((one, another) => another.ms - one.ms)[0];
    return {
      notes: [
        `${number(WORST_BODIES.length)} kinds, ${String(ROUNDS)} rounds: ${rounds[0]?.tally.toString() ?? ''} in the first; the slowest was ${slowest?.name ?? ''}, ${milliseconds(slowest?.ms ?? 0)}; the largest error answer had ${number(Math.max(...rounds.map(({ largestAnswer }) => largestAnswer)))} bytes.`,
        `${number(waits.length)} other requests: ${others.toString()}; median ${milliseconds(quantile(waits, 0.5))}, max ${milliseconds(longest)}.`,
        `Memory after each round: ${rounds.map(({ memory }) => String(Math.round(memory))).join(', ')} MiB.`,
      ],
      broken: promises.broken,
    };
  },
};

async function attack(gateway: Gateway, key: string): Promise<Round> {
  const tally = new Tally();
  let [slowest, largestAnswer] = [{ ms: 0, name: '' }, 0];
  for (const { name, path, make } of WORST_BODIES) {
    for (const bytes of path.endsWith('/bulk') ? BULK_SIZES : SIZES) {
      const reply = await gateway.call({ method: 'POST', path: `/api/v1${path}`, key, body: make(bytes) });
      tally.add(labelOf(reply));
      if (reply.ms > slowest.ms) slowest = { ms: reply.ms, name: `${name} (${number(bytes / KIB)} KiB)` };
      if (reply.kind === 'answer' && !isSuccess(reply)) largestAnswer = Math.max(largestAnswer, reply.body.length);
    }
  }
  // time for garbage collection
  await sleep(500);
  return { tally, slowest, largestAnswer, memory: (await residentMiB(gateway.pid())) ?? 0 };
}

/** Sends another caller's requests in the background, one after another. */
function watchOthers(gateway: Gateway, key: string) {
  const tally = new Tally();
  const waits: number[] = [];
  let isOver = false;
  const ask = async (path: string, withKey?: string): Promise<void> => {
    while (!isOver) {
      const reply = await gateway.call({ method: 'GET', path, key: withKey });
      tally.add(labelOf(reply));
      waits.push(isSuccess(reply) ? reply.ms : Infinity);
      await sleep(20);
    }
  };
  const asking = Promise.all([ask('/api/v1/products?limit=5', key), ask('/livez')]);
  return {
    async stop() {
      isOver = true;
      await asking;
      return { tally, waits };
    },
  };
}
