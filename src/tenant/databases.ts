import mongoose from 'mongoose';
import { AppError } from '../errors';
import type { Hello } from '../mongo/clock';
import { type DeploymentOptions, openDeployment, STREAM_POOL_SIZE } from '../mongo/deployment';
import { createYield, pausesOf } from '../async/yield';
import { isDuplicateKey, isUnauthorised } from '../mongo/faults';
import { createSemaphore } from '../async/semaphore';
import type { TenantContext } from './tenantContext';
import type { OpenDeployment, OrganisationData } from './organisationData';
import { organisationDataCache } from './organisationDataCache';
import { organisationOf } from '../mongo/databaseNames';
import { createQuota, type QuotaOptions, type QuotaState } from './quota';
import { createShardHealth, type ShardHealthOptions } from '../mongo/shardHealth';
import { createShards } from '../mongo/shards';
import { createAsker, createProbe } from '../mongo/probe';
import { transactOn, transactWith } from '../mongo/transact';
import type { Validation } from '../mongo/validators';

// for the control data, which alone use mongoose's models: client input never becomes an operator, and only mongo/indexes.ts creates collections and indexes
mongoose.set('sanitizeFilter', true);
mongoose.set('strictQuery', 'throw');
mongoose.set('runValidators', true);
mongoose.set('autoIndex', false);
mongoose.set('autoCreate', false);

export type Databases = Awaited<ReturnType<typeof connectDatabases>>;

export interface DatabaseOptions extends DeploymentOptions {
  readonly controlDatabase: string;
  readonly collections: OrganisationData['collections'];
  /** Whether the server is SecantusDB, which leaves the rows of open transactions out of a new index: so its collections get every index from the start. */
  readonly isStandIn?: boolean;
  /** What MongoDB does with rows that cannot be served; refuses them by default. */
  readonly validation?: Validation;
}

/** What needs the control data, and so is given once they are open. */
type OpenedBy = Pick<TenantContext, 'writeStateOf'> & Partial<Pick<TenantContext, 'noteFollowed'>>;

/** Shards that are asked at a time whether they respond. */
const SHARDS_AT_ONCE = 8;
/** Connections to each host beside the pool for commands: of change streams, of two probes (`answers`, `findsKeys`), and to ask shards. */
export const BESIDE_POOL = STREAM_POOL_SIZE + 2 + SHARDS_AT_ONCE;
/** The driver watches each host by two connections for each client: commands, change streams, two probes, and what asks shards. */
export const WATCHING = 2 * 5;

