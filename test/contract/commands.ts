import { startWatchedGateway } from '../support/commands';
import type { TestGateway } from '../support/gateway';

interface Command {
  readonly database: string;
  readonly name: string;
  readonly collection: string;
}

/** A gateway that keeps the commands it sent to any database; a test empties the list where its own begin. */
export interface RecordedGateway extends TestGateway {
  readonly commands: Command[];
}

export async function startRecordedGateway(): Promise<RecordedGateway> {
  const gateway = await startWatchedGateway();
  const commands: Command[] = [];
  gateway.databases.control.getClient().on('commandStarted', ({ databaseName, commandName, command }) => {
    commands.push({ database: databaseName, name: commandName, collection: String(command[commandName]) });
  });
  return Object.assign(gateway, { commands });
}
