import mongoose, { type Connection } from 'mongoose';
import { type Courtesy, createCourtesy } from './courtesy';
import { type OrganisationData, type OrganisationDataCache, organisationDataCache } from './organisationData';
import { type PoolUse, watchPool } from './pools';
import { pulseOf, type Question } from './pulse';
import { OldServerError, tooOld, versionOf } from './version';

// client input never becomes an operator; indexes are made with the organisation, not on each boot
mongoose.set('sanitizeFilter', true);
mongoose.set('strictQuery', 'throw');
mongoose.set('autoIndex', false);
mongoose.set('autoCreate', false);

/*
 * The driver's deadlines, in milliseconds. Its `timeoutMS` has no effect since 7.6, so each stage has its own; a request
 * gives up earlier when the database does not answer (http/patience.ts).
 */
/** How long a command waits for a server that is known to answer, and for a free connection to it. */
const SERVER_SELECTION_TIMEOUT = 3000;
const WAIT_QUEUE_TIMEOUT = 3000;
/** How long one command may take: long enough for a bulk write, or an index of `doctor --fix`. */
const SOCKET_TIMEOUT = 30_000;
/** A server that does not answer the driver's own checks in this time is given up, with every command it holds. */
const CONNECT_TIMEOUT = 5000;
const HEARTBEAT_EVERY = 5000;
/** Commands at once to one server: more wait here, where they cost less than there. */
const POOL_SIZE = 100;

export const DEFAULT_CLUSTER = 'default';

export interface Databases {
  /** Organisations, keys, sessions and the audit log. */
  readonly control: Connection;
  readonly organisationData: OrganisationDataCache;
  /** Names of the clusters that organisations can be placed on. */
  readonly clusters: readonly string[];
  /** The version of each cluster's server when it was connected, by the cluster's name. */
  readonly versions: ReadonlyMap<string, string>;
  /**
   * Whether a cluster (the control database's when left out) answers within 1.5 s. Who asks while another is asking
   * gets the same answer.
   */
  readonly answers: (cluster?: string) => Promise<boolean>;
  /** Whether the control database finds keys within 1.5 s: it may be slow to, and still there for those who wait. */
  readonly findsKeys: () => Promise<boolean>;
  /** @throws when the control database does not answer. */
  ping(): Promise<void>;
  /** Use of each cluster's connections at this moment. */
  readonly pools: () => PoolUse[];
  /** Whom heavy work of one organisation gives way to. */
  readonly giveWayTo: Courtesy['giveWayTo'];
  /** When the connections to a cluster (the control database's when left out) were last lost, by performance.now(). */
  readonly lostAt: (cluster?: string) => number;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly uri: string;
  readonly controlDatabase: string;
  /** Further clusters by name. */
  readonly clusters: Readonly<Record<string, string>>;
  /** Collections that every organisation has. */
  readonly collections: OrganisationData['collections'];
  /** Told of a server that is too old, in one sentence, where that is allowed; it is refused where this is left out. */
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
    if (!connection) throw new Error(`cluster ${name} is not configured; name it in MONGODB_CLUSTERS`);
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
      if (!(await answers())) throw new Error('the database does not answer');
    },
    pools: () => [...pools.values()].map((pool) => pool.use()),
    lostAt: (cluster = DEFAULT_CLUSTER) => pools.get(cluster)?.lostAt() ?? -Infinity,
    close,
  };
}

function checkVersions(versions: ReadonlyMap<string, string>, onOldServer: DatabaseOptions['onOldServer']): void {
  const faults = [...versions].flatMap(([cluster, version]) => tooOld(cluster, version) ?? []);
  if (!onOldServer && faults.length > 0)
    throw new OldServerError(`${faults.join('; ')} (ALLOW_OLD_MONGODB=true takes it all the same)`);
  for (const fault of faults) onOldServer?.(fault);
}

const ping: Question = (client) => client.db('admin').command({ ping: 1 });

/** What every request begins with: a server may answer pings that finds no key, without a primary or with its storage gone. */
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
