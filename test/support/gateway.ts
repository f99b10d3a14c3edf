import { Writable } from 'node:stream';
import pino from 'pino';
import { openStore, type Store } from '../../src/cli/common/open';
import { readConfig } from '../../src/config';
import { startServer } from '../../src/server';

/** A real gateway on the test database, with its own port. */
export interface TestGateway extends Store {
  readonly url: string;
  /** Lines logged so far, parsed. */
  readonly logs: Record<string, unknown>[];
  stop(): Promise<void>;
}

/** Starts a gateway; `environment` overrides the defaults for tests, such as a very high rate limit. */
export async function startGateway(environment: Record<string, string> = {}): Promise<TestGateway> {
  const config = readConfig({
    MONGODB_URI: process.env.TEST_MONGODB_URI,
    PORT: '0',
    LOG_LEVEL: 'info',
    RATE_LIMIT_PER_MINUTE: '1000000',
    CONTROL_DATABASE: 'scopegate_test',
    ...environment,
  });
  const store = await openStore(config, () => undefined);
  const logs: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString().split('\n').filter(Boolean))
        logs.push(JSON.parse(line) as Record<string, unknown>);
      done();
    },
  });
  const server = await startServer({ config, ...store, logger: pino({ level: config.LOG_LEVEL, base: null }, sink) });
  return {
    ...store,
    url: server.url,
    logs,
    stop: async () => {
      await server.drain();
      await store.close();
    },
  };
}
