import type { OrganisationData } from '../tenant/organisationData';
import type { Corrector } from '../events/tail/corrections';
import { atMost } from '../mongo/native';
import type { StoredMember } from '../schema/storedTypes';
import { correctionsOf, storeCorrections } from '../stored/corrections';
import type { Resource, Row, Texts } from '../stored/resource';
import { collections } from '.';
import { messages, requests as threads } from './requests/requests';

/*
 * Fills in what programs that write to MongoDB themselves (docs/stored.md) leave out of their rows: search words, and the counters of request
 * threads. events/tail/corrections.ts finds such writes in the database's log and calls this (docs/decisions/invalid-rows.md).
 */

const byName = new Map(collections.map((resource) => [resource.name, resource]));

/** Whether `search` has the words of a member, or of one inside it. */
const hasWords = ({ isSearchable, members }: StoredMember): boolean => isSearchable || members.some(hasWords);

/** The members whose change may make search words or counters wrong, and these themselves; empty if the type has neither. */
function watchedOf({ stored, computed }: Resource): ReadonlySet<string> {
  const texts = stored.members.filter(hasWords).map(({ name }) => name);
  return new Set(texts.length + computed.length > 0 ? [...texts, ...computed, 'search'] : []);
}

/** All members of messages, since the counters and search words of their thread follow from them. */
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
    const options = { projection: { request_id: 1, body: 1 }, ...atMost(ids.length) } as const;
    // only the messages that changed are searched for words that their thread lacks
    const bodiesByThread = new Map<string, string[]>();
    for await (const { request_id: id, body } of data.collection(messages).find({ _id: { $in: [...ids] } }, options))
      bodiesByThread.set(id, [...(bodiesByThread.get(id) ?? []), ...(typeof body === 'string' ? [body] : [])]);
    return correct(data, threads, [...bodiesByThread.keys()], bodiesByThread);
  },
};

/** Rows corrected together: one query counts the messages of so many threads. */
const TOGETHER = 20;
/** How often a row is read if others keep changing it between the read and the correction. */
const TRIES = 3;

/**
 * Corrects rows, and resolves with the number of those that it wrote. `texts` are those of parts that changed; without it those of all parts are read.
 * @throws Error if others changed rows at each try: the tail, which looks at no change of a gateway, might not come back to them
 */
async function correct(
  data: OrganisationData,
  resource: Resource,
  ids: readonly string[],
  texts?: Texts,
  tries = TRIES,
): Promise<number> {
  let together: Row[] = [];
  let stored = 0;
  /** Ids of rows that others changed before they were corrected. */
  const overtaken: string[] = [];
  const correctTogether = async (): Promise<void> => {
    // values of a wrong type stay, which only `doctor --rows --fix` converts
    const corrections = await correctionsOf(data, resource, together, { converts: undefined, ...(texts && { texts }) });
    // most rows lack nothing, and then nothing is written, not even the row of open_writes by which a write is tracked
    const correctedIds = await storeCorrections(data, resource, corrections, 'other');
    stored += correctedIds.size;
    for (const { before, members } of corrections)
      if (members.length > 0 && !correctedIds.has(before._id)) overtaken.push(before._id);
    together = [];
  };
  const rows = data.collection(resource).find({ _id: { $in: [...ids] } }, atMost(ids.length));
  for await (const row of rows) if (together.push(row) === TOGETHER) await correctTogether();
  await correctTogether();
  if (overtaken.length === 0) return stored;
  if (tries === 1) throw new Error(`${String(overtaken.length)} of the rows changed at each of ${String(TRIES)} tries`);
  return stored + (await correct(data, resource, overtaken, texts, tries - 1));
}
