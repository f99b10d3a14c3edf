import mongoose, { type Connection } from 'mongoose';
import { createCourtesy } from './courtesy';
import { type OrganisationData, organisationDataCache } from './organisationData';
import { type PoolUse, watchPool } from './pools';
import { pulseOf, type Question } from './pulse';
import { OldServerError, tooOld, versionOf } from './version';

// client input never becomes an operator; indexes are created with the organisation, not at every start
mongoose.set('sanitizeFilter', true);
mongoose.set('strictQuery', 'throw');
mongoose.set('autoIndex', false);
mongoose.set('autoCreate', false);

/*
 * The driver's timeouts, in milliseconds. Its `timeoutMS` has no effect since 7.6, so each stage has its own; a request
 * fails earlier if the database does not respond (http/patience.ts).
 */
/** How long a command waits for an available server, and for a free connection to it. */
const SERVER_SELECTION_TIMEOUT = 3000;
const WAIT_QUEUE_TIMEOUT = 3000;
/** How long one command may take; enough for a bulk write or an index build of `doctor --fix`. */
const SOCKET_TIMEOUT = 30_000;
/** If a server does not respond to the driver's own checks within this time, all its commands fail. */
const CONNECT_TIMEOUT = 5000;
const HEARTBEAT_EVERY = 5000;
/** Concurrent commands per server; the rest wait here, where they cost less than on the server. */
const POOL_SIZE = 100;

const DEFAULT_CLUSTER = 'default';

export type Databases = Awaited<ReturnType<typeof connectDatabases>>;

export interface DatabaseOptions {
  readonly uri: string;
  readonly controlDatabase: string;
  /** Additional clusters by name. */
  readonly clusters: Readonly<Record<string, string>>;
  /** The collections of every organisation. */
  readonly collections: OrganisationData['collections'];
  /** Called with a warning for each server that is too old; without this such a server is rejected. */
  readonly onOldServer?: (warning: string) => void;
}

/** Connects to the control database and every cluster. @throws OldServerError */
export async function connectDatabases(options: DatabaseOptions) {
  const uris = [[DEFAULT_CLUSTER, options.uri] as const, ...Object.entries(options.clusters)];
  const clusters = new Map(uris.map(([name, uri]) => [name, openCluster(name, uri)]));
  const keys = pulseOf(options.uri, keyLookup(options.controlDatabase));
  const courtesy = createCourtesy();
  const versions = new Map<string, string>();

  async function close(): Promise<void> {
    const open = [...clusters.values()].flatMap(({ connection, pulse }) => [connection, pulse]);
    await Promise.all([...open, keys].map((one) => one.close()));
  }

  function connectionOf(name: string): Connection {
    const cluster = clusters.get(name);
    if (!cluster) throw new Error(`cluster ${name} is not configured; add it to MONGODB_CLUSTERS`);
    return cluster.connection;
  }

  async function answers(cluster = DEFAULT_CLUSTER): Promise<boolean> {
    return (await clusters.get(cluster)?.pulse.isBeating()) ?? false;
  }

  try {
    await Promise.all(
      [...clusters].map(async ([name, { connection }]) => {
        await connection.asPromise();
        versions.set(name, await versionOf(connection));
      }),
    );
    checkVersions(versions, options.onOldServer);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    /** Organisations, keys, sessions and the audit log. */
    control: connectionOf(DEFAULT_CLUSTER).useDb(options.controlDatabase),
    organisationData: organisationDataCache(connectionOf, options.collections, courtesy),
    /** Names of the clusters. */
    clusters: [...clusters.keys()],
    /** The server version of each cluster at the time it was connected, by cluster name. */
    versions,
    /**
     * Whether a cluster (default: that of the control database) responds within 1.5 s. Concurrent calls share one result.
     */
    answers,
    /** Whether the control database can read keys within 1.5 s; if not, it may just be slow. */
    findsKeys: keys.isBeating,
    /** @throws if the control database does not respond. */
    async ping(): Promise<void> {
      if (!(await answers())) throw new Error('the database is not responding');
    },
    /** Current use of each cluster's connections. */
    pools: (): PoolUse[] => [...clusters.values()].map(({ pool }) => pool.use()),
    /** Sets how heavy work detects requests of other organisations, to yield to them. */
    giveWayTo: courtesy.giveWayTo,
    /** When the connections to a cluster (default: that of the control database) were last lost, by performance.now(). */
    lostAt: (cluster = DEFAULT_CLUSTER): number => clusters.get(cluster)?.pool.lostAt() ?? -Infinity,
    close,
  };
}

function openCluster(name: string, uri: string) {
  const connection = connect(uri);
  return { connection, pool: watchPool(name, connection), pulse: pulseOf(uri, ping) };
}

function checkVersions(versions: ReadonlyMap<string, string>, onOldServer: DatabaseOptions['onOldServer']): void {
  const faults = [...versions].flatMap(([cluster, version]) => tooOld(cluster, version) ?? []);
  if (!onOldServer && faults.length > 0)
    throw new OldServerError(`${faults.join('; ')} (set ALLOW_OLD_MONGODB=true to use it anyway)`);
  for (const fault of faults) onOldServer?.(fault);
}

const ping: Question = (client) => client.db('admin').command({ ping: 1 });

/** The first query of every request: without a primary or storage, a server may answer pings but not this. */
function keyLookup(controlDatabase: string): Question {
  return (client) =>
    client
      .db(controlDatabase)
      .collection('api_keys')
      .findOne({ _id: '' as never });
}

function connect(uri: string): Connection {
  return mongoose.createConnection(uri, {
    serverSelectionTimeoutMS: SERVER_SELECTION_TIMEOUT,
    waitQueueTimeoutMS: WAIT_QUEUE_TIMEOUT,
    socketTimeoutMS: SOCKET_TIMEOUT,
    connectTimeoutMS: CONNECT_TIMEOUT,
    heartbeatFrequencyMS: HEARTBEAT_EVERY,
    maxPoolSize: POOL_SIZE,
    writeConcern: { w: 'majority', journal: true },
    bufferCommands: false,
  });
}
