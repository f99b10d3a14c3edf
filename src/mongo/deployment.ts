import mongoose from 'mongoose';
import { sourceOf } from '../config';
import { AppError } from '../errors';
import { createClock, isMongos } from './clock';
import { isUnavailable } from './faults';
import { isStandalone, optionOf, plainHello } from './plainHello';
import { createPoolWatch } from './pools';
import { createProbe } from './probe';

/*
 * The driver's timeouts, in milliseconds. Its `timeoutMS` has no effect since 7.6, so each stage has its own; a request
 * fails earlier if the database does not respond (admission/requestTracker.ts).
 */
/** How long a command waits for an available server, and for a free connection to it. */
const SERVER_SELECTION_TIMEOUT = 3000;
const WAIT_QUEUE_TIMEOUT = 3000;
/** How long one command may take: enough for a bulk write, and for building an index, unless the collection is large; the server may go on with that. */
const SOCKET_TIMEOUT = 30_000;
/** The same of a change stream, whose server may have some fifty million changes to look through until one is wanted. */
const STREAM_TIMEOUT = 120_000;
/** If a server does not respond to the driver's own checks within this time, all commands under way on it fail. */
const CONNECT_TIMEOUT = 5000;
const HEARTBEAT_EVERY = 5000;
/**
 * Connections for change streams, each of which keeps one busy, and for reading their rows: those of the tail, which records events, of requests
 * that wait, of operators' reads (deploymentFeed.ts) and of the operator's webhook. Each of the four may have a stream and read rows at once.
 */
export const STREAM_POOL_SIZE = 8;

const OPTIONS: mongoose.ConnectOptions = {
  serverSelectionTimeoutMS: SERVER_SELECTION_TIMEOUT,
  waitQueueTimeoutMS: WAIT_QUEUE_TIMEOUT,
  socketTimeoutMS: SOCKET_TIMEOUT,
  connectTimeoutMS: CONNECT_TIMEOUT,
  heartbeatFrequencyMS: HEARTBEAT_EVERY,
  // `j` is `journal`, and comes before it where the URI has `journal`
  // oxlint-disable-next-line typescript/no-deprecated -- as long as the driver reads it
  writeConcern: { w: 'majority', journal: true, j: true },
  bufferCommands: false,
  // maxPoolSize, from the URI or the driver's 100, bounds concurrent commands per server: waiting here is cheaper than there
};

export interface DeploymentOptions {
  readonly uri: string;
  /** Called with a warning if the server is too old, which is then used; without this such a server is rejected. */
  readonly onOldServer?: ((warning: string) => void) | undefined;
  /** Gets each client before its first command; the client then emits an event for each command. */
  readonly watchClient?: ((client: mongoose.mongo.MongoClient) => void) | undefined;
  /** Cancels connecting; has no effect later. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Connects to the MongoDB deployment that has all data: the control database and those of the organisations.
 * @throws the driver's error if it does not respond within 3 s; OldServerError; StandaloneError
 */
export async function openDeployment({ uri, onOldServer, watchClient, signal }: DeploymentOptions) {
  signal?.throwIfAborted();
  const connection = mongoose.createConnection();
  const clock = createClock();
  const probe = createProbe(uri, (client) => clock.measure(client));
  const pool = createPoolWatch();
  const opening = connection.openUri(uri, watchClient ? { ...OPTIONS, monitorCommands: true } : OPTIONS);
  const client = connection.getClient();
  pool.watch(client);
  watchClient?.(client);
  const cancel = (): void => void client.close();
  signal?.addEventListener('abort', cancel);
  let version: string;
  let isSharded: boolean;
  try {
    await opening;
    const admin = client.db('admin');
    ({ version = 'unknown' } = await admin.command({ buildInfo: 1 }));
    // once a connection is open: the time to open one would count as that of the answer
    const hello = await clock.measure(client);
    isSharded = isMongos(hello);
    if (!isSharded && hello.setName === undefined) throw new StandaloneError();
    const fault = tooOld(version);
    if (fault !== undefined && !onOldServer)
      throw new OldServerError(`${fault} (set ALLOW_OLD_MONGODB=true to use it anyway)`);
    if (fault !== undefined) onOldServer?.(fault);
  } catch (error) {
    await connection.close();
    signal?.throwIfAborted();
    // the driver ignores a standalone if the URI names a replica set
    const isIgnored = isUnavailable(error) && optionOf(uri, 'replicaset') !== undefined;
    const hello = isIgnored ? await plainHello(uri) : undefined;
    if (hello && isStandalone(hello)) throw new StandaloneError();
    throw error;
  } finally {
    signal?.removeEventListener('abort', cancel);
  }

  let streaming: Promise<mongoose.mongo.MongoClient> | undefined;

  return {
    connection,
    client,
    /** The server's version. */
    version,
    /** Whether it is a sharded cluster, through mongos, and not a replica set. */
    isSharded,
    /** The client for change streams, which would keep connections of `client` busy; made at the first call. @throws the driver's error */
    streams: (): Promise<mongoose.mongo.MongoClient> => {
      const { bufferCommands: _, ...options } = OPTIONS;
      const few = {
        ...options,
        maxPoolSize: STREAM_POOL_SIZE,
        // the driver refuses one of the URI that is larger
        minPoolSize: 0,
        socketTimeoutMS: STREAM_TIMEOUT,
      };
      streaming ??= mongoose.mongo.MongoClient.connect(uri, few).catch((error: unknown) => {
        // a client that never connected stays closed
        streaming = undefined;
        throw error;
      });
      return streaming;
    },
    /** @throws AppError unavailable unless mongoose is connected, which sends nothing */
    requireConnected(): void {
      if (connection.readyState !== mongoose.ConnectionStates.connected)
        throw new AppError('unavailable', NOT_RESPONDING, { reason: 'away' });
    },
    /** Whether it responds within 1.5 s, which also measures its clock. Concurrent calls share one result. */
    answers: probe.responds,
    /** Why it did not respond; only to be asked while it does not. */
    failure: probe.failure,
    /** Use of the connections of `client`. */
    pool,
    /** The primary's time, measured by each check of whether it responds. */
    clock,
    async close(): Promise<void> {
      const streams = streaming?.then((open) => open.close()).catch(() => undefined);
      await Promise.all([connection.close(), probe.close(), streams]);
    },
  };
}

/** What callers are told while the database does not respond. */
export const NOT_RESPONDING = 'The database is not responding.';

/** The oldest MongoDB version that supports every command we use as documented (docs/decisions/mongodb-versions.md). */
export const OLDEST_MONGODB = '6.0';

/** The server is neither mongos nor in a replica set (yet), so it has neither transactions nor change streams. */
export class StandaloneError extends Error {
  override readonly name = 'StandaloneError';
  readonly detail: string;
  readonly fix: string;

  constructor() {
    const detail = `the server in ${sourceOf('MONGODB_URI')} is in no replica set (a standalone), so it has neither transactions nor change streams`;
    const fix =
      'run it as a replica set (one member is enough): start mongod with --replSet rs0, then run rs.initiate() in mongosh';
    super(`${detail}: ${fix}`);
    [this.detail, this.fix] = [detail, fix];
  }
}

export class OldServerError extends Error {
  override readonly name = 'OldServerError';
}

/** Why a version is not supported, as a clause; undefined if it is. A text that is no version is not. */
export function tooOld(version: string): string | undefined {
  const [major = NaN, minor = NaN] = version.split('.', 2).map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_MONGODB.split('.').map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `the database runs MongoDB ${version}; ${OLDEST_MONGODB} or later is required`;
}
