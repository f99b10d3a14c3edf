import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import { type EventRow, events } from '../../src/events/collection';
import { positionOf, timeDigits } from '../../src/events/position';
import type { EndpointRow } from '../../src/organisations/webhookRows';
import type { Contestant } from '../contestants';
import { cpuSeconds } from '../machine';
import { insert, type Rig } from '../rig';
import { makeEndpoints } from './receiver';

/* What attempts at a dead endpoint cost, by the number of events behind it. */

export interface BacklogScale {
  /** Events behind the endpoints, each of an organisation of its own. */
  readonly sizes: readonly number[];
  /** Attempts that are measured. */
  readonly attempts: number;
}

/** CPU of one attempt, of gateway and database together. */
export interface Backlog {
  readonly events: number;
  /** In microseconds. */
  readonly cpu: number;
}

const ENDPOINTS = 8;
const ROWS_AT_ONCE = 5000;
const HOUR = 3600;
/** How long one round of attempts may take, in milliseconds. */
const LONGEST = 60_000;

/** Measures attempts at endpoints that answer 503, in turn for each size; each attempt is made due at once. */
export async function measureBacklog(
  rig: Rig,
  gateway: Contestant,
  control: mongo.Collection<EndpointRow>,
  { sizes, attempts }: BacklogScale,
): Promise<Backlog[]> {
  const dead = await startDead();
  const ids: string[][] = [];
  for (const size of sizes) ids.push(await fillBacklog(rig, control, dead.url, size));
  const cpu = sizes.map(() => 0);
  const rounds = Math.ceil(attempts / ENDPOINTS);
  const busy = async (): Promise<number> =>
    ((await cpuSeconds(gateway.pid)) ?? NaN) + ((await cpuSeconds(rig.database.pid)) ?? NaN);
  // the first round is not counted: it parks the event that the others try
  for (let round = 0; round <= rounds; round += 1) {
    for (const [at, endpoints] of ids.entries()) {
      const before = await busy();
      const seen = dead.attempts();
      await control.updateMany(
        { _id: { $in: endpoints } },
        {
          $set: { state: 'failing', failing_since: new Date(), due: new Date(0), until: new Date(0) },
          $inc: { wakes: 1 },
        },
      );
      await until(() => dead.attempts() >= seen + ENDPOINTS);
      // what follows an attempt is a part of it
      await until(async () => (await control.countDocuments({ _id: { $in: endpoints }, holder: { $ne: null } })) === 0);
      if (round > 0) cpu[at] = (cpu[at] ?? 0) + (await busy()) - before;
    }
  }
  dead.stop();
  return sizes.map((size, at) => ({ events: size, cpu: ((cpu[at] ?? NaN) / (rounds * ENDPOINTS)) * 1e6 }));
}

/** An organisation with endpoints that have `size` events to send; returns the ids of the endpoints. */
async function fillBacklog(
  rig: Rig,
  control: mongo.Collection<EndpointRow>,
  url: string,
  size: number,
): Promise<string[]> {
  const input = { name: 'Backlog', plan: 'integrations', currency: 'EUR' } as const;
  const organisation = await rig.store.control.organisations.create(input);
  for (let made = 0; made < ENDPOINTS; made += 1) await makeEndpoints(rig, { first: organisation, count: 1, url });
  const start = Math.floor(Date.now() / 1000) - HOUR;
  const position = (at: number): string => positionOf(0, timeDigits({ t: start, i: at + 1 }), 0);
  for (let from = 0; from < size; from += ROWS_AT_ONCE) {
    const rows = Array.from({ length: Math.min(ROWS_AT_ONCE, size - from) }, (_, at): EventRow => ({
      ...{ _id: position(from + at), type: 'order.created', at: new Date() },
      ...{ object: { type: 'order', id: randomUUID() }, changes: [], status: null },
    }));
    await insert(rig, organisation, events, rows);
  }
  const own = { organisation_id: organisation.id };
  await control.updateMany(own, { $set: { position: positionOf(0, timeDigits({ t: start, i: 0 }), 0) } });
  return (await control.find(own).toArray()).map(({ _id }) => _id);
}

/** A receiver that answers 503 to everything. */
async function startDead() {
  let attempts = 0;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      attempts += 1;
      response.writeHead(503).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`,
    attempts: () => attempts,
    stop(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + LONGEST;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error('the gateway did not make the attempts at dead endpoints');
    await pause(20);
  }
}
