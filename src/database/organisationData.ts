import type DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';
import type { ClientSession, Connection, Model } from 'mongoose';
import type { Collection, Projection } from './collection';
import { coalescedReads } from './coalesce';
import type { Courtesy } from './courtesy';
import { createGate, type Gate } from './gate';

/** Best of 1, 4, 8, 100 for reads of single objects: unlimited batches make gateway and database take turns. */
const POINT_READ_BATCH = 8;
const RELATION_BATCH = 1000;

/** Commands of one organisation at once, of the 100 that a cluster's pool carries (docs/decisions/bodies-and-fairness.md). */
const AT_ONCE = { reads: 20, transactions: 10, aggregations: 1 };

/**
 * Runs work as one transaction: all of it is stored, or nothing. The work may run more than once. What it stores is
 * stamped with `now`; with `dryRun` it stores nothing that is.
 */
export type UnitOfWork = <T>(
  work: (session: ClientSession, now: Date) => Promise<T>,
  options?: { readonly dryRun?: boolean },
) => Promise<T>;

/** One organisation's collections. Its database's name goes ahead of every query, so no filter can reach another's. */
export class OrganisationData {
  readonly #models = new Map<string, Model<unknown>>();
  readonly #transactions = createGate(AT_ONCE.transactions);
  /** Where its reads pass, a few at once; none of them waits for another while it is under way. */
  readonly reads: Gate = createGate(AT_ONCE.reads);
  /** Where what keeps a processor of the database busy passes. */
  readonly aggregations: Gate = createGate(AT_ONCE.aggregations);
  /** By the projection itself: those are constants, and few. */
  readonly #loaders = new Map<string, Map<Projection | undefined, DataLoader<string, unknown>>>();

  constructor(
    readonly organisationId: string,
    readonly connection: Connection,
    /** Every collection an organisation has. */
    readonly collections: readonly Collection<{ readonly _id: string }>[],
    private readonly courtesy: Courtesy,
  ) {}

  /** Lets others have the event loop between two pieces of heavy work. */
  giveWay(): Promise<void> {
    return this.courtesy.giveWay(this.organisationId);
  }

  collection<T extends { readonly _id: string }>(definition: Collection<T>): Model<T> {
    let model = this.#models.get(definition.name);
    if (!model) {
      model = this.connection.model(definition.name, definition.schema, definition.name) as unknown as Model<unknown>;
      this.#models.set(definition.name, model);
    }
    return model as unknown as Model<T>;
  }

  /** Makes every collection and index that is missing. */
  async createIndexes(): Promise<void> {
    for (const definition of this.collections) await this.collection(definition).createIndexes();
  }

  /** Indexes that should be there and are not, as `collection: name`. */
  async missingIndexes(): Promise<string[]> {
    const missing: string[] = [];
    for (const definition of this.collections) {
      const { toCreate } = await this.collection(definition).diffIndexes();
      for (const index of toCreate as Record<string, number>[]) {
        missing.push(`${definition.name}: ${Object.entries(index).flat().join('_')}`);
      }
    }
    return missing;
  }

  /** Reads one object by id (any case), joined with others of the same turn. */
  read<T extends { _id: string }>(definition: Collection<T>, id: string, projection?: Projection): Promise<T | null> {
    return this.#loader(definition, POINT_READ_BATCH, projection).load(id.toLowerCase());
  }

  /** Reads the object a relation names; all relations of one level of a query go out together. */
  related<T extends { _id: string }>(
    definition: Collection<T>,
    id: string,
    projection?: Projection,
  ): Promise<T | null> {
    return this.#loader(definition, RELATION_BATCH, projection).load(id);
  }

  /** Runs `work` in a transaction, again from the start when it met a conflict with another. */
  transaction<T>(work: (session: ClientSession) => Promise<T>): Promise<T> {
    return this.#transactions(() =>
      this.connection.getClient().withSession((session) =>
        session.withTransaction(() => work(session), {
          readConcern: { level: 'snapshot' },
          writeConcern: { w: 'majority', journal: true },
        }),
      ),
    );
  }

  #loader<T extends { _id: string }>(
    definition: Collection<T>,
    maxBatchSize: number,
    projection?: Projection,
  ): DataLoader<string, T | null> {
    const key = `${definition.name} ${String(maxBatchSize)}`;
    let known = this.#loaders.get(key);
    if (!known) {
      known = new Map<Projection | undefined, DataLoader<string, unknown>>();
      this.#loaders.set(key, known);
    }
    let loader = known.get(projection) as DataLoader<string, T | null> | undefined;
    if (!loader) {
      loader = coalescedReads(this.collection(definition), {
        maxBatchSize,
        gate: this.reads,
        ...(projection && { projection }),
      });
      known.set(projection, loader);
    }
    return loader;
  }
}

/** Compiled models cost about 1 ms and 0.15 MB an organisation: this many stay warm. */
const WARM_ORGANISATIONS = 1000;

export type OrganisationDataCache = (organisation: { id: string; cluster: string }) => OrganisationData;

/** Finds an organisation's data, keeping the most recently used warm. */
export function organisationDataCache(
  clusterOf: (name: string) => Connection,
  collections: OrganisationData['collections'],
  courtesy: Courtesy,
): OrganisationDataCache {
  const warm = new LRUCache<string, OrganisationData>({
    max: WARM_ORGANISATIONS,
    dispose: (data, _id, reason) => {
      if (reason === 'evict') forget(data.connection);
    },
  });
  return ({ id, cluster }) => {
    const found = warm.get(id);
    if (found) return found;
    const connection = clusterOf(cluster).useDb(databaseName(id));
    const data = new OrganisationData(id, connection, collections, courtesy);
    warm.set(id, data);
    return data;
  };
}

/** Name of an organisation's database: `org_` and its id without dashes. */
export function databaseName(organisationId: string): string {
  return `org_${organisationId.replaceAll('-', '')}`;
}

/** Unhooks an organisation's connection from its cluster's, which would otherwise keep its models in memory. */
function forget(connection: Connection): void {
  const siblings = connection as unknown as { otherDbs: { otherDbs: unknown[] }[] };
  for (const parent of siblings.otherDbs) {
    const at = parent.otherDbs.indexOf(connection);
    if (at !== -1) parent.otherDbs.splice(at, 1);
  }
}
