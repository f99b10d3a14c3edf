import type { ClientSession } from 'mongoose';
import { atMost, READ_TIMEOUT } from '../../mongo/native';
import type { OrganisationData } from '../../tenant/organisationData';
import { ERASED } from '../../schema/personal';
import { defineResource, type Row, type Summary, type Texts } from '../../stored/resource';
import { withOwnRules } from '../ownRules';
import { MAX_WORDS, searchWords, storedWords } from '../../stored/search';

/** A request as it is stored: a thread, whose messages are rows of their own and counted in it. */
export interface RequestThread {
  readonly _id: string;
  readonly subject: string;
  readonly status: 'open' | 'answered' | 'closed';
  readonly customer_id: string | null;
  readonly external_ref: string | null;
  readonly contact: { readonly name: string; readonly email: string | null; readonly phone: string | null } | null;
  readonly message_count: number;
  readonly last_message_at: Date;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly search: readonly string[];
}

export interface Message {
  readonly _id: string;
  readonly request_id: string;
  /** Missing in rows from before messages had the member. */
  readonly external_ref?: string | null;
  readonly author: 'customer' | 'organisation';
  readonly author_name: string | null;
  readonly body: string;
  readonly created_at: Date;
}

/** The search words of a thread with those of another text, up to {@link MAX_WORDS}. */
export function addWords(thread: RequestThread, text: string): string[] {
  return [...new Set([...storedWords(thread), ...searchWords([text])])].slice(0, MAX_WORDS);
}

/** The thread with another message. */
export function withMessage(thread: RequestThread, { body, created_at: at }: Message): RequestThread {
  const search = addWords(thread, body);
  const { message_count: count, last_message_at: last } = thread as Partial<RequestThread>;
  // another program left the counters out, which events/tail adds
  if (count == null || last == null) return { ...thread, search };
  return { ...thread, message_count: count + 1, last_message_at: count === 0 || at > last ? at : last, search };
}

/** The thread with the counters, if another program left them out and events/tail has not added them yet. */
export async function withCounters(
  data: OrganisationData,
  thread: RequestThread,
  session: ClientSession,
): Promise<RequestThread> {
  const { message_count: count, last_message_at: last } = thread as Partial<RequestThread>;
  if (count != null && last != null) return thread;
  const noTexts = new Map([[thread._id, []]]);
  const [derived] = await deriveThreads(data, [thread], noTexts, { session, maxTimeMS: READ_TIMEOUT });
  return { ...thread, ...derived };
}

/** How a thread sums up its messages: their count, the time of the last, and their search words. */
const summary: Summary = {
  begin: (row) => {
    const { created_at } = row as RequestThread;
    return { ...row, message_count: 0, last_message_at: created_at } as RequestThread;
  },
  add: (row, part) => withMessage(row as RequestThread, part as Message),
  renew: async (data, row, formerParts, session) => {
    const formerWords = new Set(formerParts.flatMap((part) => searchWords([(part as Message).body])));
    // words that are not of the former messages stay, since they may be of an earlier subject; those that are still in others are added again
    const search = storedWords(row).filter((word) => !formerWords.has(word));
    const rest = { ...row, search };
    const [derived] = await deriveThreads(data, [rest], undefined, { session, maxTimeMS: READ_TIMEOUT });
    return { ...rest, ...derived };
  },
};

export const requests = defineResource<RequestThread>('Request', {
  ...withOwnRules('Request'),
  summary,
  computed: ['message_count', 'last_message_at'],
  derive: deriveThreads,
  hasRecordsByHand: true,
});

export const messages = defineResource<Message>('Message', { hasRecordsByHand: true });

/** The most messages of a thread, newest first, that are searched for words that it lacks. */
const MOST_MESSAGES = 1000;
/** Messages per reply of the database, which are decoded in one turn of the event loop: 400 kB at most. */
const MESSAGES_AT_ONCE = 20;

interface ReadOptions {
  readonly session?: ClientSession;
  readonly maxTimeMS?: number;
}

/**
 * What the rows of threads should have: the counters, and the words of subject and messages beside those that the row has, which may be of an
 * earlier subject. `texts` are the messages to search for words, by thread; without it the newest are read.
 */
