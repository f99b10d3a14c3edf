import type { Json } from '../support/client';
import { startWatchedGateway } from '../support/commands';
import type { TestGateway } from '../support/gateway';

interface Command {
  readonly database: string;
  readonly name: string;
  readonly collection: string;
}

/** A gateway that records the commands it sends to any database; tests empty the lists before their own requests. */
export interface RecordedGateway extends TestGateway {
  /** Commands sent for requests, without those the gateway sends periodically. */
  readonly commands: Command[];
  /** Ids of the keys in each write of last_used_at. */
  readonly usesWritten: string[][];
}

export async function startRecordedGateway(): Promise<RecordedGateway> {
  const gateway = await startWatchedGateway();
  const commands: Command[] = [];
  const usesWritten: string[][] = [];
  gateway.databases.control.getClient().on('commandStarted', ({ databaseName, commandName, command }) => {
    const collection = String(command[commandName]);
    // records of requests, and looks for their organisations and keys
    const isRecording = collection === 'request_log' || (commandName === 'update' && collection === 'key_usage');
    // signs of life, waiting jobs, and abandoned moves
    const isLooking = ['heartbeats', 'jobs'].includes(collection) || command.filter?.['move.to'] !== undefined;
    const isPeriodic = isRecording || isLooking || command.filter?._id?.$in !== undefined;
    if (commandName === 'ping' || isPeriodic) return;
    const keys = usedKeys(command);
    if (keys.length > 0) usesWritten.push(keys);
    else commands.push({ database: databaseName, name: commandName, collection });
  });
  return Object.assign(gateway, { commands, usesWritten });
}

/** Ids of the keys whose last_used_at this command writes. */
function usedKeys({ update, updates = [] }: Json): string[] {
  if (update !== 'api_keys') return [];
  return updates.flatMap(({ q, u }: Json) => (u.$set?.last_used_at ? [q._id] : []));
}