/** Connects to the database. @throws OldServerError; StandaloneError */
export async function connectDatabases(options: DatabaseOptions) {
  const deployment = await openDeployment(options);
  const { connection, client, clock, pool } = deployment;
  // the first query of every request: without a primary or storage, a server may answer pings but not this
  const keys = createProbe(options.uri, (client) =>
    client.db(options.controlDatabase).collection<{ _id: string }>('api_keys').findOne({ _id: '' }),
  );
  const admin = client.db('admin');
  const yielding = createYield();
  const control = connection.useDb(options.controlDatabase);
  const transact = transactOn(client);
  const open = (): OpenDeployment => {
    deployment.requireConnected();
    return { client, transact, now: clock.now, isSharded: deployment.isSharded };
  };
  const shards = deployment.isSharded ? createShards(client) : undefined;
  const downShards = new Set<string>();
  // a client of its own, so that questions to a shard that is down hold up no other commands
  const asker = createAsker(options.uri, SHARDS_AT_ONCE);
  const context: TenantContext = {
    // nothing may be created before the control data is open
    writeStateOf: () => Promise.resolve('closed'),
    noteFollowed: () => Promise.resolve(),
    checks: undefined,
    grows: options.isStandIn !== true,
    validation: options.validation ?? 'error',
    quota: undefined,
    onFailure: () => undefined,
    onWidened: () => undefined,
  };
  return {
    /** Organisations, keys, sessions and the audit log. */
    control,
    /** Runs a change of the control data as one transaction. */
    changeControl: transactWith(control),
    /** Opens an organisation's data. @throws AppError unavailable unless they are in memory, or the database is connected */
    organisationData: organisationDataCache(open, options.collections, yielding, context),
    /** Sets what decides whether an organisation's collections may be created, and what records that its changes are read. */
    openedBy({ writeStateOf, noteFollowed = context.noteFollowed }: OpenedBy): void {
      Object.assign(context, { writeStateOf, noteFollowed });
    },
    /** Adds missing indexes to collections that have grown or that another program created, when they are used, one at a time. */
    maintainIndexes(reports: Pick<TenantContext, 'onFailure' | 'onWidened'>): void {
      Object.assign(context, reports, { checks: createSemaphore(1) });
    },
    /** Begins to limit the bytes that each organisation may store, by its plan. */
    limitBytes(options: QuotaOptions): void {
      context.quota = createQuota(options);
    },
    /** Sizes of the organisations that wrote by this process and have a limit; all 0 if nothing limits them. */
    quotas: (): QuotaState => context.quota?.state() ?? { largest: 0, fullest: 0, full: 0 },
    /** The organisations that have a database; one command. @throws the driver's error */
    async organisationsWithData(): Promise<string[]> {
      const { databases } = await admin.admin().listDatabases({ nameOnly: true });
      return databases.flatMap((database) => organisationOf(database.name) ?? []);
    },
    /** A client for change streams. @throws the driver's error */
    streams: deployment.streams,
    /** A primary's or mongos's `hello`. @throws the driver's error */
    hello: (): Promise<Hello> => clock.measure(client),
    /** The shards of a sharded cluster; undefined for a replica set. */
    shards,
    /** The shard of each of these organisations' databases, by id; empty for a replica set, and if this user may not read which they are. */
    shardsOf: async (ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
      try {
        return (await shards?.of(ids)) ?? new Map<string, string>();
      } catch (error) {
        if (isUnauthorised(error)) return new Map<string, string>();
        throw error;
      }
    },
    /** Watches which shards respond; undefined for a replica set. */
    watchShards: ({ onChange, ...reports }: Pick<ShardHealthOptions, 'onChange' | 'onWrites' | 'onError'>) =>
      shards &&
      createShardHealth({
        ...reports,
        control: options.controlDatabase,
        client,
        shards,
        answers: (question) => asker.answers(question),
        onChange: (shard, isDown) => {
          if (isDown) downShards.add(shard);
          else downShards.delete(shard);
          onChange(shard, isDown);
        },
      }),
    /** Whether a shard did not respond when a gateway last checked it; false in other commands. */
    isShardDown: (shard: string): boolean => downShards.has(shard),
    version: deployment.version,
    /** How long the database keeps the transaction of a dead process, in seconds; undefined if it does not say. */
    async transactionLimit(): Promise<number | undefined> {
      try {
        const question = { getParameter: 1, transactionLifetimeLimitSeconds: 1 };
        const { transactionLifetimeLimitSeconds: seconds } = await admin.command(question);
        return typeof seconds === 'number' ? seconds : undefined;
      } catch {
        // the database is away, the user lacks the privilege getParameter, or the server has no such parameter
        return undefined;
      }
    },
    /** Whether the database responds within 1.5 s. Concurrent calls share one result. */
    answers: deployment.answers,
    /** Why it did not respond when `answers` last asked. */
    failure: deployment.failure,
    /** Writes the way requests do. @throws the reason if the database refuses writes */
    tryWriting: async (): Promise<void> => {
      try {
        deployment.requireConnected();
        const change = { $currentDate: { at: true } } as const;
        await client
          .db(options.controlDatabase)
          .collection<Heartbeat>(HEARTBEATS)
          .updateOne({ _id: 'writes' }, change, { upsert: true });
      } catch (error) {
        // no connection, no privilege, or another gateway inserted the row first: none of these means that the database refuses writes
        const isOwnError = error instanceof AppError || (error as Error).name === 'MongoWaitQueueTimeoutError';
        if (!isOwnError && !isUnauthorised(error) && !isDuplicateKey(error)) throw error;
      }
    },
    /** When a gateway that runs last tested a write, which each does every 10 s; undefined if none ever did. */
    async gatewaySeenAt(): Promise<Date | undefined> {
      const row = await client.db(options.controlDatabase).collection<Heartbeat>(HEARTBEATS).findOne({ _id: 'writes' });
      return row?.at;
    },
    /** Whether the control database can read keys within 1.5 s; if not, it may just be slow. */
    findsKeys: keys.responds,
    /** Why it could not when `findsKeys` last asked. */
    keysFailure: keys.failure,
    /** The database's time, in milliseconds since 1970, by which keys and sessions expire. */
    now: clock.now,
    /** How far the database's clock is ahead of this machine's, in milliseconds; undefined before it was measured. */
    clockDifference: clock.difference,
    /** Current use of the connections. */
    pool: pool.use,
    /** How many hosts the URI has, or its SRV record. */
    hosts: (): number => client.options.hosts.length,
    /** Sets how heavy work detects requests of other organisations, to yield to them. */
    yieldWhile: yielding.yieldWhile,
    /** The pauses of callers that act for no organisation. */
    pauses: pausesOf(yielding),
    /** When the connections were last lost, by performance.now(). */
    lostAt: pool.lostAt,
    async close(): Promise<void> {
      await Promise.all([deployment.close(), keys.close(), asker.close()]);
    },
  };
}

/** The collection of the control database in which gateways test writes. */
const HEARTBEATS = 'heartbeats';

interface Heartbeat {
  readonly _id: string;
  readonly at: Date;
}
