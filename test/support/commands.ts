import type { Organisation } from '../../src/auth/principal';
import { databaseName } from '../../src/mongo/databaseNames';
import type { Json } from './client';
import { startGateway, type TestGateway } from './gateway';

export interface SentCommand {
  readonly name: string;
  readonly command: Json;
}

export function startWatchedGateway(environment: Record<string, string> = {}): Promise<TestGateway> {
  const uri = process.env.TEST_MONGODB_URI!;
  return startGateway({ ...environment, MONGODB_URI: `${uri}${uri.includes('?') ? '&' : '/?'}monitorCommands=true` });
}

/** The commands sent to an organisation's database while `work` runs. */
export async function commandsOf(
  gateway: TestGateway,
  organisation: Organisation,
  work: () => Promise<unknown>,
): Promise<SentCommand[]> {
  const sent: SentCommand[] = [];
  const database = databaseName(organisation.id);
  const note = (event: { commandName: string; databaseName: string; command: Json }): void => {
    if (event.databaseName === database) sent.push({ name: event.commandName, command: event.command });
  };
  const client = gateway.databases.control.getClient();
  client.on('commandStarted', note);
  try {
    await work();
  } finally {
    client.off('commandStarted', note);
  }
  return sent;
}
