import { UnsupportedValue } from '../database/rawRows';
import { type Collection, type Projection, WITHOUT_SEARCH } from '../database/collection';
import type { OrganisationData } from '../database/organisationData';
import type { ListArguments } from '../database/pagination';
import { notFound } from '../errors';
import type { FallbackReason, Written } from '../operations/ahead';
import type { FastRead, FastReadOf, Selected } from '../operations/selection';
import { type PageWriter, pageWriter, singleWriter } from './answerWriter';
import { pageShape, shapeOf } from './shapes';

/*
 * Lists and reads of stored types as JSON text, written from the bytes that the database sent (docs/decisions/fast.md): undefined means the
 * usual way, by resolvers.
 */

/** Reads of a collection that go the usual way at once after one that could not be written: its next row is likely to be like that one. */
const PAUSE = 32;

/** A stored type of which lists omit members. */
interface Stored extends Collection<{ readonly _id: string }> {
  readonly stored: { readonly omittedInLists: readonly string[] };
  /** The projection without those. */
  readonly projection: Projection;
}

type Args = ListArguments & Readonly<Record<string, unknown>>;

/** Reads pages: `read` finds the rows of one. @throws UnsupportedValue if it cannot be written */
type ReadPage<Of> = (
  data: OrganisationData,
  collection: Of,
  args: Args,
  projection: Projection,
  writer: PageWriter,
) => Promise<Written>;

export function fastListOf<Of extends Stored>(collection: Of, read: ReadPage<Of>): FastReadOf {
  return (selected) => {
    const shape = pageShape(selected);
    if (!shape) return undefined;
    const writer = pageWriter(shape);
    const rows = selected.find(({ field }) => field?.name === 'data')?.selected ?? [];
    const projection = projectionOf(collection, rows);
    return (args, { data }, onFallback) =>
      attempt(data, collection, onFallback, () => read(data, collection, args, projection, writer));
  };
}

/** Reads objects by id. */
export function fastObjectOf(collection: Stored, name: string): FastReadOf {
  return (selected) => {
    const [first] = selected;
    const shape = first && shapeOf(first.type, selected);
    if (!shape) return undefined;
    const writer = singleWriter(shape);
    const projection = projectionOf(collection, selected);
    const read: FastRead = ({ id }, { data }, onFallback) =>
      attempt(data, collection, onFallback, async () => {
        const row = await data.readRaw(collection, id as string, projection);
        if (!row) throw notFound(name);
        return { text: writer.write(row) };
      });
    const mayBegin = (data: OrganisationData): boolean =>
      data.isWarm(collection, projection) && !pauses.get(data)?.get(collection.name);
    return Object.assign(read, { mayBegin });
  };
}

/** The members to read: those that lists omit only if they are selected. */
function projectionOf({ stored: { omittedInLists }, projection }: Stored, selected: readonly Selected[]): Projection {
  return selected.some(({ field }) => field && omittedInLists.includes(field.name)) ? WITHOUT_SEARCH : projection;
}

/** Per organisation and collection, how many reads the usual way has left. */
const pauses = new WeakMap<OrganisationData, Map<string, number>>();

async function attempt(
  data: OrganisationData,
  { name }: Stored,
  onFallback: (reason: FallbackReason) => void,
  write: () => Promise<Written>,
): Promise<Written | undefined> {
  const left = pauses.get(data)?.get(name) ?? 0;
  if (left > 0) {
    pauses.get(data)?.set(name, left - 1);
    onFallback('recently');
    return undefined;
  }
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof UnsupportedValue)) throw error;
    const paused = pauses.get(data) ?? new Map<string, number>();
    pauses.set(data, paused.set(name, PAUSE));
    onFallback('data');
    return undefined;
  }
}
