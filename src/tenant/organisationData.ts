import { setTimeout as sleep } from 'node:timers/promises';
import type DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';
import type { ClientSession, mongo } from 'mongoose';
import type { Collection, Projection } from '../mongo/collection';
import { coalescedRawReads, coalescedRows, type WantedRow } from './coalesce';
import { AppError, type Fault, movingError } from '../errors';
import { databaseName } from '../mongo/databaseNames';
import { COMMANDS } from '../limits';
import { type Budget, type Yield, createBudget, type Pace, paceOf, type Pauses } from '../async/yield';
import { isDropPending } from '../mongo/faults';
import { restrictedRows, restrictionFault } from './restricted';
import { createSemaphore, type Semaphore } from '../async/semaphore';
import { type IndexMaintenance, createIndexMaintenance, type WriteState, type TenantContext } from './indexMaintenance';
import { type Reading, RowSizes } from '../mongo/readRows';
import { createSlots, openWrites, type Slots } from './slots';
import type { Transact } from '../mongo/transact';
import type { UnitOptions } from './unitOfWork';
import { type Widening, createWidening } from './widening';

/** How long to wait for another drop of the same database, and how often to look, in milliseconds. */
const DROPPED_WITHIN = 30_000;
const DROP_AGAIN = 50;

/** The fastest of 1, 4, 8 and 100 for single-object reads: with unlimited batches, gateway and database wait for each other. */
const POINT_READ_BATCH = 8;

/** Maximum sets of customers of an organisation's restricted keys whose collections stay in memory. */
const WARM_RESTRICTED = 100;

/** What loads objects by id, and how many it reads in one command. */
const LOADERS = {
  point: { load: coalescedRows, maxBatchSize: POINT_READ_BATCH },
  raw: { load: coalescedRawReads, maxBatchSize: POINT_READ_BATCH },
  relation: { load: coalescedRows, maxBatchSize: 1000 },
  nested: { load: coalescedRows, maxBatchSize: 1000 },
} as const;

/** What organisations' data need from the deployment. */
export interface OpenDeployment {
  readonly client: mongo.MongoClient;
  readonly transact: Transact;
  /** The database's time, in milliseconds since 1970. */
  readonly now: () => number;
  /** Whether it is a sharded cluster, whose mongos answers with its own clock. */
  readonly isSharded: boolean;
}

/** One organisation's collections. The database is chosen before any filter, so no filter can reach another organisation. */
export class OrganisationData implements Pauses {
  /** Cached, since creating one merges the driver's options each time. */
  readonly #rows = new Map<string, unknown>();
  readonly #transactions: Semaphore;
  /** Limits concurrent reads; a read must not wait for another read, or they could deadlock. */
  readonly reads: Semaphore;
  /** Limits concurrent pages of objects. */
  readonly pages: Semaphore;
  /** Limits concurrent aggregations. */
  readonly aggregations: Semaphore;
  readonly #rowSizes: RowSizes;
  #slots: Slots | undefined;
  /** The data of keys restricted to customers, by these. */
  #restricted: LRUCache<string, OrganisationData> | undefined;
  /** Whether it is recorded that somebody reads changes with `updated_since`. */
  #isFollowed = false;
  /** Keyed by the projection object, which is a constant or lives as long as the operation that it is for. */
  readonly #loaders = new Map<string, WeakMap<Projection, unknown>>();
  /** Lets the organisation's rows be decoded, and put into answers, a piece in each turn of the event loop. */
  readonly budget: Budget;
  /** The same, but others go first between two pieces. */
  readonly nestedBudget: Budget = (work) => this.budget(work)?.then(() => this.yieldToOthers());
  readonly #indexes: IndexMaintenance;
  readonly #widening: Widening;
  readonly #database: mongo.Db;
  /** The database's time, in milliseconds since 1970. */
  readonly now: () => number;
  readonly isSharded: boolean;
  /** Name of the organisation's plan, by the last caller that knew it; of a part, that of the {@link whole} counts. */
  plan = '';

