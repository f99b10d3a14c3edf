import type { ClientSession } from 'mongoose';
import { removeFiles } from '../../tenant/files';
import type { OrganisationData } from '../../tenant/organisationData';
import type { Fault } from '../../errors';
import { hasPersonalData } from '../../stored/erasedCustomers';
import { faultInRecord } from '../../stored/invalidRows';
import {
  fromRecord,
  type ImportRecord,
  readRecords,
  type RecordKind,
  storeDocuments,
  type StoredRecord,
} from '../../stored/records';
import { searchWords } from '../../stored/search';
import { LONGEST_LINE, MEBIBYTE } from '../../units';
import { type Message, messages, requests, type RequestThread, withEarlierWords } from './requests';

type MessageRecord = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly body: string;
  readonly external_ref?: string | null;
  readonly created_at: string;
};

/** The most threads whose messages are read together, and about how many messages: 80 MB at most, but one thread may have more. */
const READ_TOGETHER = { threads: 200, messages: 1000 };
/** The least bytes that a message takes as JSON beside its body. */
const MESSAGE_BYTES = 140;
const TOO_LONG = `are longer than ${String(LONGEST_LINE / MEBIBYTE)} MiB together`;

/**
 * Request threads in files of import and export: a line is a thread with its messages, without the members that are computed from these. A
 * thread is a row of `requests`.
 */
export const requestRecords: RecordKind = {
  file: 'requests',
  type: 'Request',
  omit: requests.computed,
  lists: { messages: { type: 'Message', omit: ['request_id'] } },
  rules: (record) => [...requests.elementRules(record), ...(requests.rules?.(record) ?? [])],
  writes: [requests, messages],
  store: storeThreads,
  async remove(data, ids, session) {
    await data.collection(messages).deleteMany({ request_id: { $in: [...ids] } }, { session });
    await data.collection(requests).deleteMany({ _id: { $in: [...ids] } }, { session });
    await removeFiles(data, { collection: requests.name, objectIds: ids }, session);
  },
  count: (data) => data.collection(requests).countDocuments(),
  async *read(data) {
    let threads: ImportRecord[] = [];
    let count = 0;
    for await (const thread of readRecords(data, requests)) {
      threads.push(thread);
      // another program may have left the counter out: any number
      count += Number(thread.message_count ?? Infinity);
      if (threads.length < READ_TOGETHER.threads && count < READ_TOGETHER.messages) continue;
      yield* withMessages(data, threads);
      threads = [];
      count = 0;
    }
    yield* withMessages(data, threads);
  },
  faultIn: threadFault,
};

const faultInThread = faultInRecord(requests.stored);
const faultInMessage = faultInRecord({
  members: messages.stored.members.filter(({ name }) => name !== 'request_id'),
});

/** The first fault of a thread or its messages. */
function threadFault(record: object): Fault | undefined {
  const own = faultInThread(record);
  if (own) return own;
  const { messages: sent } = record as { readonly messages?: readonly MessageRecord[] };
  // withMessages has left them out
  if (!sent) return { pointer: '/messages', code: 'length', detail: TOO_LONG };
  for (const [index, message] of sent.entries()) {
    const fault = faultInMessage(message);
    if (fault) return { ...fault, pointer: `/messages/${String(index)}${String(fault.pointer)}` };
  }
  return undefined;
}

function messagesOf(record: ImportRecord): MessageRecord[] {
  return record.messages as MessageRecord[];
}

/**
 * Stores threads with their messages; deletes stored messages that a record does not have. Runs within the session's transaction. With `now`, what
 * changes gets that time instead of the record's.
 */
async function storeThreads(
  data: OrganisationData,
  records: readonly ImportRecord[],
  session: ClientSession,
  now?: Date,
): Promise<StoredRecord[]> {
  const faults = await messageFaults(data, records, session);
  const accepted = records.filter((record) => !faults.has(record.id));
  const threads = await withEarlierWords(data, accepted.map(toThread), session);
  const withPersonalMessages = new Set(
    accepted
      .filter((record) => messagesOf(record).some((message) => hasPersonalData(messages, message)))
      .map(({ id }) => id),
  );
  const isPersonal = (thread: RequestThread): boolean =>
    withPersonalMessages.has(thread._id) || hasPersonalData(requests, thread);
  const written = await storeDocuments(data, requests, threads, { session, now, isPersonal });
  const outcomes = new Map(accepted.map((record, index) => [record.id, written[index]]));
  const kept = accepted.filter(({ id }) => outcomes.get(id)?.outcome !== 'failed');
  const all = kept.flatMap((record) => messagesOf(record).map((message) => toMessage(message, record.id)));
  const stored = await storeDocuments(data, messages, all, { session });
  const changed = new Set(
    all.filter((_message, index) => stored[index]?.outcome !== 'unchanged').map((message) => message.request_id),
  );
  for (const record of kept) {
    const outcome = outcomes.get(record.id)?.outcome;
    // a new thread has no other messages, nor has one whose count and messages are all unchanged
    if (outcome === 'created' || (outcome === 'unchanged' && !changed.has(record.id))) continue;
    const others = { $nin: messagesOf(record).map((message) => message.id) };
    await data.collection(messages).deleteMany({ request_id: record.id, _id: others }, { session });
  }
  if (now && changed.size > 0)
    await data
      .collection(requests)
      .updateMany({ _id: { $in: [...changed] } }, { $max: { updated_at: now } }, { session });
  return records.map(({ id }): StoredRecord => {
    const { outcome = 'failed', errors = faults.get(id) ?? [] } = outcomes.get(id) ?? {};
    if (outcome === 'failed') return { outcome, errors };
    return { outcome: outcome === 'unchanged' && changed.has(id) ? 'updated' : outcome, errors: [] };
  });
}

