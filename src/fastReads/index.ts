import { UnsupportedValue } from '../mongo/bson';
import { type Collection, type Projection, WITHOUT_SEARCH } from '../mongo/collection';
import type { OrganisationData } from '../tenant/organisationData';
import type { ListArguments } from '../tenant/pagination';
import { notFound } from '../errors';
import type { FastRead, FastReadOf, ReadOutcome, Selected, Written } from '../operations/selection';
import { type PageWriter, createPageWriter, createSingleWriter } from './answerWriter';
import { pageShape, shapeOf } from './shapes';

/*
 * Lists and reads of stored types as JSON, written from the bytes that the database sent (docs/decisions/fast.md). A fast read is
 * undefined if only resolvers can answer.
 */

/** After a row that could not be written, this many reads of its collection go straight to resolvers: other rows are probably similar. The number is a guess. */
const PAUSE = 32;

/** A stored type, of which lists may omit some members. */
interface Stored extends Collection<{ readonly _id: string }> {
  readonly stored: { readonly omittedInLists: readonly string[] };
  /** The projection without these members. */
  readonly projection: Projection;
}

type Args = ListArguments & Readonly<Record<string, unknown>>;

/** Reads and writes a page. @throws UnsupportedValue if that is not possible */
type ReadPage<Of> = (
  data: OrganisationData,
  collection: Of,
  args: Args,
  projection: Projection,
  writer: PageWriter,
) => Promise<Written>;

/** Reads pages. `asksForChanges` is whether a list also reads until when all changes are visible, which takes another command. */
export function fastListOf<Of extends Stored>(
  collection: Of,
  {
    read,
    asksForChanges,
  }: {
    readonly read: ReadPage<Of>;
    readonly asksForChanges: (collection: Of, args: Args) => boolean;
  },
): FastReadOf {
  return (selected) => {
    const shape = pageShape(selected);
    if (!shape) return undefined;
    const rows = selected.find(({ field }) => field?.name === 'data')?.selected ?? [];
    const writer = createPageWriter(shape, copiesIn(rows));
    const projection = projectionOf(collection, rows);
    const fastRead: FastRead = (args, { data }) =>
      attempt(data, collection, () => read(data, collection, args, projection, writer));
    const isOneCommand: FastRead['isOneCommand'] = (data, args) =>
      !asksForChanges(collection, args) && isOneRead(data, collection);
    return Object.assign(fastRead, { isOneCommand });
  };
}

/** Reads objects by id; `name` is what a 404 calls them. */
export function fastObjectOf(collection: Stored, name: string): FastReadOf {
  return (selected) => {
    const [first] = selected;
    const shape = first && shapeOf(first.type, selected);
    if (!shape) return undefined;
    const writer = createSingleWriter(shape);
    const copies = copiesIn(selected);
    const projection = projectionOf(collection, selected);
    const read: FastRead = ({ id }, { data }) =>
      attempt(data, collection, async () => {
        const row = await data.objects.readRaw(collection, id as string, projection);
        if (!row) throw notFound(name);
        const bytes = copies * row.length;
        // most rows are small, and would be slowed down by the timer of a turn
        if (bytes > LARGE) await data.budget({ bytes });
        return { text: writer.write(row) };
      });
    return Object.assign(read, { isOneCommand: (data: OrganisationData) => isOneRead(data, collection) });
  };
}

/** From this many bytes on, an object takes a millisecond or more to write. */
const LARGE = 64 * 1024;

/** How often a byte of an object can be written at most: as often as its member is selected, under different names. */
function copiesIn(selected: readonly Selected[]): number {
  const times = new Map<string, number>();
  for (const { field, selected: inner } of selected) {
    const name = field?.name ?? '';
    times.set(name, (times.get(name) ?? 0) + copiesIn(inner));
  }
  return Math.max(1, ...times.values());
}

/** The members to read; those that lists omit are read only if one of them is selected. */
function projectionOf({ stored: { omittedInLists }, projection }: Stored, selected: readonly Selected[]): Projection {
  return selected.some(({ field }) => field && omittedInLists.includes(field.name)) ? WITHOUT_SEARCH : projection;
}

/** How many more reads are left to resolvers, by organisation and collection. */
const pauses = new WeakMap<OrganisationData, Map<string, number>>();

/** Whether a fast read would send one command and no other: not if it is left to resolvers. */
function isOneRead(data: OrganisationData, collection: Stored): boolean {
  return data.isReadAtOnce(collection) && !pauses.get(data)?.get(collection.name);
}

async function attempt(data: OrganisationData, { name }: Stored, write: () => Promise<Written>): Promise<ReadOutcome> {
  const pause = pauses.get(data)?.get(name) ?? 0;
  if (pause > 0) {
    pauses.get(data)?.set(name, pause - 1);
    return { reason: 'recently' };
  }
  try {
    return { written: await write() };
  } catch (error) {
    if (!(error instanceof UnsupportedValue)) throw error;
    const paused = pauses.get(data) ?? new Map<string, number>();
    pauses.set(data, paused.set(name, PAUSE));
    return { reason: 'data' };
  }
}
