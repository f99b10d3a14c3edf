import { connect, type Socket } from 'node:net';
import { isSuccess, labelOf, Tally } from '../client';
import type { Gateway } from '../gateway';
import { type Case, number, type Outcome, Promises } from '../outcome';
import { ownDescriptors } from '../metrics';
import { residentMiB } from '../processes';
import { milliseconds, quantile, sleep, until } from '../timing';

const AT_ONCE = 200;
/** Maximum pause between two rounds, in milliseconds. */
const SETTLE = 10_000;
/** Number of requests of another client while the connections are open. */
const requestsBeside = (connections: number): number => Math.min(500, connections / 5);
const SLOWEST_BOUND = 2000;
/** Keep-alive connections may come and go. */
const FILES_SLACK = 20;
/** Memory a later round may need beyond the first, after garbage collection, in MiB. */
const LEAK_BOUND = 80;

interface Round {
  readonly held: number;
  readonly openedIn: number;
  readonly peak: number;
  readonly after: number;
  readonly filesLeft: number;
  readonly tally: Tally;
  readonly latencies: readonly number[];
}

/** Many idle keep-alive connections to one gateway. */
export const connections: Case = {
  name: 'connections',
  title: 'Idle connections',
  what: ({ connections: wanted, connectionRounds }) =>
    `${number(wanted)} connections from ten addresses to one gateway each request \`livez\` once and then stay open, while another client sends ${number(requestsBeside(wanted))} requests. Then all are closed. ${number(connectionRounds)} rounds; MAX_CONNECTIONS is higher. Promise: all connections stay open, every request gets 200 within ${milliseconds(SLOWEST_BOUND)}, every descriptor is closed, and memory is released: at least one of the last three rounds needs at most ${String(LEAK_BOUND)} MiB more than the first (memory varies from round to round with garbage collection; a leak would add up).`,
  async run({ rig, scale, tell }): Promise<Outcome> {
    const [gateway] = await rig.gateways();
    const tenant = await rig.newTenant('connections');
    const warm = Array.from({ length: 50 }, () => gateway.call({ method: 'GET', path: '/api/v1/me', key: tenant.key }));
    await Promise.all(warm);
    const before = (await residentMiB(gateway.pid())) ?? 0;
    const filesBefore = await ownDescriptors(gateway);
    const rounds: Round[] = [];
    for (let round = 1; round <= scale.connectionRounds; round += 1) {
      rounds.push(await hold(gateway, tenant.key, scale.connections, filesBefore));
      tell(`round ${String(round)} of ${String(scale.connectionRounds)}`);
    }
    const promises = new Promises();
    for (const { held, tally, latencies, filesLeft } of rounds) {
      promises.keep(
        held === scale.connections,
        `only ${number(held)} of ${number(scale.connections)} connections stayed open`,
      );
      promises.keep(tally.count('200') === requestsBeside(scale.connections), `other requests: ${tally.toString()}`);
      const slowest = Math.max(...latencies);
      promises.keep(slowest <= SLOWEST_BOUND * scale.slack, `another request took ${milliseconds(slowest)}`);
      promises.keep(filesLeft <= FILES_SLACK, `${number(filesLeft)} descriptors were not closed`);
    }
    const [first, ...others] = rounds.map(({ peak }) => peak);
    const growth = Math.min(...others.slice(-3)) - (first ?? 0);
    promises.keep(
      growth <= LEAK_BOUND,
      `every later round needed at least ${String(Math.round(growth))} MiB more than the first`,
    );
    return {
      notes: [
        `Memory before: ${String(Math.round(before))} MiB.`,
        ...rounds.map(
          ({ held, openedIn, peak, after, latencies, filesLeft }, index) =>
            `Round ${String(index + 1)}: ${number(held)} open, opened in ${milliseconds(openedIn)}; ${String(Math.round(peak))} MiB while open (${kibibytes(peak - before, held)} KiB each), ${String(Math.round(after))} MiB a few seconds after they closed; other requests took ${milliseconds(quantile(latencies, 0.5))} (median), ${milliseconds(Math.max(...latencies))} (max); descriptors not closed: ${number(Math.max(0, filesLeft))}.`,
        ),
      ],
      broken: promises.broken,
    };
  },
};

function kibibytes(mebibytes: number, held: number): string {
  return held === 0 ? '–' : ((mebibytes * 1024) / held).toFixed(1);
}

async function hold(gateway: Gateway, key: string, wanted: number, filesBefore: number): Promise<Round> {
  const started = performance.now();
  const sockets: Socket[] = [];
  let next = 0;
  const opener = async (): Promise<void> => {
    while (next < wanted) {
      const socket = await openIdle(gateway.port, next++);
      if (socket) sockets.push(socket);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, opener));
  const openedIn = performance.now() - started;
  const tally = new Tally();
  const latencies: number[] = [];
  for (let sent = 0; sent < requestsBeside(wanted); sent += 1) {
    const reply = await gateway.call({ method: 'GET', path: '/api/v1/products?limit=5', key });
    tally.add(labelOf(reply));
    if (isSuccess(reply)) latencies.push(reply.ms);
  }
  const peak = (await residentMiB(gateway.pid())) ?? 0;
  const held = sockets.filter((socket) => !socket.destroyed && socket.readable).length;
  for (const socket of sockets) socket.destroy();
  let filesLeft = 0;
  await until(async () => {
    filesLeft = (await ownDescriptors(gateway)) - filesBefore;
    return filesLeft <= FILES_SLACK;
  }, 20_000);
  // time for garbage collection
  await sleep(Math.min(SETTLE, wanted * 4));
  return { held, openedIn, peak, after: (await residentMiB(gateway.pid())) ?? 0, filesLeft, tally, latencies };
}

/** A connection that got one answer and stays open; undefined if it could not be opened. */
function openIdle(port: number, index: number): Promise<Socket | undefined> {
  // only Linux routes all of 127.0.0.0/8 to the loopback interface
  const localAddress = process.platform === 'linux' ? `127.0.0.${String(2 + (index % 10))}` : undefined;
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, ...(localAddress && { localAddress }) });
    const give = (answer: Socket | undefined) => (): void => {
      resolve(answer);
    };
    socket.once('data', give(socket)).once('error', give(undefined)).once('close', give(undefined));
    socket.on('error', () => socket.destroy());
    socket.write('GET /livez HTTP/1.1\r\nHost: faults\r\n\r\n');
  });
}