async function deriveThreads(
  data: OrganisationData,
  rows: readonly Row[],
  texts?: Texts,
  options: ReadOptions = {},
): Promise<Readonly<Record<string, unknown>>[]> {
  const ids = rows.map(({ _id }) => _id);
  const counters = { _id: '$request_id', message_count: { $sum: 1 }, last_message_at: { $max: '$created_at' } };
  const stages = [{ $match: { request_id: { $in: ids } } }, { $group: counters }];
  const counted = await data
    .collection(messages)
    .aggregate<Pick<RequestThread, '_id' | 'message_count' | 'last_message_at'>>(stages, options)
    .toArray();
  const byThread = new Map(counted.map(({ _id, ...counts }) => [_id, counts]));
  const derived: Readonly<Record<string, unknown>>[] = [];
  for (const row of rows) {
    const { created_at: created, last_message_at: last } = row as Partial<RequestThread> & Row;
    const none = { message_count: 0, last_message_at: created instanceof Date ? created : last };
    const search = await wordsOf(data, row, texts?.get(row._id) ?? newestTexts(data, row, options));
    derived.push({ ...(byThread.get(row._id) ?? none), search });
  }
  return derived;
}

/** The search words of a thread; the same array as the row's if it lacks none. */
async function wordsOf(
  data: OrganisationData,
  thread: Partial<RequestThread> & Row,
  texts: Iterable<string> | AsyncIterable<string>,
): Promise<readonly string[]> {
  const { search, subject } = thread;
  const known = storedWords(thread);
  const words = new Set(known);
  for (const word of searchWords([subject])) words.add(word);
  const pace = data.pace();
  for await (const text of texts) {
    if (words.size >= MAX_WORDS) break;
    const pause = pace();
    if (pause) await pause;
    for (const word of searchWords([text])) words.add(word);
  }
  return words.size === known.length && known === search ? known : [...words].slice(0, MAX_WORDS);
}

/** The texts of a thread's messages, newest first, up to {@link MOST_MESSAGES}. */
async function* newestTexts(data: OrganisationData, { _id }: Row, options: ReadOptions): AsyncGenerator<string> {
  const newest = data
    .collection(messages)
    .find({ request_id: _id }, { ...options, projection: { body: 1 }, batchSize: MESSAGES_AT_ONCE })
    .sort({ created_at: -1, _id: -1 });
  let left = MOST_MESSAGES;
  for await (const { body } of newest) {
    if (typeof body === 'string') yield body;
    left -= 1;
    if (left === 0) return;
  }
}

/** Threads to be stored, with the search words that the stored ones have of earlier subjects: those that are in no message. */
export async function withEarlierWords(
  data: OrganisationData,
  threads: readonly RequestThread[],
  session: ClientSession,
): Promise<RequestThread[]> {
  const options = { projection: { search: 1 }, session, ...atMost(threads.length) };
  const rows = await data
    .collection(requests)
    .find({ _id: { $in: threads.map(({ _id }) => _id) } }, options)
    .toArray();
  const stored = new Map(rows.map((row) => [row._id, storedWords(row)]));
  const complete: RequestThread[] = [];
  for (const thread of threads) {
    const known = stored.get(thread._id) ?? [];
    const own = new Set(thread.search);
    // a thread from an export of after its erasure keeps none
    const others = new Set(thread.subject === ERASED ? [] : known.filter((word) => !own.has(word)));
    if (others.size > 0) await removeWordsOfMessages(data, thread._id, others, session);
    const kept = known.filter((word) => own.has(word) || others.has(word));
    // stored words first, so that of more than MAX_WORDS the same are kept when the thread is imported again
    complete.push({ ...thread, search: [...new Set([...kept, ...own])].slice(0, MAX_WORDS) });
  }
  return complete;
}

/** Removes from `words` those that a thread's stored messages have. */
async function removeWordsOfMessages(
  data: OrganisationData,
  threadId: string,
  words: Set<string>,
  session: ClientSession,
): Promise<void> {
  const bodies = data.collection(messages).find({ request_id: threadId }, { projection: { body: 1 }, session });
  for await (const { body } of bodies) {
    for (const word of searchWords([body])) words.delete(word);
    if (words.size === 0) return;
  }
}
