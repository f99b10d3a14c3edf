import DataLoader from 'dataloader';
import { setImmediate as turn } from 'node:timers/promises';
import type { Collection, Projection } from '../database/collection';
import { nativeCollection } from '../database/native';
import type { OrganisationData } from '../database/organisationData';
import { DEFAULT_LIMIT, firstPage, type ListArguments, type Page } from '../pagination';
import { listPage, listRequest, type ListSpec } from './collection';

/*
 * Lists that belong to a parent (a customer's quotes): the first pages of all parents in one level of a query are read by
 * one aggregation, so that a page of customers with their quotes is two queries, not a hundred.
 */

export interface Parent {
  readonly collection: Collection<{ readonly _id: string }>;
  /** The member of a row that names its parent. */
  readonly field: string;
}

/** Parents whose rows are decoded in one go: meanwhile nobody else is answered (docs/decisions/bodies-and-fairness.md). */
const DECODED_AT_ONCE = 10;

type RowsByParent = DataLoader<string, unknown[]>;

const loaders = new WeakMap<OrganisationData, Map<string, RowsByParent>>();

export async function listOfParent<T extends { _id: string }>(
  data: OrganisationData,
  spec: ListSpec<T>,
  parent: Parent,
  parentId: string,
  args: ListArguments,
  projection: Projection,
): Promise<Page<T>> {
  const filters = { ...args, [parent.field]: parentId };
  if (args.cursor !== null && args.cursor !== undefined) return listPage(data, spec, filters, projection);
  const rows = (await loaderFor(data, spec, parent, args.limit ?? DEFAULT_LIMIT, projection).load(parentId)) as T[];
  return firstPage(rows, listRequest(data, spec, filters));
}

function loaderFor<T extends { _id: string }>(
  data: OrganisationData,
  spec: ListSpec<T>,
  parent: Parent,
  limit: number,
  projection: Projection,
): RowsByParent {
  const known = loaders.get(data) ?? new Map<string, RowsByParent>();
  loaders.set(data, known);
  const key = JSON.stringify([spec.operation, parent.field, limit, projection]);
  let loader = known.get(key);
  if (!loader) {
    loader = new DataLoader((ids) => readFirstRows(data, spec, parent, ids, limit + 1, projection), {
      cache: false,
      maxBatchSize: 100,
      batchScheduleFn: (dispatch) => setImmediate(dispatch),
    });
    known.set(key, loader);
  }
  return loader;
}

async function readFirstRows<T extends { _id: string }>(
  data: OrganisationData,
  spec: ListSpec<T>,
  parent: Parent,
  ids: readonly string[],
  limit: number,
  projection: Projection,
): Promise<unknown[][]> {
  const parents = nativeCollection(data.collection(parent.collection));
  const stages = [
    { $match: { _id: { $in: [...new Set(ids)] } } },
    { $project: { _id: 1 } },
    {
      $lookup: {
        from: spec.collection.name,
        localField: '_id',
        foreignField: parent.field,
        pipeline: [{ $sort: { created_at: -1, _id: -1 } }, { $limit: limit }, { $project: projection }],
        as: 'rows',
      },
    },
  ];
  const byParent = new Map<string, unknown[]>();
  await data.aggregations(async () => {
    const found = parents.aggregate<{ _id: string; rows: unknown[] }>(stages, { batchSize: ids.length + 1 });
    for await (const { _id, rows } of found) {
      byParent.set(_id, rows);
      if (byParent.size % DECODED_AT_ONCE === 0) await turn();
    }
  });
  return ids.map((id) => byParent.get(id) ?? []);
}
