import mongoose, { type Connection } from 'mongoose';
import { type Courtesy, createCourtesy } from './courtesy';
import { type OrganisationData, type OrganisationDataCache, organisationDataCache } from './organisationData';
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

export const DEFAULT_CLUSTER = 'default';

export interface Databases {
  /** Organisations, keys, sessions and the audit log. */
  readonly control: Connection;
  readonly organisationData: OrganisationDataCache;
  /** Names of the clusters. */
  readonly clusters: readonly string[];
  /** The server version of each cluster at the time it was connected, by cluster name. */
  readonly versions: ReadonlyMap<string, string>;
  /**
   * Whether a cluster (default: that of the control database) responds within 1.5 s. Concurrent calls share one result.
   */
  readonly answers: (cluster?: string) => Promise<boolean>;
  /** Whether the control database can read keys within 1.5 s; if not, it may just be slow. */
  readonly findsKeys: () => Promise<boolean>;
  /** @throws if the control database does not respond. */
  ping(): Promise<void>;
  /** Current use of each cluster's connections. */
  readonly pools: () => PoolUse[];
  /** Sets how heavy work detects requests of other organisations, to yield to them. */
  readonly giveWayTo: Courtesy['giveWayTo'];
  /** When the connections to a cluster (default: that of the control database) were last lost, by performance.now(). */
  readonly lostAt: (cluster?: string) => number;
  close(): Promise<void>;
}

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
export async function connectDatabases(options: DatabaseOptions): Promise<Databases> {
  const main = connect(options.uri);
  const connections = new Map([[DEFAULT_CLUSTER, main]]);
  for (const [name, uri] of Object.entries(options.clusters)) connections.set(name, connect(uri));
  const versions = new Map<string, string>();
  const pools = new Map([...connections].map(([name, connection]) => [name, watchPool(name, connection)]));
  const pulses = new Map(Object.entries(options.clusters).map(([name, uri]) => [name, pulseOf(uri, ping)]));
  pulses.set(DEFAULT_CLUSTER, pulseOf(options.uri, ping));
  const keys = pulseOf(options.uri, keyLookup(options.controlDatabase));
  const close = async (): Promise<void> => {
    await Promise.all([...connections.values(), ...pulses.values(), keys].map((one) => one.close()));
  };
  try {
    await Promise.all(
      [...connections].map(async ([name, connection]) => {
        await connection.asPromise();
        versions.set(name, await versionOf(connection));
      }),
    );
    checkVersions(versions, options.onOldServer);
  } catch (error) {
    await close();
    throw error;
  }
  const control = main.useDb(options.controlDatabase);
  const courtesy = createCourtesy();
  const clusterOf = (name: string): Connection => {
    const connection = connections.get(name);
    if (!connection) throw new Error(`cluster ${name} is not configured; add it to MONGODB_CLUSTERS`);
    return connection;
  };
  const answers: Databases['answers'] = async (cluster = DEFAULT_CLUSTER) =>
    (await pulses.get(cluster)?.isBeating()) ?? false;
  return {
    control,
    clusters: [...connections.keys()],
    versions,
    organisationData: organisationDataCache(clusterOf, options.collections, courtesy),
    giveWayTo: courtesy.giveWayTo,
    answers,
    findsKeys: () => keys.isBeating(),
    ping: async () => {
      if (!(await answers())) throw new Error('the database is not responding');
    },
    pools: () => [...pools.values()].map((pool) => pool.use()),
    lostAt: (cluster = DEFAULT_CLUSTER) => pools.get(cluster)?.lostAt() ?? -Infinity,
    close,
  };
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
