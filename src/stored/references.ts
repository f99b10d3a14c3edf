import { type GraphQLResolveInfo, OperationTypeNode } from 'graphql';
import type { Projection } from '../mongo/collection';
import { answerRefusal, rowHolder } from '../operations/answers';
import type { FiguresContext } from '../operations/context';
import { isServed } from './invalidRows';
import { projectionOfReferences } from './projections';
import type { Resource, Row } from './resource';

/* Rows of relations. A query reads each of them once, wherever and under however many aliases it is selected. */

type Rows = Map<string, Promise<Row | null>>;

/** By projection, which is for one resource only. */
const rowsByContext = new WeakMap<FiguresContext, Map<Projection, Rows>>();

interface Wanted {
  readonly resource: Resource;
  readonly id: string;
  readonly context: FiguresContext;
  readonly info: GraphQLResolveInfo;
}

/** The row that a row refers to, with the members that the operation selects of such rows; null if there is none that can be served. */
export async function referredRow(wanted: Wanted): Promise<Row | null> {
  const { resource, context, info } = wanted;
  // nobody gets an answer that is refused, so it needs no more rows
  if (answerRefusal(context)) return null;
  const row = await once(wanted, projectionOfReferences(resource, info), 'related');
  // what the answer has of the row takes time of the event loop
  const wait = context.pauses.budget({ objects: 1 });
  if (!wait) return row;
  await wait;
  return answerRefusal(context) ? null : row;
}

/** A row of a parent's list; null if it cannot be served. The list as a whole takes time of the event loop and looks for a refusal (parentList.ts, derived.ts). */
export function listedRow(wanted: Wanted, projection: Projection): Promise<Row | null> {
  return once(wanted, projection, 'nested');
}

/** How the row is read: `nested` lets other requests go first between batches, since lists inside a list can have thousands of rows. */
type Kind = 'related' | 'nested';

function once(wanted: Wanted, projection: Projection, kind: Kind): Promise<Row | null> {
  const { id, context, info } = wanted;
  // a mutation must see what its earlier fields wrote
  if (info.operation.operation !== OperationTypeNode.QUERY) return read(wanted, projection, kind);
  const rows = rowsOf(projection, context);
  let row = rows.get(id);
  if (!row) rows.set(id, (row = read(wanted, projection, kind)));
  return row;
}

function rowsOf(projection: Projection, context: FiguresContext): Rows {
  let projections = rowsByContext.get(context);
  if (!projections) rowsByContext.set(context, (projections = new Map<Projection, Rows>()));
  let rows = projections.get(projection);
  if (!rows) projections.set(projection, (rows = new Map<string, Promise<Row | null>>()));
  return rows;
}

function read({ resource, id, context }: Wanted, projection: Projection, kind: Kind): Promise<Row | null> {
  const reading = context.data.objects[kind](resource, { id, hold: rowHolder(context) }, projection);
  return reading.then((row) => (row && isServed(context, resource, row, projection) ? row : null));
}
