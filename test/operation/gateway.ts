import pino from 'pino';
import { openStore, type Store } from '../../src/cli/store';
import { readConfig } from '../../src/config';
import { type RunningServer, type ServerOptions, startServer } from '../../src/server';
import { servedBy, type TestGateway } from '../support/gateway';

/** A gateway for tests of draining and time limits. */
export interface OperatedGateway extends TestGateway {
  readonly adminUrl: string | undefined;
  readonly drain: RunningServer['drain'];
}

/** Starts a gateway on the test database, or on `MONGODB_URI`. */
export async function operate(
  environment: Record<string, string> = {},
  timeouts: NonNullable<ServerOptions['timeouts']> = {},
): Promise<OperatedGateway> {
  const config = readConfig({
    MONGODB_URI: process.env.TEST_MONGODB_URI,
    PORT: '0',
    RATE_LIMIT_PER_MINUTE: '1000000',
    CONTROL_DATABASE: 'scopegate_operation',
    // it would record everything that was written since the last test of this kind
    EVENTS: 'off',
    ...environment,
  });
  const store: Store = await openStore(config, () => undefined);
  const logs: Record<string, unknown>[] = [];
  const write = (line: string): void => void logs.push(JSON.parse(line) as Record<string, unknown>);
  const server = await startServer({ config, ...store, logger: pino({ base: null }, { write }), timeouts });
  const drain = (): Promise<void> => server.drain();
  const stop = async (): Promise<void> => {
    await drain();
    await store.close();
  };
  return {
    ...store,
    url: server.url,
    adminUrl: server.adminUrl,
    drain,
    logs,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Such a gateway for the tests of a file or describe. */
export const operated = (...options: Parameters<typeof operate>): OperatedGateway =>
  servedBy(() => operate(...options));
