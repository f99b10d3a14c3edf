import { hash } from 'node:crypto';
import type { mongo } from 'mongoose';
import { MINUTE, SECOND } from '../units';
import { type Availability, createAvailability } from './availability';
import { isDropPending, isUnavailable } from './faults';
import { databaseName } from './databaseNames';
import type { Shards } from './shards';

/*
 * Which shards respond (docs/decisions/shards.md). mongos answers by itself, so a shard that is down shows only in commands that need it: those of
 * requests, whose shard is checked once they take long, and a heartbeat, a write to each shard every second. Heartbeats also move the shards'
 * logical times on: mongos reads the log of all shards in the order of these, so one that stood still would hold back the events of all.
 */

/** How often each shard gets a heartbeat, in milliseconds. */
const BEAT_EVERY = SECOND;
/** How long a heartbeat or a check of a shard may take, in milliseconds: less than the 1.5 s of `answers`, so that the error says why. */
const ANSWER_TIMEOUT = 1400;
/** How often to look for shards that were added or removed, in milliseconds. */
const LIST_EVERY = MINUTE;

export interface ShardState {
  readonly shard: string;
  readonly isUp: boolean;
  readonly isWritable: boolean;
}

export interface ShardHealthOptions {
  /** Name of the control database; the databases of heartbeats begin with it. */
  readonly control: string;
  readonly client: mongo.MongoClient;
  readonly shards: Pick<Shards, 'list' | 'shardOf' | 'createOn' | 'organisationsOn'>;
  /** Runs a question on a connection of its own (probe.ts). Resolves with whether it was answered within 1.5 s. */
  readonly answers: (question: (client: mongo.MongoClient) => Promise<unknown>) => Promise<boolean>;
  readonly onChange: (shard: string, isDown: boolean) => void;
  /** Called with the error when writes to a shard fail, and with undefined when they succeed again. */
  readonly onWrites: (shard: string, failure: unknown) => void;
  /** Called if the shards cannot be listed, or get no heartbeat; tried again with the next list. */
  readonly onError: (error: unknown) => void;
}

interface WatchedShard {
  readonly availability: Availability;
  /** The database on the shard with which it is checked. */
  readonly database: string;
  /** Whether that is its heartbeat's; otherwise it is that of an organisation, and the shard is watched only until it responds again. */
  readonly hasHeartbeat: boolean;
  /** Organisations on it, while it is down; empty otherwise, since they may be moved. */
  readonly organisations: Set<string>;
}

export type ShardHealth = ReturnType<typeof createShardHealth>;

