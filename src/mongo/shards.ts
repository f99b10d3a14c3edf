import type { mongo } from 'mongoose';
import { isExistingNamespace, isUnauthorised } from './faults';
import { atMost, PATIENT, READ_TIMEOUT } from './native';
import { DATABASE_NAME, databaseName, organisationOf } from './databaseNames';

/*
 * The shards of a sharded cluster, through mongos (docs/decisions/shards.md). Each organisation's database is on one shard, MongoDB's `primary` of
 * the database: here it is chosen for a new one, looked up, and changed.
 */

export interface Shard {
  readonly name: string;
  /** Whether MongoDB is emptying it (removeShard). */
  readonly draining: boolean;
}

export interface CountedShard extends Shard {
  /** Organisations whose databases are on it. */
  readonly organisations: number;
}

/** A shard that is unknown or draining, or that this database user may not choose; the message says which, for operators. */
export class ShardRefused extends Error {
  override readonly name = 'ShardRefused';
}

interface ListShards {
  readonly shards: readonly { readonly _id: string; readonly draining?: boolean }[];
}

/** A database in MongoDB's own catalogue, `config.databases`; `primary` is its shard. */
interface DatabaseRow {
  readonly _id: string;
  readonly primary: string;
}

export type Shards = ReturnType<typeof createShards>;

export function createShards(client: mongo.MongoClient) {
  const admin = client.db('admin');
  const databases = client.db('config').collection<DatabaseRow>('databases');
  const read = { maxTimeMS: READ_TIMEOUT } as const;

  async function list(): Promise<Shard[]> {
    const { shards } = (await admin.command({ listShards: 1, maxTimeMS: READ_TIMEOUT })) as ListShards;
    return shards
      .map(({ _id: name, draining = false }) => ({ name, draining }))
      .sort((left, right) => (left.name < right.name ? -1 : 1));
  }

  async function counted(): Promise<CountedShard[]> {
    const ofOrganisations = [{ $match: { _id: DATABASE_NAME } }, { $group: { _id: '$primary', count: { $sum: 1 } } }];
    const [shards, counts] = await Promise.all([
      list(),
      databases.aggregate<{ _id: string; count: number }>(ofOrganisations, read).toArray(),
    ]);
    return shards.map((shard) => ({
      ...shard,
      organisations: counts.find(({ _id }) => _id === shard.name)?.count ?? 0,
    }));
  }

  async function requireShard(name: string): Promise<void> {
    const shards = await list().catch(rethrowUnauthorised);
    const shard = shards.find((other) => other.name === name);
    const names = shards.map((other) => other.name).join(', ');
    if (!shard) throw new ShardRefused(`there is no shard ${name}; shards are ${names}`);
    if (shard.draining) throw new ShardRefused(`shard ${name} is draining`);
  }

  return {
    /** The shards, by name. @throws the driver's error, such as a missing privilege */
    list,
    /** The same, with the number of organisations on each. */
    counted,
    /** The shards of these organisations, by id; without those that have no database yet. */
    async of(ids: readonly string[]): Promise<Map<string, string>> {
      const cursor = databases.find({ _id: { $in: ids.map(databaseName) } }, { ...read, ...atMost(ids.length) });
      return new Map((await cursor.toArray()).map(({ _id, primary }) => [organisationOf(_id) ?? '', primary]));
    },
    async organisationsOn(shard: string): Promise<string[]> {
      const cursor = databases.find({ _id: DATABASE_NAME, primary: shard } as object, {
        ...read,
        projection: { _id: 1 },
      });
      return (await cursor.toArray()).flatMap(({ _id }) => organisationOf(_id) ?? []);
    },
    /**
     * Creates the database of a new organisation on a shard: the given one, or the one with the fewest organisations that is neither
     * draining nor down. Without the privilege to choose, MongoDB does so at the first write. @throws ShardRefused
     */
    async place(id: string, shard: string | undefined, isDown: (shard: string) => boolean): Promise<void> {
      const database = databaseName(id);
      if (shard !== undefined) {
        await requireShard(shard);
        await createOn(admin, database, shard).catch((error: unknown) => {
          if (!isExistingNamespace(error)) rethrowUnauthorised(error);
          throw new ShardRefused(`the database ${database} is on another shard already; name that, or none`);
        });
        return;
      }
      try {
        const fit = (await counted()).filter(({ name, draining }) => !draining && !isDown(name));
        const [fewest] = fit.toSorted((left, right) => left.organisations - right.organisations);
        if (fewest) await createOn(admin, database, fewest.name);
      } catch (error) {
        // the empty database of a creation with this id that failed stays on its shard
        if (!isUnauthorised(error) && !isExistingNamespace(error)) throw error;
      }
    },
    /** @throws ShardRefused unless organisations can be moved to the shard */
    require: requireShard,
    /** Moves the database of an organisation, which nothing may read or write meanwhile. Repeated, it joins the move under way. */
    async move(id: string, to: string, signal: AbortSignal): Promise<void> {
      await admin.command({ movePrimary: databaseName(id), to }, { ...PATIENT, signal });
    },
    /** Creates a database on a shard, unless it is there. @throws the driver's error: NamespaceExists if it is on another, or a missing privilege */
    createOn: (name: string, shard: string): Promise<void> => createOn(admin, name, shard),
    /** The shard of a database; undefined if there is none of this name. */
    async shardOf(name: string): Promise<string | undefined> {
      return (await databases.findOne({ _id: name }, read))?.primary;
    },
  };
}

/** What choosing shards and moving needs (docs/guides/sharding.md, Roles). */
export const PRIVILEGES = 'the role clusterManager (on Atlas: Atlas admin)';
/** Why a database user cannot do either. */
export const LACKS_PRIVILEGES = `this database user may not choose the shard: it lacks ${PRIVILEGES}`;

function rethrowUnauthorised(error: unknown): never {
  throw isUnauthorised(error) ? new ShardRefused(LACKS_PRIVILEGES) : error;
}

/** Creates an empty database on a shard, which is all that `enableSharding` does as long as no collection is sharded. */
async function createOn(admin: mongo.Db, name: string, shard: string): Promise<void> {
  await admin.command({ enableSharding: name, primaryShard: shard, maxTimeMS: READ_TIMEOUT });
}
