import { startGateway, type TestGateway } from '../support/gateway';

interface Command {
  readonly database: string;
  readonly name: string;
  readonly collection: string;
}

/** A gateway that tells which commands it sent to the database. */
export interface WatchedGateway extends TestGateway {
  readonly commands: Command[];
}

export async function startWatchedGateway(environment: Record<string, string> = {}): Promise<WatchedGateway> {
  const uri = new URL(process.env.TEST_MONGODB_URI!);
  uri.searchParams.set('monitorCommands', 'true');
  const gateway = await startGateway({ MONGODB_URI: uri.href, ...environment });
  const commands: Command[] = [];
  gateway.databases.control.getClient().on('commandStarted', ({ databaseName, commandName, command }) => {
    commands.push({ database: databaseName, name: commandName, collection: String(command[commandName]) });
  });
  return Object.assign(gateway, { commands });
}
