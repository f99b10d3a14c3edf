import { LRUCache } from 'lru-cache';
import type { ClientSession, mongo } from 'mongoose';
import type { Collection } from '../mongo/collection';
import { AppError, type Fault, movingError } from '../errors';
import { databaseName } from '../mongo/databaseNames';
import { dropDatabase } from '../mongo/dropDatabase';
import { COMMANDS } from '../limits';
import { type Budget, type Yield, createBudget, type Pace, paceOf, type Pauses } from '../async/yield';
import { restrictedRows, restrictionFault } from './restricted';
import { createSemaphore, type Semaphore } from '../async/semaphore';
import { type IndexMaintenance, createIndexMaintenance } from './indexMaintenance';
import { createObjectReads, type ObjectReads } from './objectReads';
import { type Reading, RowSizes } from '../mongo/readRows';
import { createSlots, openWrites, type Slots } from './slots';
import type { TenantContext, WriteState } from './tenantContext';
import type { Transact } from '../mongo/transact';
import type { UnitOptions } from './unitOfWork';
import { type Widening, createWidening } from './widening';

/** The most restricted data, one for each set of customers of restricted keys, that an organisation keeps in memory. */
const WARM_RESTRICTED = 100;

/** What an organisation's data need from the database server or cluster. */
export interface OpenDeployment {
  readonly client: mongo.MongoClient;
  readonly transact: Transact;
  /** The database's time, in milliseconds since 1970. */
  readonly now: () => number;
  /** Whether it is a sharded cluster, whose mongos answers with its own clock. */
  readonly isSharded: boolean;
}

/** One organisation's database, or a restricted key's part of it. It is chosen before any filter, so no filter can reach another organisation. */
export class OrganisationData implements Pauses {
  /** By name; cached, since creating one merges the driver's options each time. */
  readonly #collections = new Map<string, unknown>();
  readonly #transactions: Semaphore;
  /** Limits concurrent reads; work that it runs must not start another read, or both could wait for ever. */
  readonly reads: Semaphore;
  /** Limits concurrent pages of objects. */
  readonly pages: Semaphore;
  /** Limits concurrent aggregations. */
  readonly aggregations: Semaphore;
  readonly #rowSizes: RowSizes;
  #slots: Slots | undefined;
  /** The data of keys restricted to customers, by the customers' ids. */
  #restricted: LRUCache<string, OrganisationData> | undefined;
  /** Whether it is recorded that somebody reads changes with `updated_since`. */
  #isFollowed = false;
  /** Lets the organisation's rows be decoded, and put into answers, a piece in each turn of the event loop. */
  readonly budget: Budget;
  /** The same for rows of lists inside lists, of which a query can have thousands: between two pieces, other work has its turn. */
  readonly nestedBudget: Budget = (work) => this.budget(work)?.then(() => this.yieldToOthers());
  readonly objects: ObjectReads;
  readonly #indexes: IndexMaintenance;
  readonly #widening: Widening;
  readonly #database: mongo.Db;
  /** The database's time, in milliseconds since 1970. */
  readonly now: () => number;
  /** As {@link OpenDeployment.isSharded}. */
  readonly isSharded: boolean;
  /** Name of the organisation's plan, as the last caller knew it (organisationDataCache.ts); set on the {@link whole} alone. */
  plan = '';

  constructor(
    readonly organisationId: string,
    private readonly open: OpenDeployment,
    readonly collections: readonly Collection[],
    private readonly yielding: Yield,
    private readonly context: TenantContext,
    /** Only for a key restricted to customers: their ids, and the organisation's whole data. */
    private readonly part?: { readonly customerIds: readonly string[]; readonly of: OrganisationData },
  ) {
    this.#database = open.client.db(databaseName(organisationId));
    this.now = open.now;
    this.isSharded = open.isSharded;
    const whole = part?.of;
    // limits and maintenance are the organisation's, so its parts share them
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
    this.objects = createObjectReads({
      collection: (definition) => this.collection(definition),
      semaphore: this.reads,
      reading: this.reading(),
      nestedBudget: this.nestedBudget,
    });
  }

