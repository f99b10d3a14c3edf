import type { Json } from '../support/client';
import { startWatchedGateway } from '../support/commands';
import type { TestGateway } from '../support/gateway';

interface Command {
  readonly database: string;
  readonly name: string;
  readonly collection: string;
}

/** A gateway that keeps the commands it sent to any database; a test empties the lists where its own begin. */
export interface RecordedGateway extends TestGateway {
  /** What requests asked for: all but what the gateway sends by its own clock, which may fall into any of them. */
  readonly commands: Command[];
  /** Ids of the keys in each write of last uses. */
  readonly usesWritten: string[][];
}

export async function startRecordedGateway(): Promise<RecordedGateway> {
  const gateway = await startWatchedGateway();
  const commands: Command[] = [];
  const usesWritten: string[][] = [];
  gateway.databases.control.getClient().on('commandStarted', ({ databaseName, commandName, command }) => {
    const collection = String(command[commandName]);
    if (commandName === 'ping' || (commandName === 'update' && collection === 'key_usage')) return;
    const keys = usedKeys(command);
    if (keys.length > 0) usesWritten.push(keys);
    else commands.push({ database: databaseName, name: commandName, collection });
  });
  return Object.assign(gateway, { commands, usesWritten });
}

/** Keys whose last use this command writes. */
function usedKeys({ update, updates = [] }: Json): string[] {
  if (update !== 'api_keys') return [];
  return updates.flatMap(({ q, u }: Json) => (u.$set?.last_used_at ? [q._id] : []));
}
