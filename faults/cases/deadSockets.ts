import { askBeside, describe, keepServed } from '../beside';
import { sendHalf } from '../halfBody';
import { IN_HAND, metric, ownDescriptors } from '../metrics';
import { type Case, number, type Outcome, Promises } from '../outcome';
import { residentMiB } from '../processes';
import { sleep, until } from '../timing';

/** Number of connections reset at a time. */
const AT_ONCE = 100;
const PATHS = ['/api/v1/products/bulk', '/api/v1/customers/bulk', '/api/v1/requests', '/graphql'];
/** Maximum latency of other clients, in milliseconds. */
const SLOWEST_BOUND = 2000;
/** Maximum permanent growth of memory, in MiB; each leaked connection would cost about 13 KiB. */
const GROWTH_BOUND = 80;
/** Keep-alive connections may come and go. */
const FILES_SLACK = 20;

/** Callers disconnect in the middle of a body. */
export const deadSockets: Case = {
  name: 'dead-sockets',
  title: 'Connections reset in the middle of a body',
  what: ({ deadSockets: wanted }) =>
    `${number(wanted)} connections send the headers of a request and a few bytes of its body, to ${String(PATHS.length)} paths in turn, and are reset, ${number(AT_ONCE)} at a time, and then as many again, before and after which memory is measured. Meanwhile another key reads and \`livez\` is polled. Promise: these get 200 within ${number(SLOWEST_BOUND)} ms, every aborted request ends, every descriptor is closed, and memory grows by at most ${String(GROWTH_BOUND)} MiB.`,
  async run({ rig, scale, tell }): Promise<Outcome> {
    const [gateway] = await rig.gateways();
    const tenant = await rig.newTenant('dead sockets');
    const other = await rig.newTenant('beside dead sockets');
    const wave = async (): Promise<void> => {
      const halves = Array.from({ length: AT_ONCE }, (_none, at) =>
        sendHalf({
          port: gateway.port,
          path: PATHS[at % PATHS.length] ?? '',
          key: tenant.key,
          length: 100,
          part: '{"',
        }),
      );
      await Promise.all(halves.map(({ sent }) => sent));
      // some are reset before their key is looked up, some after
      await sleep(5);
      for (const { socket } of halves) socket.resetAndDestroy();
    };
    const waves = async (): Promise<void> => {
      for (let sent = 0; sent < scale.deadSockets; sent += AT_ONCE) await wave();
    };
    const reads = askBeside(gateway, ['/api/v1/products?limit=5'], other.key);
    const lives = askBeside(gateway, ['/livez']);
    // until then a young process grows by what it compiles and by the heap that it is given, whatever it is asked
    await waves();
    // the background requests count as well
    await until(async () => (await metric(gateway, IN_HAND)) <= 2, 10_000);
    const [before, files] = [await residentMiB(gateway.pid()), await ownDescriptors(gateway)];
    await waves();
    tell(`${number(scale.deadSockets)} connections reset`);
    const [read, live] = await Promise.all([reads.stop(), lives.stop()]);
    let [inHand, filesLeft] = [NaN, NaN];
    await until(async () => {
      inHand = await metric(gateway, IN_HAND);
      filesLeft = (await ownDescriptors(gateway)) - files;
      return inHand === 0 && filesLeft <= FILES_SLACK;
    }, 20_000);
    const growth = ((await residentMiB(gateway.pid())) ?? 0) - (before ?? 0);
    const promises = new Promises();
    keepServed(promises, 'Reads of another key', read, SLOWEST_BOUND * scale.slack);
    keepServed(promises, '`livez`', live, SLOWEST_BOUND * scale.slack);
    promises.keep(inHand === 0, `${number(inHand)} requests did not end`);
    promises.keep(filesLeft <= FILES_SLACK, `${number(filesLeft)} descriptors were not closed`);
    promises.keep(growth <= GROWTH_BOUND, `memory grew by ${String(Math.round(growth))} MiB`);
    return {
      notes: [
        describe('Reads of another key', read),
        describe('`livez`', live),
        `Afterwards: ${number(inHand)} requests in progress, ${number(Math.max(0, filesLeft))} more descriptors, memory ${String(Math.round(growth))} MiB above the ${String(Math.round(before ?? 0))} MiB before.`,
      ],
      broken: promises.broken,
    };
  },
};
