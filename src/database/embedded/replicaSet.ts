import { setTimeout as pause } from 'node:timers/promises';
import { unless } from './failures';
import { withClient } from './ping';

const NOT_YET_INITIALIZED = 94;
const ALREADY_INITIALIZED = 23;
const ELECTION_MS = 30_000;

/** The part of a connection used here. */
export interface Commands {
  command(command: Record<string, unknown>): Promise<Record<string, unknown>>;
}

/** Makes the mongod at `host` the primary of its own replica set, which transactions require. */
export function becomePrimary(host: string, replicaSet: string, signal?: AbortSignal): Promise<void> {
  // without the set's name, which a mongod that is not in it yet rejects
  return withClient(`mongodb://${host}/?directConnection=true`, ELECTION_MS, (client) =>
    formSet(client.db('admin'), replicaSet, host, signal),
  );
}

/** Initiates the set, or moves an existing one to this address, and waits for the election. */
export async function formSet(admin: Commands, replicaSet: string, host: string, signal?: AbortSignal): Promise<void> {
  const deadline = performance.now() + ELECTION_MS;
  let configured = false;
  while (performance.now() < deadline) {
    configured ||= await configure(admin, replicaSet, host);
    if (configured && (await admin.command({ hello: 1 })).isWritablePrimary === true) return;
    await pause(50, undefined, { signal });
  }
  throw new Error(`the replica set has no primary after ${String(ELECTION_MS / 1000)} s`);
}

interface SetConfig {
  readonly version: number;
  readonly members: readonly { readonly host: string }[];
}

/** False while mongod is still reading its configuration from disk, when it reports both that it has none and that it has one. */
async function configure(admin: Commands, replicaSet: string, host: string): Promise<boolean> {
  const found = await unless(NOT_YET_INITIALIZED, admin.command({ replSetGetConfig: 1 }));
  if (!found) {
    const config = { _id: replicaSet, members: [{ _id: 0, host }] };
    return (await unless(ALREADY_INITIALIZED, admin.command({ replSetInitiate: config }))) !== undefined;
  }
  const config = found.config as SetConfig;
  if (config.members[0]?.host === host) return true;
  // forced, because a member that is not in the set cannot become primary
  const moved = { ...config, version: config.version + 1, members: [{ ...config.members[0], host }] };
  await admin.command({ replSetReconfig: moved, force: true });
  return true;
}
