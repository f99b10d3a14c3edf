import { isDeepStrictEqual } from 'node:util';
import type { ClientSession, mongo } from 'mongoose';
import type { Collection, Restriction } from '../mongo/collection';
import { atMost, READ_TIMEOUT } from '../mongo/native';
import { anyOf } from '../mongo/readRows';
import { AppError, type Fault, validationFailed } from '../errors';

/*
 * Collections for keys restricted to customers: every read and write is limited to rows of these customers. The collection has only the driver's
 * methods that are used and can be limited; any other throws (docs/decisions/restricted-keys.md). The words here: the key `has` the rows of its
 * customers; a part is a row that says only which object, its owner, it belongs to.
 */

interface Row {
  readonly _id: string;
}
type Rows = mongo.Collection<Row>;
type Filter = Readonly<Record<string, unknown>>;
type Stage = Readonly<Record<string, unknown>>;

/** The customers of a key, and the other collections of its organisation. */
export interface Customers {
  readonly customerIds: readonly string[];
  readonly definitionOf: (name: string) => Collection | undefined;
  /** The collection as the key has it. */
  readonly collection: (definition: Collection) => Rows;
}

/** The rows that a stage of an aggregation gets. */
interface Source {
  /** The collection that they come from. */
  readonly definition: Collection;
  /** Whether earlier stages have left each its `_id` of the collection. */
  readonly hasIds: boolean;
}

/** How a collection is restricted. */
interface Rule {
  /** Limits a filter to the rows that the key has. A promise only for parts, whose owners have to be read. */
  readonly narrow: (filter: Filter, session: ClientSession | undefined) => Filter | Promise<Filter>;
  /** The column with the id of a row's customer or owner; undefined if restricted keys write no rows. */
  readonly column: string | undefined;
  /** Checks that column of a row to store. @throws AppError validation_failed if the key would not have the row */
  readonly check: (row: Filter, session: ClientSession | undefined) => void | Promise<void>;
  /** Stages that limit a $lookup of the collection, to begin its pipeline with. @throws Error if none can */
  readonly lookup: (from: Source, stage: Stage) => readonly Stage[];
}

/** The collection as the key has it. @throws AppError forbidden if the key may have no rows of it */
export function restrictedRows(rows: Rows, definition: Collection, customers: Customers): Rows {
  const { restriction } = definition;
  if (restriction === 'unrestricted') return rows;
  const rule = ruleOf(rows, definition, customers);
  // find and aggregate return a cursor at once, so they cannot wait for a read of owners
  const narrowNow = (filter: Filter): Filter => {
    if (restriction && 'owner' in restriction) throw unsupported(definition, 'a cursor');
    return rule.narrow(filter, undefined) as Filter;
  };
  const restrictWrite = async (write: Stage, session: ClientSession | undefined): Promise<Stage> => {
    const [[kind, what] = ['', {}]] = Object.entries(write as Readonly<Record<string, Filter>>);
    if (kind === 'insertOne') await rule.check(what.document as Filter, session);
    else if (kind === 'updateOne') await checkUpdate(what.update as Readonly<Record<string, Filter>>, rule, session);
    else if (kind !== 'deleteOne' || rule.column === undefined) throw unsupported(definition, kind);
    if (kind === 'insertOne') return write;
    return { [kind]: { ...what, filter: await rule.narrow(what.filter as Filter, session) } };
  };
  const restricted = {
    collectionName: rows.collectionName,
    readConcern: rows.readConcern,
    db: {
      client: rows.db.client,
      async command(command: Stage, options: mongo.RunCommandOptions) {
        const [name] = Object.keys(command);
        // of another collection
        if (command[name ?? ''] !== rows.collectionName) throw unsupported(definition, 'a command');
        if (name === 'killCursors') return rows.db.command(command, options);
        if (name !== 'find') throw unsupported(definition, name);
        const filter = await rule.narrow(command.filter as Filter, options.session);
        return rows.db.command({ ...command, filter }, options);
      },
    },
    find: (filter: Filter, options?: mongo.FindOptions) => rows.find(narrowNow(filter), options),
    findOne: async (filter: Filter, options?: mongo.FindOptions) =>
      rows.findOne(await rule.narrow(filter, options?.session), options),
    countDocuments: async (filter: Filter, options?: mongo.CountDocumentsOptions) =>
      rows.countDocuments(await rule.narrow(filter, options?.session), options),
    aggregate([first = {}, ...others]: readonly Stage[], options?: mongo.AggregateOptions) {
      const stages = '$match' in first ? others : [first, ...others];
      const own = narrowNow(('$match' in first ? first.$match : {}) as Filter);
      return rows.aggregate([{ $match: own }, ...restrictStages(stages, definition, customers)], options);
    },
    async insertOne(row: Row, options?: mongo.InsertOneOptions) {
      await rule.check({ ...row }, options?.session);
      return rows.insertOne(row, options);
    },
    async bulkWrite(writes: readonly Stage[], options?: mongo.BulkWriteOptions) {
      const restrictedWrites: Stage[] = [];
      for (const write of writes) restrictedWrites.push(await restrictWrite(write, options?.session));
      return rows.bulkWrite(restrictedWrites as unknown as mongo.AnyBulkWriteOperation<Row>[], options);
    },
  };
  return restricted as unknown as Rows;
}

