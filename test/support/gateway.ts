import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import mongoose, { type mongo } from 'mongoose';
import pino from 'pino';
import { openStore, type Store } from '../../src/cli/store';
import { readConfig } from '../../src/config';
import { tailRows } from '../../src/events/tail/lease';
import { type ServerOptions, startServer } from '../../src/gateway/server';
import { isUnavailable } from '../../src/mongo/faults';
import { eventually } from '../api/http/eventually';
import { late } from './late';
import { oldServers } from './oldServers';

export { late } from './late';

/** A real gateway on the test database, with its own port. */
export interface TestGateway extends Store, AsyncDisposable {
  readonly url: string;
  /** That of ADMIN_PORT, if set. */
  readonly adminUrl: string | undefined;
  /** Lines logged so far, parsed. */
  readonly logs: Record<string, unknown>[];
  /** The first part of `stop`: the database stays connected. */
  readonly drain: () => Promise<void>;
  stop(): Promise<void>;
}

/** Starts a gateway; `environment` overrides the defaults for tests, such as a very high rate limit, and `timeouts` those of production; `demo` has the key of a demo. */
export async function startGateway(
  environment: Record<string, string> = {},
  timeouts: NonNullable<ServerOptions['timeouts']> = {},
  demo: Pick<ServerOptions, 'demoKey'> = {},
): Promise<TestGateway> {
  const config = readConfig({
    MONGODB_URI: process.env.TEST_MONGODB_URI,
    PORT: '0',
    LOG_LEVEL: 'info',
    RATE_LIMIT_PER_MINUTE: '1000000',
    CONTROL_DATABASE: 'scopegate_test',
    // all gateways share a server, and would record each other's changes
    EVENTS: 'off',
    ...oldServers(),
    ...environment,
  });
  const open = (): Promise<Store> => openStore(config, () => undefined);
  const store = await open().catch((error: unknown) => {
    // the driver waits for 3 s, for which a busy machine may stop
    if (isUnavailable(error)) return eventually(open, 120_000);
    throw error;
  });
  if (config.EVENTS === 'off') await pretendTails(store);
  const logs: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString().split('\n').filter(Boolean))
        logs.push(JSON.parse(line) as Record<string, unknown>);
      done();
    },
  });
  const logger = pino({ level: config.LOG_LEVEL, base: null }, sink);
  // idle connections here were left by tests, and need no grace period
  const options = { config, ...store, ...demo, logger, timeouts: { idle: 20, ...timeouts } };
  const server = await startServer(options).catch(async (error: unknown) => {
    // its connections would keep Jest from ending
    await store.close();
    throw error;
  });
  if (config.EVENTS === 'on') await untilRecorded(store);
  const { url, adminUrl } = server;
  const drain = (): Promise<void> => server.drain();
  const stop = async (): Promise<void> => {
    await drain();
    await store.close();
  };
  return { ...store, url, adminUrl, drain, logs, stop, [Symbol.asyncDispose]: stop };
}

/** A value on a gateway's metrics page. */
export async function metric({ url }: { readonly url: string }, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length));
}

/** Runs `work` with a gateway of this environment, and stops it. */
export async function withGateway(
  environment: Record<string, string>,
  work: (gateway: TestGateway) => Promise<void>,
): Promise<void> {
  await using gateway = await startGateway(environment);
  await work(gateway);
}

/** Waits until no later change can be missed: a database without a tail is tailed from now on. */
async function untilRecorded({ databases }: Store): Promise<void> {
  const rows = tailRows(await databases.streams(), databases.control.name);
  while (!(await rows.findOne({ _id: 'tail' }))?.token) await sleep(50);
}

/** As if other gateways recorded the events, since the feed answers only if one does. */
async function pretendTails({ databases }: Store): Promise<void> {
  const rows = tailRows(await databases.streams(), databases.control.name);
  const row = { holder: 'elsewhere', generation: 1, until: new Date(Date.now() + 3_600_000) };
  await rows.updateOne({ _id: 'tail' }, { $setOnInsert: row }, { upsert: true });
}

/** The driver alone, as another program uses the database. */
export function driver(): mongo.MongoClient {
  const options = { writeConcern: { w: 'majority' } } as const;
  const bare = late(() => mongoose.mongo.MongoClient.connect(process.env.TEST_MONGODB_URI!, options));
  afterAll(() => bare.close());
  return bare;
}

/** A gateway for the tests of a file or describe. */
export function servedBy<T extends TestGateway>(start: () => Promise<T>): T {
  const gateway = late(start);
  afterAll(() => gateway.stop());
  return gateway;
}

export const served = (...options: Parameters<typeof startGateway>): TestGateway =>
  servedBy(() => startGateway(...options));
