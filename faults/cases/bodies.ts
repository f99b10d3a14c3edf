import { askBeside, describe, keepServed } from '../beside';
import { type HalfBody, sendHalf } from '../halfBody';
import { BODY_BYTES, IN_HAND, metric } from '../metrics';
import { type Case, number, type Outcome, Promises } from '../outcome';
import { residentMiB } from '../processes';
import { sleep, until } from '../timing';

const MIB = 1024 * 1024;
/** The largest body of a bulk call. */
const LENGTH = 5 * MIB;
/** MAX_BODY_MEMORY, and the part of it that is one key's, in MiB. */
const [MOST, MOST_OF_KEY] = [256, 64];
/** What the process may need besides, for what is on its way through the system and not collected yet, in MiB. */
const ROOM = 200;
const SLOWEST_BOUND = 2000;
/** How long nothing may have changed before all is taken to have arrived, in milliseconds. */
const QUIET = 1000;

/** One key that sends as much as it can, and never the last byte. */
export const bodies: Case = {
  name: 'bodies',
  title: 'Bodies that never end',
  what: ({ bodies: wanted }) =>
    `${number(wanted)} connections of one key send a bulk call of 5 MiB each, less a byte; meanwhile another key of the same organisation and one of another read, and \`livez\` is asked. Then all are cut off. Promise: the key has at most ${String(MOST_OF_KEY)} MiB in hand and is answered 503 past it, memory grows by no more than ${String(MOST_OF_KEY)} + ${String(ROOM)} MiB (MAX_BODY_MEMORY is ${String(MOST)}), all others are answered 200 within ${number(SLOWEST_BOUND)} ms, and afterwards nothing is held.`,
  async run({ rig, scale, tell }): Promise<Outcome> {
    const [gateway] = await rig.gateways();
    const tenant = await rig.newTenant('bodies');
    const [sister, other] = [await rig.newKey(tenant.organisationId), await rig.newTenant('beside bodies')];
    const before = (await residentMiB(gateway.pid())) ?? 0;
    const besides = [
      { who: 'Reads of another key of the organisation', asking: askBeside(gateway, ['/api/v1/me'], sister.key) },
      { who: 'Reads of another organisation', asking: askBeside(gateway, ['/api/v1/products?limit=5'], other.key) },
      { who: '`livez`', asking: askBeside(gateway, ['/livez']) },
    ];
    const part = Buffer.alloc(LENGTH - 1, ' ');
    const halves: HalfBody[] = Array.from({ length: scale.bodies }, () =>
      sendHalf({ port: gateway.port, path: '/api/v1/products/bulk', key: tenant.key, length: LENGTH, part }),
    );
    let [held, most, peak, quietSince] = [0, 0, before, performance.now()];
    const refused = (): number => halves.filter(({ status }) => status() === 503).length;
    let refusedBefore = 0;
    await until(async () => {
      const now = await metric(gateway, BODY_BYTES);
      if (now !== held || refused() !== refusedBefore) quietSince = performance.now();
      [held, refusedBefore] = [now, refused()];
      most = Math.max(most, held / MIB);
      peak = Math.max(peak, (await residentMiB(gateway.pid())) ?? 0);
      return performance.now() - quietSince > QUIET;
    }, 20_000);
    const answers = new Set(halves.map(({ status }) => status()));
    const told = refused();
    tell(`${number(told)} of ${number(scale.bodies)} were told 503`);
    for (const { socket } of halves) socket.resetAndDestroy();
    let [heldAfter, inHand] = [NaN, NaN];
    await until(async () => {
      [heldAfter, inHand] = [await metric(gateway, BODY_BYTES), await metric(gateway, IN_HAND)];
      // those who ask meanwhile are in hand as well
      return heldAfter === 0 && inHand <= besides.length;
    }, 10_000);
    await sleep(2000);
    const served = await Promise.all(besides.map(async ({ who, asking }) => ({ who, beside: await asking.stop() })));
    const after = (await residentMiB(gateway.pid())) ?? 0;
    const promises = new Promises();
    promises.keep(
      told > 0 && [...answers].every((status) => status === 0 || status === 503),
      `answers: ${[...answers].join(', ')}`,
    );
    promises.keep(most <= MOST_OF_KEY, `${String(Math.round(most))} MiB were in hand`);
    promises.keep(peak - before <= MOST_OF_KEY + ROOM, `memory grew by ${String(Math.round(peak - before))} MiB`);
    promises.keep(heldAfter === 0, `${number(heldAfter)} bytes stayed in hand`);
    promises.keep(inHand <= besides.length, `${number(inHand)} requests stayed in hand`);
    for (const { who, beside } of served) keepServed(promises, who, beside, SLOWEST_BOUND * scale.slack);
    const mib = (value: number): string => String(Math.round(value));
    return {
      notes: [
        `${number(told)} of ${number(scale.bodies)} were told 503; ${mib(most)} MiB were in hand at most.`,
        `Memory: ${mib(before)} MiB before, ${mib(peak)} at most, ${mib(after)} some seconds after the end.`,
        ...served.map(({ who, beside }) => describe(who, beside)),
      ],
      broken: promises.broken,
    };
  },
};
