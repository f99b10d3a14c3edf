import type { OrganisationData } from '../tenant/organisationData';
import type { Corrector } from '../events/tail/corrections';
import type { StoredMember } from '../schema/storedTypes';
import { correctionsOf, storeCorrections } from '../stored/corrections';
import type { Resource, Row, Texts } from '../stored/resource';
import { collections } from '.';
import { messages, requests } from './requests/requests';

/* Fills in what other programs leave out of their rows: search words, and the counters of threads. */

const byName = new Map(collections.map((resource) => [resource.name, resource]));

/** Whether the words of a member, or of one inside it, are in `search`. */
const hasWords = ({ isSearchable, members }: StoredMember): boolean => isSearchable || members.some(hasWords);

function watchedOf({ stored, computed }: Resource): ReadonlySet<string> {
  const texts = stored.members.filter(hasWords).map(({ name }) => name);
  return new Set(texts.length + computed.length > 0 ? [...texts, ...computed, 'search'] : []);
}

/** Of messages every member counts: those by which they are counted and found belong to their thread. */
const OF_MESSAGES = new Set(messages.stored.members.map(({ name }) => name));

export const corrector: Corrector = {
  watched: new Map(
    collections
      .map((resource) => [resource.name, resource === messages ? OF_MESSAGES : watchedOf(resource)] as const)
      .filter(([, members]) => members.size > 0),
  ),
  async correct(data, collection, ids) {
    const resource = byName.get(collection);
    if (!resource) return 0;
    if (resource !== messages) return correct(data, resource, ids);
    const options = { projection: { request_id: 1, body: 1 }, batchSize: ids.length + 1 } as const;
    const texts = new Map<string, string[]>();
    for await (const { request_id: id, body } of data.collection(messages).find({ _id: { $in: [...ids] } }, options))
      texts.set(id, [...(texts.get(id) ?? []), ...(typeof body === 'string' ? [body] : [])]);
    return correct(data, requests, [...texts.keys()], texts);
  },
};

/** Rows looked at together, for which the messages of threads are counted together. */
const TOGETHER = 20;
/** How often a row is looked at if others keep changing it meanwhile. */
const TRIES = 3;

async function correct(
  data: OrganisationData,
  resource: Resource,
  ids: readonly string[],
  texts?: Texts,
  tries = TRIES,
): Promise<number> {
  let [together, stored]: [Row[], number] = [[], 0];
  const changed: string[] = [];
  const look = async (): Promise<void> => {
    const corrections = await correctionsOf(data, resource, together, { converts: undefined, ...(texts && { texts }) });
    // most rows lack nothing, and then nothing is written, not even the row by which a write is tracked
    const correctedIds = await storeCorrections(data, resource, corrections, 'other');
    stored += correctedIds.size;
    for (const { before, members } of corrections)
      if (members.length > 0 && !correctedIds.has(before._id)) changed.push(before._id);
    together = [];
  };
  const rows = data.collection(resource).find({ _id: { $in: [...ids] } }, { batchSize: ids.length + 1 });
  for await (const row of rows) if (together.push(row) === TOGETHER) await look();
  await look();
  if (changed.length === 0 || tries === 1) return stored;
  return stored + (await correct(data, resource, changed, texts, tries - 1));
}
