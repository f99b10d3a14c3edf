import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Store } from '../src/cli/store';
import { SECOND } from '../src/units';
import type { Answer, Caller, Reply } from './client';
import { patiently } from './timing';

/** A write as seen by its client. */
export interface Entry {
  readonly kind: 'bulk' | 'request';
  readonly path: string;
  /** JSON text. */
  readonly body: string;
  /** What identifies its objects in the database: skus, or a thread's subject. */
  readonly markers: readonly string[];
  readonly idempotencyKey: string | undefined;
  tries: number;
  acknowledged?: Answer | undefined;
  /** Milliseconds from the first attempt to the acknowledgement. */
  waited?: number;
}

/** Counts of calls; a bulk call is present if all its products are. */
export interface Verdict {
  readonly attempted: number;
  readonly acknowledged: number;
  readonly present: number;
  /** Acknowledged, but an object is missing or has another id than was acknowledged. */
  readonly lost: number;
  /** An object is stored more than once, whether acknowledged or not. */
  readonly duplicated: number;
  /** Only part of the call is stored. */
  readonly torn: number;
  /** Stored, but never acknowledged to the client. */
  readonly unacknowledgedPresent: number;
  /** Products and threads of the acknowledged calls. */
  readonly objects: number;
  /** Acknowledged by a replay, since the first answer was lost in the kill. */
  readonly acknowledgedByReplay: number;
  readonly examples: readonly string[];
}

interface StoredIds {
  readonly bulk: ReadonlyMap<string, string[]>;
  readonly request: ReadonlyMap<string, string[]>;
  readonly messagesOf: ReadonlyMap<string, string[]>;
}

/** Compares the answers that clients got with what is stored in their organisation's database. */
export async function verify(entries: readonly Entry[], store: Store, organisationId: string): Promise<Verdict> {
  const stored = await patiently(() => readStored(store, organisationId));
  const count = { acknowledged: 0, present: 0, lost: 0, duplicated: 0, torn: 0, unacknowledgedPresent: 0 };
  let [objects, acknowledgedByReplay] = [0, 0];
  const examples: string[] = [];
  for (const entry of entries) {
    const storedIds = entry.markers.map((marker) => idsOf(stored, entry.kind, marker));
    const isPresent = storedIds.every((ids) => ids.length > 0);
    const isTorn = !isPresent && storedIds.some((ids) => ids.length > 0);
    const isDuplicated = storedIds.some((ids) => ids.length > 1);
    const isLost = entry.acknowledged !== undefined && !holds(entry.acknowledged, entry.kind, storedIds);
    if (isPresent) count.present += 1;
    if (isTorn) count.torn += 1;
    if (isDuplicated) count.duplicated += 1;
    if (isLost) count.lost += 1;
    if (isPresent && !entry.acknowledged) count.unacknowledgedPresent += 1;
    if (entry.acknowledged) {
      count.acknowledged += 1;
      objects += entry.markers.length;
      if (entry.acknowledged.headers['idempotent-replayed'] === 'true') acknowledgedByReplay += 1;
    }
    if ((isTorn || isDuplicated || isLost) && examples.length < 5) examples.push(describe(entry, storedIds));
  }
  return { attempted: entries.length, ...count, objects, acknowledgedByReplay, examples };
}

/** Ids stored for a marker; a thread without its message counts as missing, one with two messages as duplicated. */
function idsOf(stored: StoredIds, kind: Entry['kind'], marker: string): string[] {
  const ids = stored[kind].get(marker) ?? [];
  return kind === 'bulk' ? ids : ids.flatMap((id) => (stored.messagesOf.get(id) ?? []).map(() => id));
}

/** Whether the database holds exactly the ids that were acknowledged. */
function holds(answer: Answer, kind: Entry['kind'], storedIds: readonly string[][]): boolean {
  const said = JSON.parse(answer.body) as { id?: string; results?: { id: string | null }[] };
  const ids = kind === 'bulk' ? (said.results ?? []).map(({ id }) => id) : [said.id];
  return isDeepStrictEqual(
    ids,
    storedIds.map(([id]) => id),
  );
}

function describe(entry: Entry, storedIds: readonly string[][]): string {
  const acknowledgement = entry.acknowledged
    ? `acknowledged with ${String(entry.acknowledged.status)} ${entry.acknowledged.body.slice(0, 120)}`
    : 'not acknowledged';
  return `${entry.markers[0] ?? ''} (${String(entry.tries)} attempts, ${acknowledgement}): stored this many times: ${storedIds.map((ids) => ids.length).join(' ')}`;
}

/** The database of an organisation. @throws Error if there is no such organisation */
export async function databaseOf(store: Store, organisationId: string) {
  const organisation = await store.control.organisations.find(organisationId);
  if (!organisation) throw new Error(`organisation ${organisationId} not found`);
  return store.databases.organisationData(organisation).database;
}

async function readStored(store: Store, organisationId: string): Promise<StoredIds> {
  const database = await databaseOf(store, organisationId);
  const read = async (name: string, member: string): Promise<Map<string, string[]>> => {
    const ids = new Map<string, string[]>();
    const cursor = database.collection(name).find({}, { projection: { [member]: 1 }, batchSize: 5000 });
    for await (const row of cursor) {
      const marker = String(row[member]);
      ids.set(marker, [...(ids.get(marker) ?? []), String(row._id)]);
    }
    return ids;
  };
  return {
    bulk: await read('products', 'sku'),
    request: await read('requests', 'subject'),
    messagesOf: await read('messages', 'request_id'),
  };
}

/** Maximum number of replays after a load. */
const REPLAYS = 1000;

/** How often a replay that gets 503 with Retry-After is asked for again. */
const COMES_BACK = 10;

const isUnavailable = (reply: Reply): reply is Answer =>
  reply.kind === 'answer' && reply.status === 503 && Number(reply.headers['retry-after']) > 0;

/** Repeats acknowledged writes under their keys and returns those whose answer differs from the first. */
export async function replayAll(
  entries: readonly Entry[],
  callers: readonly Caller[],
  key: string,
): Promise<{ asked: number; different: string[] }> {
  const keyed = entries.filter((entry) => entry.idempotencyKey !== undefined && entry.acknowledged);
  const step = Math.max(1, Math.ceil(keyed.length / REPLAYS));
  const chosen = keyed.filter((_entry, index) => index % step === 0);
  const different: string[] = [];
  for (const [index, entry] of chosen.entries()) {
    const call = callers[index % callers.length];
    if (!call) break;
    const { path, body, idempotencyKey, acknowledged, markers } = entry;
    const again = (): Promise<Reply> => call({ method: 'POST', path, body, key, idempotencyKey });
    let reply = await again();
    // a database that was killed a moment ago may be called away once more on a slow machine: 503 says when to come back
    for (let times = 0; times < COMES_BACK && isUnavailable(reply); times += 1) {
      await sleep(SECOND * Number(reply.headers['retry-after']));
      reply = await again();
    }
    const isSame =
      reply.kind === 'answer' &&
      reply.status === acknowledged?.status &&
      reply.body === acknowledged.body &&
      reply.headers['idempotent-replayed'] === 'true';
    if (!isSame) {
      const said = reply.kind === 'answer' ? `${String(reply.status)} ${reply.body.slice(0, 200)}` : reply.reason;
      different.push(`${markers[0] ?? ''}: first ${acknowledged?.body.slice(0, 200) ?? ''}, then ${said}`);
    }
  }
  return { asked: chosen.length, different };
}