export function createShardHealth({ control, client, shards, answers, ...reports }: ShardHealthOptions) {
  /** By shard, or by the database of an organisation if this user may not read the name of its shard. */
  const watched = new Map<string, WatchedShard>();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  /** Asks a shard for a row of a database on it. A missing database is an answer too. */
  const responds = (database: string): Promise<boolean> =>
    answers((shardClient) =>
      shardClient
        .db(database)
        .collection(HEARTBEATS)
        .findOne({}, { maxTimeMS: ANSWER_TIMEOUT })
        .catch((error: unknown) => {
          if (isUnavailable(error)) throw error;
        }),
    );

  /** Watches a shard by a database on it; `write` writes its heartbeat. */
  function watch(shard: string, database: string, write?: () => Promise<unknown>): WatchedShard {
    const availability = createAvailability({
      answers: () => responds(watchedShard.database),
      onChange: (isDown) => {
        reports.onChange(shard, isDown);
        if (isDown) void noteOrganisations(shard, watchedShard);
        else watchedShard.organisations.clear();
        if (!isDown) forgetUnlessBeating(shard, watchedShard);
      },
      write: write ?? (() => Promise.resolve()),
      onWrites: (failure) => {
        reports.onWrites(shard, failure);
      },
      // it is checked when a heartbeat fails or a request takes long
      checkEvery: Infinity,
      writeEvery: write ? BEAT_EVERY : Infinity,
    });
    const watchedShard: WatchedShard = {
      availability,
      database,
      hasHeartbeat: write !== undefined,
      organisations: new Set(),
    };
    watched.set(shard, watchedShard);
    return watchedShard;
  }

  /** Forgets a shard that responds, unless it has, or got meanwhile, a heartbeat; the next refresh begins that. */
  function forgetUnlessBeating(shard: string, watchedShard: WatchedShard): void {
    if (!watchedShard.hasHeartbeat && watched.get(shard) === watchedShard) watched.delete(shard);
  }

  /** Notes whose requests are rejected while a shard is down. */
  async function noteOrganisations(shard: string, { availability, organisations }: WatchedShard): Promise<void> {
    // if the config servers do not respond either, requests find out by themselves
    const ids = await shards.organisationsOn(shard).catch(() => []);
    if (availability.isDown()) for (const id of ids) organisations.add(id);
  }

  /** Starts to watch shards that were added, and forgets those that are draining or were removed. */
  async function refresh(): Promise<void> {
    try {
      const listed = await shards.list();
      const staying = new Set(listed.filter(({ draining }) => !draining).map(({ name }) => name));
      for (const name of staying) if (!watched.has(name)) await beginHeartbeat(name);
      // also those that were never watched here: other gateways may have begun heartbeats before they were draining
      for (const name of new Set([...listed.map((shard) => shard.name), ...watched.keys()])) {
        if (staying.has(name)) continue;
        watched.get(name)?.availability.stop();
        watched.delete(name);
        await dropHeartbeat(heartbeatDatabase(control, name));
      }
    } catch (error) {
      reports.onError(error);
    }
    if (!isStopped) timer = setTimeout(() => void refresh(), LIST_EVERY).unref();
  }

  /** Drops a shard's heartbeat, which would keep MongoDB from emptying the shard. */
  async function dropHeartbeat(database: string): Promise<void> {
    if ((await shards.shardOf(database)) === undefined) return;
    await client
      .db(database)
      .dropDatabase()
      .catch((error: unknown) => {
        // another gateway is doing it
        if (!isDropPending(error)) throw error;
      });
  }

  async function beginHeartbeat(shard: string): Promise<void> {
    const name = heartbeatDatabase(control, shard);
    if ((await shards.shardOf(name)) === undefined) await shards.createOn(name, shard);
    const change = { $set: { shard }, $currentDate: { at: true } } as const;
    const rows = client.db(name).collection<{ _id: string }>(HEARTBEATS);
    const options = { upsert: true, maxTimeMS: ANSWER_TIMEOUT };
    const { availability } = watch(shard, name, () => rows.updateOne({ _id: 'heartbeat' }, change, options));
    // if it is down already, the gateway starts all the same
    void availability.start();
  }

  return {
    /** Begins to watch all shards, and does not reject. To be called once. */
    start: refresh,
    stop(): void {
      isStopped = true;
      clearTimeout(timer);
      for (const { availability } of watched.values()) availability.stop();
    },
    /** The shard of an organisation, if it did not respond when it was last checked. */
    downShardOf(organisationId: string): string | undefined {
      for (const [shard, { availability, organisations }] of watched)
        if (availability.isDown() && organisations.has(organisationId)) return shard;
      return undefined;
    },
    /** Checks the shard of an organisation now. Resolves with its name if it does not respond. */
    async check(organisationId: string): Promise<string | undefined> {
      const database = databaseName(organisationId);
      const shard = (await shards.shardOf(database).catch(() => undefined)) ?? database;
      const watchedShard = watched.get(shard) ?? watch(shard, database);
      if (!(await watchedShard.availability.ask())) {
        watchedShard.organisations.add(organisationId);
        return shard;
      }
      forgetUnlessBeating(shard, watchedShard);
      return undefined;
    },
    isDown: (shard: string): boolean => watched.get(shard)?.availability.isDown() ?? false,
    /** Of the shards whose names are known: databases, which are watched where they are not, are nobody's business. */
    states: (): ShardState[] =>
      [...watched]
        .filter(([shard, { database }]) => shard !== database)
        .map(([shard, { availability }]) => ({
          shard,
          isUp: !availability.isDown(),
          isWritable: !availability.isDown() && !availability.isReadOnly(),
        })),
  };
}

const HEARTBEATS = 'heartbeats';

/** The database of a shard's heartbeat; names of shards may have characters that those of databases may not. */
export function heartbeatDatabase(control: string, shard: string): string {
  return `${control}_beat_${hash('sha256', shard).slice(0, 16)}`;
}