  constructor(
    readonly organisationId: string,
    private readonly open: OpenDeployment,
    readonly collections: readonly Collection[],
    private readonly yielding: Yield,
    private readonly context: TenantContext,
    /** For the data of keys restricted to customers: these, and the data of which theirs are a part. */
    private readonly part?: { readonly customerIds: readonly string[]; readonly of: OrganisationData },
  ) {
    this.#database = open.client.db(databaseName(organisationId));
    this.now = open.now;
    this.isSharded = open.isSharded;
    const whole = part?.of;
    // what limits and maintains an organisation is one for all its keys
    this.budget = whole?.budget ?? createBudget(yielding.yieldTurn);
    this.#transactions = whole ? whole.#transactions : createSemaphore(COMMANDS.transactions);
    this.reads = whole?.reads ?? createSemaphore(COMMANDS.reads);
    this.pages = whole?.pages ?? createSemaphore(COMMANDS.pages);
    this.aggregations = whole?.aggregations ?? createSemaphore(COMMANDS.aggregations);
    this.#rowSizes = whole ? whole.#rowSizes : new RowSizes();
    const whileWritable: OrganisationData['whileWritable'] = (work) => this.whileWritable(work);
    this.#indexes = whole
      ? whole.#indexes
      : createIndexMaintenance(organisationId, this.#database, context, whileWritable);
    this.#widening = whole ? whole.#widening : createWidening(organisationId, this.#database, context, whileWritable);
  }

  /**
   * Without mongoose, since rows are checked before they are stored; so filters and documents must be complete.
   * @throws Error for the data of keys restricted to customers, whose rows only {@link collection} tells apart
   */
  get database(): mongo.Db {
    if (this.part) throw new Error('the data of a restricted key are read through its collections');
    return this.#database;
  }

  get client(): mongo.MongoClient {
    return this.#database.client;
  }

  /** The customers that the caller's key is restricted to; undefined for any other caller. */
  get customerIds(): readonly string[] | undefined {
    return this.part?.customerIds;
  }

  /** The organisation's own data, for what says nothing of other customers' rows: positions in the feed, and which of two values is taken. */
  get whole(): OrganisationData {
    return this.part?.of ?? this;
  }

  /** The part of the data that a key restricted to customers has (docs/decisions/restricted-keys.md). */
  restrictedTo(customerIds: readonly string[]): OrganisationData {
    this.#restricted ??= new LRUCache<string, OrganisationData>({ max: WARM_RESTRICTED });
    const key = customerIds.join();
    const warm = this.#restricted.get(key);
    if (warm) return warm;
    const { organisationId, open, collections, yielding, context } = this;
    const part = { customerIds, of: this.whole };
    const data = new OrganisationData(organisationId, open, collections, yielding, context, part);
    this.#restricted.set(key, data);
    return data;
  }

  /** Why the caller may not store a row: it is not of one of its customers. Undefined if it may. */
  restrictionFault({ restriction }: Pick<Collection, 'restriction'>, row: object): Fault | undefined {
    return this.part && restrictionFault(restriction, this.part.customerIds, row);
  }

  /** Every write updates its own row here; deleting the rows fences off writes in flight. */
  get slots(): Slots {
    if (this.part) return this.part.of.slots;
    this.#slots ??= createSlots(this.collection(openWrites), {
      client: this.#database.client,
      whileWritable: (work) => this.whileWritable(work),
      now: this.now,
    });
    return this.#slots;
  }

  /**
   * Runs work that may create the organisation's database or a collection; nothing else may. If the organisation is erased
   * meanwhile, the database is dropped again.
   * @throws AppError unavailable if the organisation is being moved or erased, or does not exist
   */
  async whileWritable<T>(work: () => Promise<T>): Promise<T> {
    await this.requireOpen();
    return this.whileStillWritable(work);
  }

  /** The same as {@link whileWritable}, for an organisation that was open a moment ago. */
  async whileStillWritable<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      // even after an error, since the database may have done the work
      await this.#checkAgain();
    }
  }

  /** @throws AppError unavailable if the organisation is being moved or erased, or does not exist */
  async requireOpen(): Promise<void> {
    const writeState = await this.context.writeStateOf(this.organisationId);
    if (writeState !== 'open') throw refusal(writeState);
  }

  async #checkAgain(): Promise<void> {
    const now = await this.context.writeStateOf(this.organisationId);
    if (now === 'open') return;
    // while it is being erased, the export may still need the data, which is dropped later
    if (now === 'gone') await this.drop();
    throw refusal(now);
  }

  /** @throws AppError quota_exceeded if the organisation has reached its quota */
  async requireRoom(upload?: number): Promise<void> {
    await this.context.quota?.admit(this.#database, this.whole.plan, upload);
  }

  /** Notes that rows were deleted or shortened, so that the next write is not refused by an earlier size. */
  noteRoom(): void {
    this.context.quota?.outdate(this.#database);
  }

  /** Drops the database. If another process is dropping it, waits until that has been done. */
  async drop(): Promise<void> {
    const until = performance.now() + DROPPED_WITHIN;
    for (;;) {
      try {
        await this.#database.dropDatabase();
        return;
      } catch (error) {
        if (!isDropPending(error) || performance.now() > until) throw error;
      }
      await sleep(DROP_AGAIN);
    }
  }

  /** Notes that changes are read with `updated_since`, once; the read does not wait for it. */
  noteFollowed(): void {
    if (this.#isFollowed) return;
    this.#isFollowed = true;
    this.context.noteFollowed(this.organisationId).catch(() => {
      this.#isFollowed = false;
    });
  }

  /** Whether the server lists the organisation's database. */
  async exists(): Promise<boolean> {
    const { databaseName: name } = this.#database;
    const { databases } = await this.#database.admin().listDatabases({ nameOnly: true, filter: { name } });
    return databases.some((database) => database.name === name);
  }

  yieldTurn(): Promise<void> {
    return this.yielding.yieldTurn();
  }

  yieldToOthers(): Promise<void> {
    return this.yielding.yieldToOthers(this.organisationId);
  }

  /** Gives way between the elements of a list, once they have taken long enough. */
  pace(): Pace {
    return paceOf(() => this.yieldToOthers());
  }

  /** How to read rows for a request; `hold` counts the bytes of those that it keeps. */
  reading(hold?: Reading['hold']): Reading {
    return { sizes: this.#rowSizes, budget: this.budget, hold };
  }

  /**
   * The driver's collection; for a key restricted to customers one of the same kind that has only their rows. In a gateway, asking for it may also
   * begin a check of its indexes in the background. @throws AppError forbidden if such a key may not have it
   */
  collection<T extends { readonly _id: string }>(definition: Collection<T>): mongo.Collection<T> {
    this.#indexes.noteRead(definition);
    const rows = this.#rows.get(definition.name) ?? this.#openCollection(definition);
    this.#rows.set(definition.name, rows);
    return rows as mongo.Collection<T>;
  }

  #openCollection(definition: Collection): mongo.Collection<{ readonly _id: string }> {
    const rows = this.#database.collection<{ readonly _id: string }>(definition.name);
    if (!this.part) return rows;

    return restrictedRows(rows, definition, {
      customerIds: this.part.customerIds,
      definitionOf: (name) => this.collections.find((collection) => collection.name === name),
      collection: (owner) => this.collection(owner),
    });
  }

  /**
   * Creates missing collections with their indexes; sends no command once they are known to exist.
   * @throws AppError unavailable if the organisation is being erased, or does not exist
   */
  prepare(definitions: OrganisationData['collections']): Promise<void> {
    return this.#indexes.prepare(definitions);
  }

  /** Notes that at most this many rows were added to each; {@link transaction} does so itself. */
  wrote(definitions: OrganisationData['collections'], rows: number): void {
    this.#indexes.wrote(definitions, rows);
  }

  /** Reads one object by id (upper or lower case), batched with other reads in the same turn of the event loop. */
  read<T extends { _id: string }>(definition: Collection<T>, id: string, projection: Projection): Promise<T | null> {
    const wanted = { id: id.toLowerCase(), hold: undefined };
    return this.#loader<T, WantedRow>('point', definition, projection).load(wanted);
  }

  /** Reads an object as the bytes that the database sent. @throws UnsupportedValue if that is not possible */
  readRaw(definition: Collection, id: string, projection: Projection): Promise<Buffer | null> {
    return this.#loader<Buffer, string>('raw', definition, projection).load(id.toLowerCase());
  }

  /** Whether a read sends nothing but its own command: neither a look at the indexes nor, for a restricted key, a read of whose the rows are. */
  isReadAtOnce(definition: Collection): boolean {
    const { restriction } = definition;
    const hasOwner = typeof restriction === 'object' && 'owner' in restriction;
    return !(this.part && hasOwner) && !this.#indexes.isLookDue(definition);
  }

  /** Reads a related object; all relations on one level of a query are batched. @throws what `hold` throws */
  related<T extends { _id: string }>(
    definition: Collection<T>,
    wanted: WantedRow,
    projection: Projection,
  ): Promise<T | null> {
    return this.#loader<T, WantedRow>('relation', definition, projection).load(wanted);
  }

  /** The same for a row of a list inside a list, of which a query can have thousands: between two pieces others go first. */
  nested<T extends { _id: string }>(
    definition: Collection<T>,
    wanted: WantedRow,
    projection: Projection,
  ): Promise<T | null> {
    return this.#loader<T, WantedRow>('nested', definition, projection).load(wanted);
  }

  /** Runs work in a transaction, and again after a conflict. What it writes must be there: see {@link prepare}. */
  async transaction<T>(work: (session: ClientSession) => Promise<T>, { writes, rows = 1 }: UnitOptions): Promise<T> {
    const result = await this.#widening.runWidening(writes, () => this.#transactions(() => this.open.transact(work)));
    this.wrote(writes, rows);
    return result;
  }

  #loader<T, Wanted>(
    kind: keyof typeof LOADERS,
    definition: Collection,
    projection: Projection,
  ): DataLoader<Wanted, T | null> {
    const key = `${definition.name} ${kind}`;
    const loaders = this.#loaders.get(key) ?? new WeakMap<Projection, unknown>();
    this.#loaders.set(key, loaders);
    let loader = loaders.get(projection);
    if (!loader) {
      const { load, maxBatchSize } = LOADERS[kind];
      const { reads: semaphore } = this;
      const budget = kind === 'nested' ? this.nestedBudget : this.budget;
      const reading = { ...this.reading(), budget };
      loader = load(this.collection(definition), { maxBatchSize, semaphore, reading, projection });
      loaders.set(projection, loader);
    }
    return loader as DataLoader<Wanted, T | null>;
  }
}

function refusal(writeState: Exclude<WriteState, 'open'>): AppError {
  if (writeState === 'moving') return movingError();
  // true after work, too: its database is dropped, by #checkAgain or at the end of the erasure
  const detail = 'The organisation is no longer there; nothing was stored.';
  // a retry learns from authentication what became of the organisation
  return new AppError('unavailable', detail, { reason: 'erased', retryAfter: 1 });
}
