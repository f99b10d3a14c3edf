import DataLoader from 'dataloader';
import type { Collection, Projection } from '../database/collection';
import { ROWS_PER_PIECE } from '../database/courtesy';
import { READ_TIMEOUT } from '../database/native';
import type { OrganisationData } from '../database/organisationData';
import { DEFAULT_LIMIT, firstPage, type ListArguments, type Page } from '../database/pagination';
import { parentFilter } from '../schema/filters';
import { published } from '../schema/model';
import { listPage, listRequest, type RowReader } from './collection';

/*
 * Lists of a parent (a customer's quotes): one aggregation reads the first pages of all parents at one level of a query, so
 * that a page of customers with their quotes takes two queries, not a hundred.
 */

export interface Parent {
  readonly collection: Collection<{ readonly _id: string }>;
  /** The member of a row that refers to its parent. */
  readonly field: string;
}

/** Loads a promise per parent, since the rows of some parents arrive before those of others. */
type RowsByParent = DataLoader<string, Promise<unknown[]>>;

const loaders = new WeakMap<OrganisationData, Map<string, RowsByParent>>();

export async function listOfParent<T extends { _id: string }>(
  reader: RowReader,
  collection: Collection<T>,
  parent: Parent,
  parentId: string,
  args: ListArguments,
  projection: Projection,
): Promise<Page<T>> {
  const filter = parentFilter(published.filtersOf(collection.name), parent.field);
  const ofParent = { ...args, [filter.argument]: parentId };
  const { data } = reader;
  if (args.cursor !== null && args.cursor !== undefined)
    return listPage(reader, collection, ofParent, projection, [filter]);
  const rows = (await loaderFor(data, collection, parent, args.limit ?? DEFAULT_LIMIT, projection).load(
    parentId,
  )) as T[];
  return firstPage(rows, listRequest(data, collection, ofParent, [filter]));
}

function loaderFor<T extends { _id: string }>(
  data: OrganisationData,
  collection: Collection<T>,
  parent: Parent,
  limit: number,
  projection: Projection,
): RowsByParent {
  const known = loaders.get(data) ?? new Map<string, RowsByParent>();
  loaders.set(data, known);
  const key = JSON.stringify([collection.name, parent.field, limit, projection]);
  let loader = known.get(key);
  if (!loader) {
    loader = new DataLoader((ids) => readFirstRows(data, collection, parent, ids, limit + 1, projection), {
      cache: false,
      maxBatchSize: 100,
      batchScheduleFn: (dispatch) => setImmediate(dispatch),
    });
    known.set(key, loader);
  }
  return loader;
}

function readFirstRows<T extends { _id: string }>(
  data: OrganisationData,
  collection: Collection<T>,
  parent: Parent,
  ids: readonly string[],
  limit: number,
  projection: Projection,
): Promise<Promise<unknown[]>[]> {
  const parents = data.collection(parent.collection);
  const expected = new Map<string, Promised>();
  const rowsOf = ids.map((id) => {
    const one = expected.get(id) ?? promised();
    expected.set(id, one);
    return one.promise;
  });
  const stages = [
    { $match: { _id: { $in: [...expected.keys()] } } },
    { $project: { _id: 1 } },
    {
      $lookup: {
        // through `data`, so that this collection gets its indexes, as it does when it is read on its own
        from: data.collection(collection).collectionName,
        localField: '_id',
        foreignField: parent.field,
        pipeline: [{ $sort: { created_at: -1, _id: -1 } }, { $limit: limit }, { $project: projection }],
        as: 'rows',
      },
    },
  ];
  const read = data.aggregations(async () => {
    // resolve parents in batches, so that the reads that follow for each of them are batched too
    let piece: Found[] = [];
    const handOver = (): void => {
      for (const { _id, rows } of piece) expected.get(_id)?.resolve(rows);
      piece = [];
    };
    let rowsOfPiece = 0;
    for await (const found of parents.aggregate<Found>(stages, {
      batchSize: ids.length + 1,
      maxTimeMS: READ_TIMEOUT,
    })) {
      piece.push(found);
      rowsOfPiece += found.rows.length;
      if (rowsOfPiece < ROWS_PER_PIECE) continue;
      rowsOfPiece = 0;
      handOver();
      await data.giveWay();
    }
    handOver();
  });
  read.then(
    // resolves parents that no longer exist; no effect on the others, which are already resolved
    () => {
      for (const { resolve } of expected.values()) resolve([]);
    },
    (error: unknown) => {
      for (const { reject } of expected.values()) reject(error);
    },
  );
  return Promise.resolve(rowsOf);
}

interface Found {
  readonly _id: string;
  readonly rows: unknown[];
}

interface Promised {
  readonly promise: Promise<unknown[]>;
  readonly resolve: (rows: unknown[]) => void;
  readonly reject: (reason: unknown) => void;
}

function promised(): Promised {
  let settle: Pick<Promised, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<unknown[]>((resolve, reject) => (settle = { resolve, reject }));
  return Object.assign(settle as unknown as Pick<Promised, 'resolve' | 'reject'>, { promise });
}
