import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import mongoose, { type mongo } from 'mongoose';
import { print, printTable } from '../../src/cli/terminal';
import { databaseName } from '../../src/database/organisationData';
import type { EndpointRow } from '../../src/organisations/webhookRows';
import { SETTLED_AFTER } from '../../src/organisations/webhookLeases';
import { readQuote } from '../calls';
import { type Contestant, start } from '../contestants';
import { ask, fetchOnce, saturate } from '../load';
import { type Cores, cpuSeconds } from '../machine';
import { milliseconds } from '../report/format';
import { VERDICT_HEADINGS } from '../report/table';
import type { Content, Rig } from '../rig';
import { quantile, spreadOf } from '../statistics';
import { type BacklogScale, measureBacklog } from './backlog';
import { makeEndpoints, type Receiver, startReceiver } from './receiver';

/* What events cost: a reader beside the tail and webhooks, the time from a write to feed and receiver, and how many one tail can take. */

interface EventRounds {
  readonly rounds: number;
  /** Duration of one measurement. */
  readonly seconds: number;
  /** Changes whose way to the feed is timed. */
  readonly timed: number;
  /** Changes at once. */
  readonly burst: number;
  /** Webhook endpoints, each of another organisation. */
  readonly endpoints: number;
  readonly backlog: BacklogScale;
}

const FULL: EventRounds = {
  rounds: 9,
  seconds: 2,
  timed: 500,
  burst: 20_000,
  endpoints: 100,
  backlog: { sizes: [1e3, 1e6], attempts: 160 },
};

const SMOKE: EventRounds = {
  rounds: 1,
  seconds: 0.3,
  timed: 5,
  burst: 100,
  endpoints: 2,
  backlog: { sizes: [10, 100], attempts: 8 },
};

/** Most CPU of one read beside the tail and the webhooks, of one without. */
const MOST_COST = 1.05;
/** Most CPU of an attempt at a dead endpoint with the most events behind it, of one with the fewest. */
const MOST_GROWTH = 1.5;
/** Changes a second while reads are measured, and while their way to the feed is timed. */
const [BESIDE, TIMED] = [10, 20];
const ROWS_AT_ONCE = 1000;
/** How long a burst may take to be recorded, in milliseconds. */
const RECORDED_WITHIN = 300_000;
const CONNECTIONS = 16;

interface Row {
  readonly _id: string;
  readonly status: string;
  readonly updated_at: Date;
}

const row = (): Row => ({ _id: randomUUID(), status: 'draft', updated_at: new Date() });

/**
 * One quote is read from a gateway that records events and sends them to endpoints of as many organisations, and from one that
 * does neither (EVENTS=off), in turn, while another program makes changes in these organisations. Then single changes are timed
 * from their acknowledgement to the answer of a waiting request and to a receiver, and many are made at once. Last, attempts at
 * dead endpoints with few and with many events behind them, in turn, gateway and database together. Prints the figures.
 */
export async function measureEvents(
  rig: Rig,
  cores: Cores | undefined,
  content: Content,
  isSmoke: boolean,
): Promise<void> {
  const scale = isSmoke ? SMOKE : FULL;
  const options = { cores, profile: undefined, before: undefined };
  const silent = await start('silent', rig, options);
  const recording = await start('delivering', rig, options);
  const receiver = await startReceiver();
  const client = await mongoose.mongo.MongoClient.connect(rig.database.uri, {
    writeConcern: { w: 'majority', journal: true },
  });
  try {
    const db = client.db(databaseName(content.organisation.id));
    const orders = db.collection<Row>('orders');
    await untilRecorded(recording, content);
    const { organisation: first } = content;
    const listeners = await makeEndpoints(rig, { first, count: scale.endpoints, url: receiver.url });
    const all = listeners.map(({ id }) => client.db(databaseName(id)).collection<Row>('orders'));
    // collections are made at the first change of each
    for (const one of all) await one.insertOne(row());
    // until then endpoints are looked at every 2 s
    await pause(SETTLED_AFTER + 2000);
    const cost = await readsBeside(all, [silent, recording], content, scale);
    const { toFeed, toReceiver } = await timeChanges(orders, recording, content, { count: scale.timed, receiver });
    const { perSecond, cpu } = await takeBurst(db, recording, scale.burst);
    const { CONTROL_DATABASE } = rig.environment;
    const endpoints = client.db(CONTROL_DATABASE).collection<EndpointRow>('webhook_endpoints');
    const backlog = await measureBacklog(rig, recording, endpoints, scale.backlog);
    const [without, beside] = cost;
    print('\nEvents');
    printTable(
      ['', ''],
      [
        ['CPU of one quote, without events', `${whole(without)} µs`],
        ['CPU of one quote, with tail and webhooks', `${whole(beside)} µs`],
        ...[['feed', toFeed] as const, ['receiver', toReceiver] as const].flatMap(([where, took]) => [
          [`write to ${where}, p50`, milliseconds(quantile(took, 0.5))],
          [`write to ${where}, p99`, milliseconds(quantile(took, 0.99))],
        ]),
        ['events a second of one tail', whole(perSecond)],
        ['CPU of one event', cpu === undefined ? 'unknown' : `${whole(cpu)} µs`],
        ...backlog.map((one) => [
          `CPU of one attempt at a dead endpoint, ${whole(one.events)} events behind it`,
          `${whole(one.cpu)} µs`,
        ]),
      ],
    );
    printTable(VERDICT_HEADINGS, [
      verdict('CPU of one quote with tail and webhooks, of that without', MOST_COST, beside / without),
      verdict(
        'CPU of an attempt at a dead endpoint with the most events behind it, of that with the fewest',
        MOST_GROWTH,
        (backlog.at(-1)?.cpu ?? NaN) / (backlog[0]?.cpu ?? NaN),
      ),
    ]);
  } finally {
    receiver.stop();
    await client.close();
    await recording.stop();
    await silent.stop();
  }
}

