import mongoose, { type Connection } from 'mongoose';
import { AppError } from '../errors';
import { type Cluster, type ClusterOptions, createCluster, OldServerError } from './cluster';
import { createCourtesy } from './courtesy';
import { isDuplicateKey, isUnauthorised } from './faults';
import { createGate } from './gate';
import type { Upkeep } from './keeper';
import {
  type OpenCluster,
  type OrganisationData,
  type OrganisationDataCache,
  organisationDataCache,
  organisationOf,
} from './organisationData';
import { createQuota } from './quota';
import { createProbe } from './probe';
import { transactOn } from './transact';

// client input never becomes an operator; collections and indexes are created by indexes.ts alone
mongoose.set('sanitizeFilter', true);
mongoose.set('strictQuery', 'throw');
mongoose.set('autoIndex', false);
mongoose.set('autoCreate', false);

export const DEFAULT_CLUSTER = 'default';

export type Databases = Awaited<ReturnType<typeof connectDatabases>>;

export interface DatabaseOptions {
  readonly uri: string;
  readonly controlDatabase: string;
  readonly clusters: Readonly<Record<string, string>>;
  readonly collections: OrganisationData['collections'];
  /** Called with a warning for each server that is too old; without this such a server is rejected. */
  readonly onOldServer?: (warning: string) => void;
  /** Gets each cluster's clients, to watch their commands. */
  readonly watchClient?: ClusterOptions['watchClient'];
}

