import type DataLoader from 'dataloader';
import type { Collection, Projection } from '../mongo/collection';
import { READ_TIMEOUT } from '../mongo/native';
import { createLoader } from '../tenant/coalesce';
import type { OrganisationData } from '../tenant/organisationData';
import { firstPage, type ListArguments, type Page } from '../tenant/pagination';
import { parentFilter } from '../schema/filters';
import { published } from '../schema/model';
import { type Listed, listPage, listRequest, type RowReader } from './collection';
import type { Row } from './resource';

/*
 * Lists of a parent (a customer's quotes). One aggregation finds the first rows of all parents at one level of a query, and one read
 * fetches them, so that a page of customers with their quotes takes three queries, not a hundred. The aggregation returns ids only:
 * $lookup puts everything that it finds for a parent into one document, which may have 16 MB.
 */

export interface Parent {
  readonly collection: Collection<{ readonly _id: string }>;
  /** The member of a row that refers to its parent. */
  readonly field: string;
}

/** Newest first and without other filters, as the aggregation has it; the schema checks refuse other arguments (schema/checks/lists.ts). */
export interface ParentListArguments extends Pick<ListArguments, 'cursor'> {
  /** With the default that every such list declares (schema/checks/lists.ts, schema/own/shapes.ts). */
  readonly limit: number;
}

/** How to read the rows of a list. */
interface Reading {
  /** The members to read, the parent's id among them. */
  readonly projection: Projection;
  /** Null if the row is gone, or cannot be served. */
  readonly read: (id: string) => Promise<Row | null>;
}

interface ParentPage {
  readonly page: Page<Row>;
  /** Whether rows that cannot be served are left out already, as {@link Reading.read} does for a first page. */
  readonly isChecked: boolean;
}

/** Where a row is in its list. */
interface Position extends Row {
  readonly created_at: Date;
}

/** Maximum parents whose rows one aggregation finds: as many as a page has. */
const PARENTS = 100;

type Loader = DataLoader<string, readonly Position[]>;

const loaders = new WeakMap<OrganisationData, Map<string, Loader>>();

export async function listOfParent(
  reader: RowReader,
  collection: Listed,
  parent: Parent,
  parentId: string,
  args: ParentListArguments,
  { projection, read }: Reading,
): Promise<ParentPage> {
  const filter = parentFilter(published.filtersOf(collection.name), parent.field);
  const ofParent = { ...args, [filter.argument]: parentId };
  const { data } = reader;
  if (args.cursor !== null && args.cursor !== undefined)
    return { page: await listPage(reader, collection, ofParent, projection, [filter]), isChecked: false };
  const positions = await loaderFor(data, collection, parent, args.limit).load(parentId);
  const page = firstPage([...positions], listRequest(data, collection, ofParent, [filter]));
  const rows = await Promise.all(page.data.map(({ _id }) => read(_id)));
  await data.nestedBudget({ objects: rows.length });
  // a row may have been deleted, or moved to another parent, since it was found
  const isOfParent = (row: Row | null): row is Row =>
    row !== null && (row as Row & Readonly<Record<string, unknown>>)[parent.field] === parentId;
  return { page: { ...page, data: rows.filter(isOfParent) }, isChecked: true };
}

function loaderFor(data: OrganisationData, collection: Collection, parent: Parent, limit: number): Loader {
  const loadersOfData = loaders.get(data) ?? new Map<string, Loader>();
  loaders.set(data, loadersOfData);
  const key = `${collection.name} ${parent.field} ${String(limit)}`;
  let loader = loadersOfData.get(key);
  if (!loader) {
    loader = createLoader((ids) => findFirstRows(data, collection, parent, ids, limit + 1), { maxBatchSize: PARENTS });
    loadersOfData.set(key, loader);
  }
  return loader;
}

async function findFirstRows(
  data: OrganisationData,
  collection: Collection,
  parent: Parent,
  ids: readonly string[],
  limit: number,
): Promise<(readonly Position[])[]> {
  const parents = [...new Set(ids)];
  const stages = [
    { $match: { _id: { $in: parents } } },
    { $project: { _id: 1 } },
    {
      $lookup: {
        // through `data`, so that this collection gets its indexes, as it does when it is read on its own; the pipeline gets the conditions of
        // restricted keys, too (tenant/restricted.ts)
        from: data.collection(collection).collectionName,
        localField: '_id',
        foreignField: parent.field,
        pipeline: [{ $sort: { created_at: -1, _id: -1 } }, { $limit: limit }, { $project: { created_at: 1 } }],
        as: 'rows',
      },
    },
  ];
  const options = { batchSize: parents.length + 1, maxTimeMS: READ_TIMEOUT };
  const parentRows = await data.aggregations(() =>
    data
      .collection(parent.collection)
      .aggregate<Row & { readonly rows: readonly Position[] }>(stages, options)
      .toArray(),
  );
  const rowsOf = new Map(parentRows.map(({ _id, rows }) => [_id, rows]));
  return ids.map((id) => rowsOf.get(id) ?? []);
}
