import mongoose, { type Connection } from 'mongoose';
import { AppError } from '../errors';
import { type ClusterClock, createClock, setClock } from './clock';
import { type PoolWatch, watchPool } from './pools';
import { pulseOf } from './pulse';
import { OldServerError, tooOld, versionOf } from './version';

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
/** Connections for change streams, each of which keeps one busy: those of the tail and of waiting requests, and their rows. */
const STREAM_POOL_SIZE = 4;

const OPTIONS: mongoose.ConnectOptions = {
  serverSelectionTimeoutMS: SERVER_SELECTION_TIMEOUT,
  waitQueueTimeoutMS: WAIT_QUEUE_TIMEOUT,
  socketTimeoutMS: SOCKET_TIMEOUT,
  connectTimeoutMS: CONNECT_TIMEOUT,
  heartbeatFrequencyMS: HEARTBEAT_EVERY,
  writeConcern: { w: 'majority', journal: true },
  bufferCommands: false,
  // maxPoolSize is the URI's or the driver's 100: concurrent commands per server; the rest wait here, where they cost less than there
};

/** A MongoDB cluster, connected when it is first needed (docs/decisions/clusters.md). */
export interface Cluster {
  readonly name: string;
  /** The server's version; undefined before it was reached. */
  readonly version: () => string | undefined;
  /**
   * Connects, unless it did before; concurrent calls share one attempt of up to 3 s.
   * @throws the driver's error if it does not respond; OldServerError
   */
  reach(): Promise<Connection>;
  /** Its connection. @throws AppError unavailable unless it is connected */
  connection(): Connection;
  /** A client for change streams, which wait most of the time. @throws as `reach` does */
  streams(): Promise<mongoose.mongo.MongoClient>;
  /** Whether it responds within 1.5 s, or 3 s if it was never reached. Concurrent calls share one result. */
  answers(): Promise<boolean>;
  readonly pool: PoolWatch;
  /** Its primary's time, measured whenever it is asked whether it responds. */
  readonly clock: ClusterClock;
  close(): Promise<void>;
}

export interface ClusterOptions {
  readonly name: string;
  readonly uri: string;
  /** Called with a warning if the server is too old; without this such a server is rejected. */
  readonly onOldServer?: ((warning: string) => void) | undefined;
  /** Gets each client before its first command; commands are monitored for it. */
  readonly watchClient?: ((client: mongoose.mongo.MongoClient, cluster: string) => void) | undefined;
}

export function createCluster({ name, uri, onOldServer, watchClient }: ClusterOptions): Cluster {
  const connection = mongoose.createConnection();
  const clock = createClock();
  const pulse = pulseOf(uri, (client) => clock.measure(client));
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
      setClock(connection.getClient(), clock);
      const [found] = await Promise.all([versionOf(connection), clock.measure(connection.getClient())]);
      const fault = tooOld(name, found);
      if (fault !== undefined && !onOldServer)
        throw new OldServerError(`${fault} (set ALLOW_OLD_MONGODB=true to use it anyway)`);
      if (fault !== undefined) onOldServer?.(fault);
      version = found;
      return connection;
    } catch (error) {
      // open, the next attempt would get this client and watch it once more
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
    version: () => version,
    reach,
    async streams() {
      await reach();
      const { bufferCommands: _, ...options } = OPTIONS;
      streaming ??= mongoose.mongo.MongoClient.connect(uri, { ...options, maxPoolSize: STREAM_POOL_SIZE }).catch(
        (error: unknown) => {
          // a client that never connected stays closed
          streaming = undefined;
          throw error;
        },
      );
      return streaming;
    },
    connection() {
      if (version !== undefined && connection.readyState === mongoose.ConnectionStates.connected) return connection;
      throw new AppError('unavailable', AWAY, { reason: 'away', cluster: name });
    },
    answers: () =>
      version === undefined
        ? reach().then(
            () => true,
            () => false,
          )
        : pulse.isBeating(),
    pool,
    clock,
    close: async () => {
      const streams = streaming?.then((client) => client.close()).catch(() => undefined);
      await Promise.all([connection.close(), pulse.close(), streams]);
    },
  };
}

/** What callers are told while a cluster does not respond. */
export const AWAY = 'The database is not responding.';