/** Connects to the control database; other clusters are connected when needed. @throws OldServerError */
export async function connectDatabases(options: DatabaseOptions) {
  const { onOldServer, watchClient } = options;
  const clusters = new Map(
    Object.entries({ [DEFAULT_CLUSTER]: options.uri, ...options.clusters }).map(
      ([name, uri]) => [name, createCluster({ name, uri, onOldServer, watchClient })] as const,
    ),
  );
  // the first query of every request: without a primary or storage, a server may answer pings but not this
  const keys = createProbe(options.uri, (client) =>
    client.db(options.controlDatabase).collection<{ _id: string }>('api_keys').findOne({ _id: '' }),
  );
  const close = async (): Promise<void> => {
    await Promise.all([...clusters.values(), keys].map((one) => one.close()));
  };
  const clusterOf = (name: string): Cluster => {
    const cluster = clusters.get(name);
    if (!cluster) throw new Error(`cluster ${name} is not configured; add it to MONGODB_CLUSTERS`);
    return cluster;
  };
  const reach = async (name: string): Promise<Connection> => {
    try {
      return await clusterOf(name).reach();
    } catch (error) {
      if (name === DEFAULT_CLUSTER || !clusters.has(name) || error instanceof OldServerError) throw error;
      throw new Error(`cluster ${name} is not responding (${(error as Error).message}); see MONGODB_CLUSTERS`, {
        cause: error,
      });
    }
  };
  const adminOf = async (name: string): Promise<mongoose.mongo.Db> => (await reach(name)).getClient().db('admin');
  const main = await reach(DEFAULT_CLUSTER).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const courtesy = createCourtesy();
  const control = main.useDb(options.controlDatabase);
  const open = (name: string): OpenCluster => {
    const cluster = clusterOf(name);
    const client = cluster.connection().getClient();
    return { client, transact: transactOn(client), now: cluster.clock.now };
  };
  const upkeep: Upkeep = {
    // nothing may be created before the control data is open
    standingOf: () => Promise.resolve('closed'),
    noteFiles: () => Promise.resolve(),
    looks: undefined,
    quota: undefined,
    onFailure: () => undefined,
  };
  const organisationData = organisationDataCache(open, options.collections, courtesy, upkeep);
  return {
    /** Organisations, keys, sessions and the audit log. */
    control,
    /** Runs a change of the control data as one transaction. */
    changeControl: transactOn(main.getClient()),
    /** Opens an organisation's data. @throws AppError unavailable unless its cluster is connected */
    organisationData,
    /** The same, but connects to its cluster first. @throws if that does not respond, naming the cluster */
    async open(organisation: Parameters<OrganisationDataCache>[0]): Promise<OrganisationData> {
      await reach(organisation.cluster);
      return organisationData(organisation);
    },
    clusters: [...clusters.keys()],
    /** Those that did not respond when a gateway last checked them (availability.ts); empty in other commands. */
    away: new Set<string>(),
    /** Sets what decides whether an organisation's collections may be created, and what records their files. */
    openedBy({ standingOf, noteFiles }: Pick<Upkeep, 'standingOf' | 'noteFiles'>): void {
      Object.assign(upkeep, { standingOf, noteFiles });
    },
    /** Adds missing indexes to collections that have grown or that another program created, when they are used, one at a time. */
    tend(onFailure: Upkeep['onFailure']): void {
      upkeep.looks = createGate(1);
      upkeep.onFailure = onFailure;
    },
    /** Limits the bytes that each organisation may store; undefined for no limit. */
    limitBytes(most: number | undefined): void {
      upkeep.quota = most === undefined ? undefined : createQuota(most);
    },
    /** Sizes of the organisations that wrote here; zeros without a limit. */
    quotas: () => upkeep.quota?.state() ?? { largest: 0, full: 0 },
    /** The organisations that have a database on a cluster; one command. @throws if it does not respond, naming it */
    async organisationsOn(name: string): Promise<string[]> {
      const { databases } = await (await adminOf(name)).admin().listDatabases({ nameOnly: true });
      return databases.flatMap((database) => organisationOf(database.name) ?? []);
    },
    /** Connects to a cluster. @throws if it does not respond, naming it; OldServerError */
    reach: async (name: string): Promise<void> => {
      await reach(name);
    },
    /** A client of a cluster for change streams. @throws if it does not respond, naming it; OldServerError */
    streams: async (name: string): Promise<mongoose.mongo.MongoClient> => {
      await reach(name);
      return clusterOf(name).streams();
    },
    /** The time of a cluster, in milliseconds since 1970. */
    timeOf: (name: string): number => clusterOf(name).clock.now(),
    /** A primary's `hello`. @throws if the cluster does not respond, naming it */
    hello: async (name: string): Promise<{ setName?: unknown; isWritablePrimary?: unknown }> =>
      (await adminOf(name)).command({ hello: 1 }),
    /** The server version of each cluster that is connected, by cluster name. */
    versions: (): Map<string, string> =>
      new Map(
        [...clusters].flatMap(([name, { version }]) => (version() === undefined ? [] : [[name, version() ?? '']])),
      ),
    /** How long a cluster keeps the transaction of a dead process, in seconds; undefined if it does not say. */
    async transactionLimit(name: string): Promise<number | undefined> {
      try {
        const question = { getParameter: 1, transactionLifetimeLimitSeconds: 1 };
        const admin = clusterOf(name).connection().getClient().db('admin');
        const { transactionLifetimeLimitSeconds: seconds } = await admin.command(question);
        return typeof seconds === 'number' ? seconds : undefined;
      } catch {
        // the cluster is away, the user lacks the privilege getParameter, or the server has no such parameter
        return undefined;
      }
    },
    /** Whether a cluster responds within 1.5 s, or 3 s if it was never connected. Concurrent calls share one result. */
    answers: async (name: string): Promise<boolean> => (await clusters.get(name)?.answers()) ?? false,
    /** Writes to a cluster the way requests do. @throws the reason if the cluster refuses writes */
    tryWriting: async (name: string): Promise<void> => {
      try {
        const database = clusterOf(name).connection().getClient().db(options.controlDatabase);
        const change = { $currentDate: { at: true } } as const;
        await database.collection<{ _id: string }>(HEARTBEATS).updateOne({ _id: 'writes' }, change, { upsert: true });
      } catch (error) {
        // no connection, no privilege, or another gateway was first: none of these is about writes
        const isOurs = error instanceof AppError || (error as Error).name === 'MongoWaitQueueTimeoutError';
        if (!isOurs && !isUnauthorised(error) && !isDuplicateKey(error)) throw error;
      }
    },
    /** Whether the control database can read keys within 1.5 s; if not, it may just be slow. */
    findsKeys: keys.responds,
    /** The time of the control database, in milliseconds since 1970, by which keys and sessions expire. */
    now: (): number => clusterOf(DEFAULT_CLUSTER).clock.now(),
    /** The clocks of the clusters that were reached, compared with this machine's. */
    clocks: () => [...clusters].flatMap(([cluster, { clock }]) => clock.compared().map((one) => ({ cluster, ...one }))),
    /** Current use of each cluster's connections. */
    pools: () => [...clusters.values()].map(({ pool }) => pool.use()),
    /** Sets how heavy work detects requests of other organisations, to yield to them. */
    giveWayTo: courtesy.giveWayTo,
    /** When the connections to a cluster were last lost, by performance.now(). */
    lostAt: (name: string): number => clusters.get(name)?.pool.lostAt() ?? -Infinity,
    close,
  };
}

/** The collection in which gateways test writes; on each cluster it is in a database named like the control database. */
const HEARTBEATS = 'heartbeats';