/** By the id of the record: the faults of those with messages of another thread, a repeated message, or another message's external_ref. */
async function messageFaults(
  data: OrganisationData,
  records: readonly ImportRecord[],
  session: ClientSession,
): Promise<Map<string, Fault[]>> {
  const all = records.flatMap(messagesOf);
  const options = { projection: { request_id: 1, external_ref: 1 }, session };
  const stored = await data
    .collection(messages)
    .find({ _id: { $in: all.map(({ id }) => id) } }, options)
    .toArray();
  const storedRefs = new Map(stored.map(({ _id, external_ref: ref }) => [_id, ref]));
  // these two as the records before, if they have no faults, leave them
  const owners = new Map(stored.map((message) => [message._id, message.request_id]));
  const refOwners = await ownersOfRefs(data, all, session);
  const faults = new Map<string, Fault[]>();
  for (const record of records) {
    const ids = new Set<string>();
    // the external_refs that it takes or, if undefined, frees
    const ownRefs = new Map<string, string | undefined>();
    const recordFaults = messagesOf(record).flatMap(({ id, external_ref: ref }, index): Fault[] => {
      const pointer = `/messages/${String(index)}/id`;
      const owner = owners.get(id) ?? record.id;
      if (owner !== record.id)
        return [{ pointer, code: 'conflict', detail: `belongs to another request (id ${owner})` }];
      if (ids.has(id))
        return [{ pointer, code: 'duplicate', detail: 'is the same as that of an earlier message of this thread' }];
      ids.add(id);
      const ownerOfRef = (value: string) => (ownRefs.has(value) ? ownRefs.get(value) : refOwners.get(value));
      const former = storedRefs.get(id);
      if (former != null && ownerOfRef(former) === id) ownRefs.set(former, undefined);
      if (ref == null) return [];
      const other = ownerOfRef(ref) ?? id;
      ownRefs.set(ref, id);
      if (other === id) return [];
      const detail = `belongs to another message (id ${other})`;
      return [{ pointer: `/messages/${String(index)}/external_ref`, code: 'conflict', detail }];
    });
    if (recordFaults.length > 0) faults.set(record.id, recordFaults);
    else {
      for (const id of ids) owners.set(id, record.id);
      for (const [ref, id] of ownRefs) refOwners.set(ref, id);
    }
  }
  return faults;
}

/** The ids of stored messages, by their external_ref, of those that messages of records have. */
async function ownersOfRefs(
  data: OrganisationData,
  all: readonly MessageRecord[],
  session: ClientSession,
): Promise<Map<string, string | undefined>> {
  const externalRefs = all.flatMap(({ external_ref: ref }) => ref ?? []);
  if (externalRefs.length === 0) return new Map();
  const cursor = data
    .collection(messages)
    .find({ external_ref: { $in: externalRefs } }, { projection: { external_ref: 1 }, session });
  return new Map((await cursor.toArray()).map(({ external_ref: ref, _id }) => [String(ref), _id]));
}

async function* withMessages(data: OrganisationData, threads: readonly ImportRecord[]): AsyncGenerator<ImportRecord> {
  if (threads.length === 0) return;
  const rows = data
    .collection(messages)
    .find({ request_id: { $in: threads.map((thread) => thread.id) } })
    .sort({ request_id: 1, created_at: 1, _id: 1 });
  const byThread = new Map(threads.map(({ id }) => [id, { bytes: 0, messages: [] as object[] }]));
  for await (const { _id: id, request_id: threadId, ...message } of rows) {
    const own = byThread.get(threadId);
    if (!own) continue;
    // another program may have stored another type
    const body: unknown = message.body;
    own.bytes += MESSAGE_BYTES + Buffer.byteLength(String(body));
    if (own.bytes <= LONGEST_LINE) own.messages.push({ id, ...message });
    else own.messages = [];
  }
  for (const thread of threads) {
    const { bytes = 0, messages: own } = byThread.get(thread.id) ?? {};
    yield bytes <= LONGEST_LINE ? { ...thread, messages: own } : thread;
  }
}

function toThread(record: ImportRecord): RequestThread {
  const { messages: sentMessages, ...members } = record;
  const bodies = sentMessages as MessageRecord[];
  // a thread that the operator API has created may have no messages yet
  const times = bodies.length > 0 ? bodies.map((message) => message.created_at) : [String(record.created_at)];
  const last = Math.max(...times.map((time) => new Date(time).getTime()));
  return {
    ...(fromRecord(members, requests.stored) as unknown as RequestThread),
    message_count: bodies.length,
    last_message_at: new Date(last),
    search: searchWords([String(record.subject), ...bodies.map((message) => message.body)]),
  };
}

function toMessage(record: MessageRecord, threadId: string): Message {
  return { ...(fromRecord(record, messages.stored) as unknown as Message), request_id: threadId };
}