/** @throws AppError validation_failed if the key would not have the row after an update */
async function checkUpdate(
  { $set = {}, $unset = {}, ...others }: Readonly<Record<string, Filter>>,
  { column, check }: Rule,
  session: ClientSession | undefined,
): Promise<void> {
  if (Object.keys(others).length > 0) throw new Error('a restricted key changes rows by $set and $unset alone');
  if (column === undefined || column in $set || column in $unset) await check($set, session);
}

function ruleOf(rows: Rows, definition: Collection, customers: Customers): Rule {
  const { customerIds } = customers;
  const { restriction } = definition;
  if (restriction === undefined || restriction === 'unrestricted') throw unsupported(definition, 'anything');
  if ('refused' in restriction) throw new AppError('forbidden', restriction.refused);
  if ('condition' in restriction) {
    const own = restriction.condition(customerIds);
    return {
      narrow: (filter) => ({ $and: [filter, own] }),
      column: undefined,
      check: () => {
        throw unsupported(definition, 'writes');
      },
      lookup: () => [{ $match: own }],
    };
  }
  const { column } = restriction;
  if ('owner' in restriction) return ruleOfPart(rows, definition, restriction, customers);
  return {
    narrow: (filter) => withColumn(filter, column, customerIds),
    column,
    check(row) {
      const fault = restrictionFault(restriction, customerIds, row);
      if (fault) throw validationFailed([fault]);
    },
    lookup: () => [{ $match: { [column]: anyOf(customerIds) } }],
  };
}

/** Of parts: what the key has of their owners decides. */
function ruleOfPart(
  rows: Rows,
  definition: Collection,
  { column, owner }: { readonly column: string; readonly owner: string },
  { definitionOf, collection }: Customers,
): Rule {
  const ownerDefinition = definitionOf(owner);
  if (!ownerDefinition) throw unsupported(definition, owner);
  const owners = collection(ownerDefinition);
  /** The ids of those owners that the key has. */
  async function visibleOwners(ids: readonly string[], session: ClientSession | undefined): Promise<string[]> {
    if (ids.length === 0) return [];
    return (await readByIds(owners, ids, '_id', session)).map(({ _id }) => _id);
  }
  /** The ids of the owners whose parts a filter asks for, which must name these or the parts. */
  async function ownersIn(filter: Filter, session: ClientSession | undefined): Promise<readonly string[]> {
    const named = valuesOf(filter[column]);
    if (named) return named;
    const ids = valuesOf(filter._id);
    if (!ids) throw unsupported(definition, `parts of no object: ${Object.keys(filter).join()}`);
    const parts = await readByIds(rows, ids, column, session);
    return [...new Set(parts.flatMap((row) => valuesOf((row as unknown as Filter)[column]) ?? []))];
  }
  return {
    narrow: async (filter, session) => ({
      ...filter,
      [column]: anyOf(await visibleOwners(await ownersIn(filter, session), session)),
    }),
    column,
    async check(row, session) {
      const id = row[column];
      if (typeof id === 'string' && (await visibleOwners([id], session)).length > 0) return;
      throw validationFailed([{ pointer: `/${column}`, code: 'not_found', detail: 'is not an object of this key' }]);
    },
    lookup(from, { localField, foreignField }) {
      // joined to their owners, which have been limited before
      const isOfOwner = from.definition.name === owner && from.hasIds;
      if (isOfOwner && localField === '_id' && foreignField === column) return [];
      throw unsupported(definition, '$lookup');
    },
  };
}