function verdict(title: string, most: number, value: number): string[] {
  return [title, `at most ${most.toFixed(2)}`, value.toFixed(2), value <= most ? 'met' : 'missed'];
}

function headersOf({ keys: [key = ''] }: Content): Record<string, string> {
  return { Authorization: `Bearer ${key}` };
}

/** A cluster that was never tailed is tailed from now on. */
async function untilRecorded({ url }: Contestant, content: Content): Promise<void> {
  for (let attempts = 0; attempts < 100; attempts += 1) {
    const { status } = await fetchOnce({ url }, { method: 'GET', path: '/api/v1/events', headers: headersOf(content) });
    if (status === 200) return;
    await pause(200);
  }
  throw new Error(`${url} does not record events`);
}

/** CPU of a read in microseconds, median over the rounds, of each server. */
async function readsBeside(
  orders: readonly mongo.Collection<Row>[],
  servers: readonly Contestant[],
  content: Content,
  { rounds, seconds }: EventRounds,
): Promise<[number, number]> {
  const samples = new Map(servers.map((server) => [server, [] as number[]]));
  const load = { next: readQuote(content), connections: CONNECTIONS, status: 200 };
  for (const server of servers) await saturate(server, { ...load, seconds, seed: 0 });
  const writing = new AbortController();
  const changes = changeEvery(1000 / BESIDE, orders, writing.signal);
  for (let round = 1; round <= rounds; round += 1) {
    for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
      const { cpu } = await saturate(server, { ...load, seconds, seed: round });
      if (cpu !== undefined) samples.get(server)?.push(cpu);
    }
  }
  writing.abort();
  await changes;
  const [without = NaN, beside = NaN] = servers.map((server) => spreadOf(samples.get(server) ?? []).median);
  return [without, beside];
}

async function changeEvery(
  interval: number,
  orders: readonly mongo.Collection<Row>[],
  signal: AbortSignal,
): Promise<void> {
  for (let made = 0; !signal.aborted; made += 1) {
    await orders[made % orders.length]?.insertOne(row());
    await pause(interval);
  }
}

interface Times {
  /** From the acknowledgement of a change to its event at a waiting caller, in milliseconds, ascending. */
  readonly toFeed: number[];
  /** The same to a receiver. */
  readonly toReceiver: number[];
}

async function timeChanges(
  orders: mongo.Collection<Row>,
  { url }: Contestant,
  content: Content,
  { count, receiver }: { readonly count: number; readonly receiver: Pick<Receiver, 'seen'> },
): Promise<Times> {
  const written = new Map<string, number>();
  const seen = new Map<string, number>();
  const headers = headersOf(content);
  const read = async (): Promise<void> => {
    for (let after = 'now'; seen.size < count;) {
      const path = `/api/v1/events?types=order.created&limit=100&wait=2&after=${after}`;
      const { status, body } = await ask(false, url, { method: 'GET', path, headers });
      if (status !== 200) throw new Error(`GET /events returned ${String(status)}`);
      const at = performance.now();
      const page = JSON.parse(body) as { data: { object: { id: string } }[]; next_cursor: string };
      for (const { object } of page.data) seen.set(object.id, at);
      after = page.next_cursor;
    }
  };
  const reading = read();
  await pause(500);
  for (let at = 0; at < count; at += 1) {
    const made = row();
    await orders.insertOne(made);
    written.set(made._id, performance.now());
    await pause(1000 / TIMED);
  }
  await reading;
  for (let looks = 0; [...written.keys()].some((id) => !receiver.seen.has(id)); looks += 1) {
    if (looks > 600) throw new Error('the receiver did not get all changes within a minute');
    await pause(100);
  }
  // the answer can be there before the writer hears that it has written
  const times = (arrived: ReadonlyMap<string, number>): number[] =>
    [...written].map(([id, at]) => Math.max(0, (arrived.get(id) ?? NaN) - at)).toSorted((one, other) => one - other);
  return { toFeed: times(seen), toReceiver: times(receiver.seen) };
}

/** Events a second from the first change until all are recorded, and the CPU of each in microseconds. */
async function takeBurst(
  db: mongo.Db,
  { pid }: Contestant,
  burst: number,
): Promise<{ perSecond: number; cpu: number | undefined }> {
  const [orders, events] = [db.collection<Row>('orders'), db.collection('events')];
  const [before, started] = [await events.countDocuments({}), performance.now()];
  const cpuBefore = await cpuSeconds(pid);
  for (let made = 0; made < burst; made += ROWS_AT_ONCE)
    await orders.insertMany(Array.from({ length: Math.min(ROWS_AT_ONCE, burst - made) }, row));
  while ((await events.countDocuments({})) < before + burst) {
    if (performance.now() - started > RECORDED_WITHIN) throw new Error('the tail did not record all changes');
    await pause(50);
  }
  const seconds = (performance.now() - started) / 1000;
  const cpuAfter = await cpuSeconds(pid);
  const cpu = cpuBefore === undefined || cpuAfter === undefined ? undefined : ((cpuAfter - cpuBefore) / burst) * 1e6;
  return { perSecond: burst / seconds, cpu };
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}