  /**
   * The driver's database: mongoose neither casts nor sanitises filters here, since rows are checked before they are stored.
   * @throws Error for the data of a restricted key, whose rows only {@link collection} tells from others
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

  /** The organisation's whole data. For a restricted key only what says nothing of other rows may use it: positions in the feed, whether a value is taken. */
  get whole(): OrganisationData {
    return this.part?.of ?? this;
  }

  /** The part of the data that a key restricted to these customers has (docs/decisions/restricted-keys.md). */
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

  /** The rows by which writes in progress are tracked and fenced off (slots.ts). */
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

  /** The same, checked only after the work, for a caller who knows that the organisation was open a moment ago. */
  async whileStillWritable<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      // even after an error, since the database may have done the work all the same
      await this.#dropIfErased();
    }
  }

  /** @throws AppError unavailable if the organisation is being moved or erased, or does not exist */
  async requireOpen(): Promise<void> {
    const writeState = await this.context.writeStateOf(this.organisationId);
    if (writeState !== 'open') throw refusal(writeState);
  }

  /** @throws as {@link requireOpen}; if the organisation is erased, the database is dropped before */
  async #dropIfErased(): Promise<void> {
    const writeState = await this.context.writeStateOf(this.organisationId);
    if (writeState === 'open') return;
    // not yet if it is `closed`: the erasure first exports the data, and drops them itself
    if (writeState === 'gone') await this.drop();
    throw refusal(writeState);
  }

  /** `upload` is the size of a file to store, in bytes. @throws AppError quota_exceeded if the organisation has reached its quota */
  async requireRoom(upload?: number): Promise<void> {
    await this.context.quota?.admit(this.#database, this.whole.plan, upload);
  }

  /** Notes that rows were deleted or shortened, so that the next write is not refused by an earlier size. */
  noteRoom(): void {
    this.context.quota?.noteDeletion(this.#database);
  }

  /** As {@link dropDatabase}. */
  drop(): Promise<void> {
    return dropDatabase(this.#database);
  }

  /** Records in the background that changes are read with `updated_since`; only the first call does, or the next one if it failed. */
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

  /** Called before each of many elements: pauses for other work once the elements have held the event loop for long enough. */
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
    const rows = this.#collections.get(definition.name) ?? this.#openCollection(definition);
    this.#collections.set(definition.name, rows);
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

  /** Notes that at most this many rows were added to each collection; {@link transaction} does so itself. */
  wrote(definitions: OrganisationData['collections'], rows: number): void {
    this.#indexes.wrote(definitions, rows);
  }

  /** Whether a read now sends only its own command: no check of indexes and, for a restricted key, no read of the objects that rows are part of. */
  isReadAtOnce(definition: Collection): boolean {
    const { restriction } = definition;
    const hasOwner = typeof restriction === 'object' && 'owner' in restriction;
    return !(this.part && hasOwner) && !this.#indexes.isLookDue(definition);
  }

  /** Runs work in a transaction, and again after a conflict. The collections that it writes must exist: see {@link prepare}. */
  async transaction<T>(work: (session: ClientSession) => Promise<T>, { writes, rows = 1 }: UnitOptions): Promise<T> {
    const result = await this.#widening.runWidening(writes, () => this.#transactions(() => this.open.transact(work)));
    this.wrote(writes, rows);
    return result;
  }
}

function refusal(writeState: Exclude<WriteState, 'open'>): AppError {
  if (writeState === 'moving') return movingError();
  // true even if the work was done: its database is dropped, by #dropIfErased or at the end of the erasure
  const detail = 'The organisation is no longer there; nothing was stored.';
  // a retry learns from authentication what became of the organisation
  return new AppError('unavailable', detail, { reason: 'erased', retryAfter: 1 });
}
