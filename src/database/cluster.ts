import mongoose, { type Connection } from 'mongoose';
import { AppError } from '../errors';
import { createClock } from './clock';
import { watchPool } from './pools';
import { createProbe } from './probe';

/*
 * The driver's timeouts, in milliseconds. Its `timeoutMS` has no effect since 7.6, so each stage has its own; a request
 * fails earlier if the database does not respond (admission/requestTracker.ts).
 */
/** How long a command waits for an available server, and for a free connection to it. */
const SERVER_SELECTION_TIMEOUT = 3000;
const WAIT_QUEUE_TIMEOUT = 3000;
/** How long one command may take; enough for a bulk write or an index build of `doctor --fix`. */
const SOCKET_TIMEOUT = 30_000;
/** If a server does not respond to the driver's own checks within this time, all its commands fail. */
const CONNECT_TIMEOUT = 5000;
const HEARTBEAT_EVERY = 5000;
/** Connections for the change streams of the tail and of waiting requests, each of which keeps one busy, and for reading their rows. */
const STREAM_POOL_SIZE = 4;

const OPTIONS: mongoose.ConnectOptions = {
  serverSelectionTimeoutMS: SERVER_SELECTION_TIMEOUT,
  waitQueueTimeoutMS: WAIT_QUEUE_TIMEOUT,
  socketTimeoutMS: SOCKET_TIMEOUT,
  connectTimeoutMS: CONNECT_TIMEOUT,
  heartbeatFrequencyMS: HEARTBEAT_EVERY,
  writeConcern: { w: 'majority', journal: true },
  bufferCommands: false,
  // maxPoolSize, from the URI or the driver's 100, bounds concurrent commands per server: waiting here is cheaper than there
};

export interface ClusterOptions {
  readonly name: string;
  readonly uri: string;
  /** Called with a warning if the server is too old; without this such a server is rejected. */
  readonly onOldServer?: ((warning: string) => void) | undefined;
  /** Gets each client before its first command; the client then emits an event for each command. */
  readonly watchClient?: ((client: mongoose.mongo.MongoClient, cluster: string) => void) | undefined;
}

export type Cluster = ReturnType<typeof createCluster>;

/** A MongoDB cluster, connected when it is first needed (docs/decisions/clusters.md). */
export function createCluster({ name, uri, onOldServer, watchClient }: ClusterOptions) {
  const connection = mongoose.createConnection();
  const clock = createClock();
  const probe = createProbe(uri, (client) => clock.measure(client));
  const pool = watchPool(name);
  let version: string | undefined;
  let reaching: Promise<Connection> | undefined;

  async function connect(): Promise<Connection> {
    const opening = connection.openUri(uri, watchClient ? { ...OPTIONS, monitorCommands: true } : OPTIONS);
    // each attempt has a client of its own
    pool.watch(connection.getClient());
    watchClient?.(connection.getClient(), name);
    await opening;
    try {
      const admin = connection.getClient().db('admin');
      const [{ version: found = 'unknown' }] = await Promise.all([
        admin.command({ buildInfo: 1 }) as Promise<{ version?: string }>,
        clock.measure(connection.getClient()),
      ]);
      const fault = tooOld(name, found);
      if (fault !== undefined && !onOldServer)
        throw new OldServerError(`${fault} (set ALLOW_OLD_MONGODB=true to use it anyway)`);
      if (fault !== undefined) onOldServer?.(fault);
      version = found;
      return connection;
    } catch (error) {
      // if the connection stayed open, the next attempt would watch it again
      await connection.close();
      throw error;
    }
  }

  async function reach(): Promise<Connection> {
    reaching ??= connect().catch((error: unknown) => {
      reaching = undefined;
      throw error;
    });
    return reaching;
  }

  let streaming: Promise<mongoose.mongo.MongoClient> | undefined;

  return {
    name,
    /** The server's version; undefined until the server has been reached. */
    version: (): string | undefined => version,
    /**
     * Connects on the first call; concurrent calls share one attempt of up to 3 s.
     * @throws the driver's error if the cluster does not respond; OldServerError
     */
    reach,
    /** A client for change streams, which wait most of the time. @throws as `reach` does */
    async streams(): Promise<mongoose.mongo.MongoClient> {
      await reach();
      const { bufferCommands: _, ...options } = OPTIONS;
      const few = { ...options, maxPoolSize: STREAM_POOL_SIZE };
      streaming ??= mongoose.mongo.MongoClient.connect(uri, few).catch((error: unknown) => {
        // a client that never connected stays closed
        streaming = undefined;
        throw error;
      });
      return streaming;
    },
    /** Its connection. @throws AppError unavailable unless it is connected */
    connection(): Connection {
      if (version !== undefined && connection.readyState === mongoose.ConnectionStates.connected) return connection;
      throw new AppError('unavailable', AWAY, { reason: 'away', cluster: name });
    },
    /** Whether it responds within 1.5 s, or 3 s if it has never been reached. Concurrent calls share one result. */
    async answers(): Promise<boolean> {
      if (version !== undefined) return probe.responds();
      return reach().then(
        () => true,
        () => false,
      );
    },
    pool,
    /** The primary's time, measured by each check of whether it responds. */
    clock,
    async close(): Promise<void> {
      const streams = streaming?.then((client) => client.close()).catch(() => undefined);
      await Promise.all([connection.close(), probe.close(), streams]);
    },
  };
}

/** What callers are told while a cluster does not respond. */
export const AWAY = 'The database is not responding.';

/** The oldest MongoDB version that supports every command we use as documented (docs/decisions/mongodb-versions.md). */
export const OLDEST_MONGODB = '6.0';

export class OldServerError extends Error {
  override readonly name = 'OldServerError';
}

/** Why a cluster's version is not supported; undefined if it is. */
export function tooOld(cluster: string, version: string): string | undefined {
  const [major = NaN, minor = NaN] = version.split('.', 2).map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_MONGODB.split('.').map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `cluster ${cluster} runs MongoDB ${version}; ${OLDEST_MONGODB} or later is required`;
}
