import type DataLoader from 'dataloader';
import { pageWriter, singleWriter } from '../fastReads/answerWriter';
import { UnsupportedValue } from '../database/bson';
import { coalescedRawReads } from '../database/coalesce';
import type { Projection } from '../database/collection';
import { type OrganisationData, POINT_READ_BATCH } from '../database/organisationData';
import type { ListArguments } from '../database/pagination';
import { notFound } from '../errors';
import type { FallbackReason, Selected, WriterOf, Written } from '../operations/fastRead';
import { listPageText, WITHOUT_SEARCH } from './collection';
import type { Resource } from './resource';
import { pageShape, shapeOf } from './shapes';

/*
 * Lists and reads of stored types as JSON text, written from the bytes that the database sent (docs/decisions/fast.md).
 * What cannot be written so is left to the resolvers.
 */

/** Reads of a collection that go the usual way at once after one that could not be written: its next row is likely to be like that one. */
const PAUSE = 32;

/** Writes pages of a resource. */
export function listWriter(resource: Resource): WriterOf {
  return (selected) => {
    const shape = pageShape(selected);
    if (!shape) return undefined;
    const writer = pageWriter(shape);
    const rows = selected.find(({ field }) => field?.name === 'data')?.selected ?? [];
    const projection = projectionOf(resource, rows);
    return (args, { data }) =>
      attempt(data, resource, () => listPageText(data, resource, args as Args, projection, writer));
  };
}

type Args = ListArguments & Readonly<Record<string, unknown>>;

/** Writes objects of a resource that are read by id. */
export function objectWriterOf(resource: Resource, name: string): WriterOf {
  return (selected) => {
    const [first] = selected;
    const shape = first && shapeOf(first.type, selected);
    if (!shape) return undefined;
    const writer = singleWriter(shape);
    const projection = projectionOf(resource, selected);
    return ({ id }, { data }) =>
      attempt(data, resource, async () => {
        const row = await loaderOf(data, resource, projection).load((id as string).toLowerCase());
        if (!row) throw notFound(name);
        return { text: writer.write(row) };
      });
  };
}

/** The members to read: those that lists omit only if they are selected. */
function projectionOf({ stored: { omittedInLists }, projection }: Resource, selected: readonly Selected[]): Projection {
  return selected.some(({ field }) => field && omittedInLists.includes(field.name)) ? WITHOUT_SEARCH : projection;
}

/** Per organisation and collection, how many reads the usual way has left. */
const pauses = new WeakMap<OrganisationData, Map<string, number>>();

async function attempt(
  data: OrganisationData,
  { name }: Resource,
  write: () => Promise<Written>,
): Promise<Written | FallbackReason> {
  const left = pauses.get(data)?.get(name) ?? 0;
  if (left > 0) {
    pauses.get(data)?.set(name, left - 1);
    return 'recently';
  }
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof UnsupportedValue)) throw error;
    const paused = pauses.get(data) ?? new Map<string, number>();
    pauses.set(data, paused.set(name, PAUSE));
    return 'data';
  }
}

type Loaders = Map<Projection, DataLoader<string, Buffer | null>>;

const loaders = new WeakMap<OrganisationData, Map<string, Loaders>>();

function loaderOf(
  data: OrganisationData,
  resource: Resource,
  projection: Projection,
): DataLoader<string, Buffer | null> {
  const ofData = loaders.get(data) ?? new Map<string, Loaders>();
  loaders.set(data, ofData);
  const known = ofData.get(resource.name) ?? (new Map() as Loaders);
  ofData.set(resource.name, known);
  let loader = known.get(projection);
  if (!loader) {
    loader = coalescedRawReads(data.collection(resource), {
      maxBatchSize: POINT_READ_BATCH,
      gate: data.reads,
      projection,
    });
    known.set(projection, loader);
  }
  return loader;
}
