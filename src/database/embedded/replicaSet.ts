import mongoose from 'mongoose';
import { pause } from './liveness';
import { withClient } from './ping';

const NOT_YET_INITIALIZED = 94;
const ALREADY_INITIALIZED = 23;
const ELECTION_MS = 30_000;

/** The part of a connection used here. */
export interface Commands {
  command(command: Record<string, unknown>): Promise<Record<string, unknown>>;
}

/** Makes the mongod at `uri` the primary of its own replica set, which transactions require. */
export function becomePrimary(uri: string, replicaSet: string, port: number, signal?: AbortSignal): Promise<void> {
  return withClient(uri, ELECTION_MS, (client) =>
    formSet(client.db('admin'), replicaSet, `127.0.0.1:${String(port)}`, signal),
  );
}

/** Initiates the set, or moves an existing one to this address, and waits for the election. */
export async function formSet(admin: Commands, replicaSet: string, host: string, signal?: AbortSignal): Promise<void> {
  const deadline = performance.now() + ELECTION_MS;
  let configured = false;
  while (performance.now() < deadline) {
    configured ||= await configure(admin, replicaSet, host);
    if (configured && (await admin.command({ hello: 1 })).isWritablePrimary === true) return;
    await pause(50, signal);
  }
  throw new Error(`the replica set has no primary after ${String(ELECTION_MS / 1000)} s`);
}

/** False while mongod is still reading its configuration from disk, when it reports both that it has none and that it has one. */
async function configure(admin: Commands, replicaSet: string, host: string): Promise<boolean> {
  const config = await currentConfig(admin);
  if (!config) return initiate(admin, replicaSet, host);
  const [member] = config.members;
  if (!member) return false;
  if (member.host === host) return true;
  // forced, because a member that is not in the set cannot become primary
  const moved = { ...config, version: config.version + 1, members: [{ ...member, host }] };
  await admin.command({ replSetReconfig: moved, force: true });
  return true;
}

async function initiate(admin: Commands, replicaSet: string, host: string): Promise<boolean> {
  try {
    await admin.command({ replSetInitiate: { _id: replicaSet, members: [{ _id: 0, host }] } });
    return true;
  } catch (error) {
    if (hasServerCode(error, ALREADY_INITIALIZED)) return false;
    throw error;
  }
}

interface SetConfig {
  readonly version: number;
  readonly members: readonly { readonly host: string }[];
}

async function currentConfig(admin: Commands): Promise<SetConfig | undefined> {
  try {
    return (await admin.command({ replSetGetConfig: 1 })).config as SetConfig;
  } catch (error) {
    if (hasServerCode(error, NOT_YET_INITIALIZED)) return undefined;
    throw error;
  }
}

const hasServerCode = (error: unknown, code: number): boolean =>
  error instanceof mongoose.mongo.MongoServerError && error.code === code;
