import { askElsewhere, type Beside, describe, keepServed } from '../beside';
import { type HalfBody, sendHalf } from '../halfBody';
import { BODY_BYTES, IN_HAND, metric } from '../metrics';
import { type Case, number, type Outcome, Promises } from '../outcome';
import { residentMiB } from '../processes';
import { sleep, until } from '../timing';

const MIB = 1024 * 1024;
/** Maximum size of a bulk call's body. */
const LENGTH = 5 * MIB;
/** MAX_BODY_MEMORY and one key's share of it, in MiB. */
const [MOST, MOST_OF_KEY] = [256, 64];
/** Further memory the process may need for data in socket buffers and garbage not collected yet, in MiB. */
const ROOM = 200;
const SLOWEST_BOUND = 2000;
/** How long others ask, and how much of that before the bodies are sent, in milliseconds. */
const [MEANWHILE, BEFORE] = [12_000, 4000];
/** All bodies count as received once nothing has changed for this long, in milliseconds. */
const QUIET = 1000;

/** One key sends as many bodies as it can, each without its last byte. */
export const bodies: Case = {
  name: 'bodies',
  title: 'Unfinished bodies',
  what: ({ bodies: wanted }) =>
    `${number(wanted)} connections of one key each send a bulk call of 5 MiB without its last byte. Meanwhile another key of the same organisation and a key of another organisation read, and \`livez\` is polled. Then the connections are reset. Promise: the key's bodies take at most ${String(MOST_OF_KEY)} MiB and the rest get 503, memory grows by at most ${String(MOST_OF_KEY)} + ${String(ROOM)} MiB (MAX_BODY_MEMORY is ${String(MOST)}), all other requests get 200 within ${number(SLOWEST_BOUND)} ms, and nothing is held afterwards.`,
  async run({ rig, scale, tell }): Promise<Outcome> {
    const [gateway] = await rig.gateways();
    const tenant = await rig.newTenant('bodies');
    const [sister, other] = [await rig.newKey(tenant.organisationId), await rig.newTenant('beside bodies')];
    const before = (await residentMiB(gateway.pid())) ?? 0;
    const askers = [
      { who: 'Reads of another key of the organisation', path: '/api/v1/me', key: sister.key },
      { who: 'Reads of another organisation', path: '/api/v1/products?limit=5', key: other.key },
      { who: '`livez`', path: '/livez' },
    ];
    // this process is as busy with sending the bodies as the gateway with receiving them
    const asking = Promise.all(
      askers.map(async ({ who, path, key }) => {
        return { who, beside: await askElsewhere(MEANWHILE, gateway, [path], key) };
      }),
    );
    await sleep(BEFORE);
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
    const rejected = refused();
    tell(`${number(rejected)} of ${number(scale.bodies)} got 503`);
    for (const { socket } of halves) socket.resetAndDestroy();
    let [heldAfter, inHand] = [NaN, NaN];
    await until(async () => {
      [heldAfter, inHand] = [await metric(gateway, BODY_BYTES), await metric(gateway, IN_HAND)];
      // the background requests count as well
      return heldAfter === 0 && inHand <= askers.length;
    }, 10_000);
    await sleep(2000);
    const served: { readonly who: string; readonly beside: Beside }[] = await asking;
    const after = (await residentMiB(gateway.pid())) ?? 0;
    const promises = new Promises();
    promises.keep(
      rejected > 0 && [...answers].every((status) => status === 0 || status === 503),
      `answers: ${[...answers].join(', ')}`,
    );
    promises.keep(most <= MOST_OF_KEY, `bodies took ${String(Math.round(most))} MiB`);
    promises.keep(peak - before <= MOST_OF_KEY + ROOM, `memory grew by ${String(Math.round(peak - before))} MiB`);
    promises.keep(heldAfter === 0, `${number(heldAfter)} bytes of bodies were not released`);
    promises.keep(inHand <= askers.length, `${number(inHand)} requests did not end`);
    for (const { who, beside } of served) keepServed(promises, who, beside, SLOWEST_BOUND * scale.slack);
    const mib = (value: number): string => String(Math.round(value));
    return {
      notes: [
        `${number(rejected)} of ${number(scale.bodies)} got 503; bodies took at most ${mib(most)} MiB.`,
        `Memory: ${mib(before)} MiB before, ${mib(peak)} at most, ${mib(after)} a few seconds after the end.`,
        ...served.map(({ who, beside }) => describe(who, beside)),
      ],
      broken: promises.broken,
    };
  },
};