/** One member of each of these rows. */
function readByIds(rows: Rows, ids: readonly string[], member: string, session?: ClientSession): Promise<Row[]> {
  const options = { projection: { [member]: 1 }, maxTimeMS: READ_TIMEOUT, ...atMost(ids.length) };
  return rows.find({ _id: anyOf(ids) } as object, { ...options, ...(session && { session }) }).toArray();
}

/** Stages that read no other collection; those that are not here are refused. */
const PLAIN = ['$match', '$project', '$group', '$sort', '$limit', '$unwind', '$addFields', '$replaceRoot'];

/** Whether rows have the same `_id` after a stage, which may change it in many ways. */
const keepsIds = (stage: Stage): boolean =>
  '$match' in stage || '$sort' in stage || '$limit' in stage || isDeepStrictEqual(stage, { $project: { _id: 1 } });

function restrictStages(stages: readonly Stage[], definition: Collection, customers: Customers): Stage[] {
  return stages.map((stage, index) =>
    restrictStage(stage, { definition, hasIds: stages.slice(0, index).every(keepsIds) }, customers),
  );
}

function restrictStage(stage: Stage, from: Source, customers: Customers): Stage {
  const [name = ''] = Object.keys(stage);
  if (PLAIN.includes(name)) return stage;
  if (name !== '$lookup') throw unsupported(from.definition, name);
  const { $lookup: lookup } = stage as { readonly $lookup: Stage & { readonly pipeline: readonly Stage[] } };
  const definition = customers.definitionOf(lookup.from as string);
  if (!definition) throw unsupported(from.definition, name);
  const own =
    definition.restriction === 'unrestricted'
      ? []
      : ruleOf(customers.collection(definition), definition, customers).lookup(from, lookup);
  return { $lookup: { ...lookup, pipeline: [...own, ...restrictStages(lookup.pipeline, definition, customers)] } };
}

/** Limits a filter to rows that have one of these ids in a column; if it names ids there itself, to those in both. */
function withColumn(filter: Filter, column: string, ids: readonly string[]): Filter {
  if (!(column in filter)) return { ...filter, [column]: anyOf(ids) };
  const asked = valuesOf(filter[column]);
  if (asked) return { ...filter, [column]: anyOf(asked.filter((id) => ids.includes(id))) };
  return { $and: [filter, { [column]: anyOf(ids) }] };
}

/** The texts that a condition allows, if it is a text or a list of them; otherwise undefined. */
function valuesOf(condition: unknown): readonly string[] | undefined {
  if (typeof condition === 'string') return [condition];
  if (typeof condition !== 'object' || condition === null || Object.keys(condition).join() !== '$in') return undefined;
  const { $in: values } = condition as { readonly $in: unknown };
  return Array.isArray(values) && values.every((value) => typeof value === 'string') ? values : undefined;
}

/** Why a row to store is not one of a key's customers; undefined if it is, or if the row alone does not say (parts, conditions). */
export function restrictionFault(
  restriction: Restriction | undefined,
  customerIds: readonly string[],
  row: object,
): Fault | undefined {
  if (typeof restriction !== 'object' || !('column' in restriction) || 'owner' in restriction) return undefined;
  const { column } = restriction;
  const id = (row as Filter)[column] ?? null;
  if (typeof id === 'string' && customerIds.includes(id)) return undefined;
  if (column === '_id')
    return { pointer: '', code: 'not_allowed', detail: 'is new: a key restricted to customers cannot create one' };
  return id === null
    ? { pointer: `/${column}`, code: 'required', detail: 'is required: the key is restricted to customers' }
    : { pointer: `/${column}`, code: 'not_found', detail: 'is not the id of a customer of the organisation' };
}

/** A mistake of this program, not of the caller: answered with 500. */
function unsupported({ name }: Collection, what: unknown): Error {
  return new Error(`a restricted key has no way to ${name}: ${String(what)}`);
}
