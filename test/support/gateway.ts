import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { openStore, type Store } from '../../src/cli/common/open';
import { readConfig } from '../../src/config';
import { tailRows } from '../../src/events/tail/lease';
import { type ServerOptions, startServer } from '../../src/server';
import { addShare } from './writtenShare';

/** A real gateway on the test database, with its own port. */
export interface TestGateway extends Store {
  readonly url: string;
  /** Lines logged so far, parsed. */
  readonly logs: Record<string, unknown>[];
  stop(): Promise<void>;
}

/** Starts a gateway; `environment` overrides the defaults for tests, such as a very high rate limit, and `timeouts` those of production. */
export async function startGateway(
  environment: Record<string, string> = {},
  timeouts: NonNullable<ServerOptions['timeouts']> = {},
): Promise<TestGateway> {
  const config = readConfig({
    MONGODB_URI: process.env.TEST_MONGODB_URI,
    PORT: '0',
    LOG_LEVEL: 'info',
    RATE_LIMIT_PER_MINUTE: '1000000',
    CONTROL_DATABASE: 'scopegate_test',
    // all gateways share a server, and would record each other's changes
    EVENTS: 'off',
    ...environment,
  });
  const store = await openStore(config, () => undefined);
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
  const server = await startServer({ config, ...store, logger, timeouts: { idle: 20, ...timeouts } });
  if (config.EVENTS === 'on') await untilRecorded(store);
  return {
    ...store,
    url: server.url,
    logs,
    stop: async () => {
      // in parallel, so that it starts at once
      const counted = addShare(server);
      await server.drain();
      await counted;
      await store.close();
    },
  };
}

/** Waits until no later change can be missed: a cluster without a tail is tailed from now on. */
async function untilRecorded({ databases }: Store): Promise<void> {
  for (const cluster of databases.clusters) {
    const rows = tailRows(await databases.streams(cluster), databases.control.name);
    while (!(await rows.findOne({ _id: 'tail' }))?.token) await sleep(50);
  }
}

/** As if other gateways recorded the events, since the feed answers only if one does. */
async function pretendTails({ databases }: Store): Promise<void> {
  for (const cluster of databases.clusters) {
    const rows = await databases.streams(cluster).then(
      (client) => tailRows(client, databases.control.name),
      () => undefined,
    );
    const row = { holder: 'elsewhere', generation: 1, until: new Date(Date.now() + 3_600_000) };
    await rows?.updateOne({ _id: 'tail' }, { $setOnInsert: row }, { upsert: true });
  }
}
