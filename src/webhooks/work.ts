import type { EndpointRow } from '../organisations/webhookRows';
import { type ChangedDelivery, deliveryId, type DeliveryRow, type OpenRow, positionOfDelivery } from './deliveries';
import type { FeedEntry, WorkFeed } from './feed';
import { type Health, waitAfter } from './health';
import type { Attempt } from './post';
import { PARKED } from '../limits';

/*
 * One pass over an endpoint: first parked events that are due, then the next events of its feed. An event is parked, with a delivery to retry,
 * if it failed or is behind one of the same object that did. A lane is the events of one object, which are sent in order.
 */

/** How many objects are retried in one pass, and how many events of each, so that a pass ends within its lease. Chosen. */
const RETRIED = { objects: 50, events: 50 } as const;

/** The outcome of an attempt, for metrics. */
export type Outcome = 'delivered' | 'failed' | 'given_up';

interface WorkOptions {
  readonly feed: WorkFeed;
  readonly endpoint: EndpointRow;
  readonly health: Health;
  /** Posts an event once there is a place; undefined if the work is over by then. */
  readonly post: (event: FeedEntry) => Promise<Attempt | undefined>;
  readonly now: () => number;
  /** Whether nothing more may begin: the lease was lost or is over, or the gateway is stopping. */
  readonly mustStop: () => boolean;
  /** Whether the lease is still held; renews it. */
  readonly holdsLease: () => Promise<boolean>;
  readonly onOutcome: (outcome: Outcome) => void;
}

/** What a pass has reached. */
export interface Pass {
  readonly position: string;
  /** How many events are parked now. */
  readonly parked: number;
  /** Whether the next pass has events to read, and room to park them. */
  readonly hasMore: boolean;
  /** When a parked event is next retried, in milliseconds since 1970. */
  readonly nextAt: number | undefined;
}

/** Events are ordered per object; those without one, among themselves. */
const orderKeyOf = (object: string | null | undefined): string => object ?? '';

/**
 * Makes one pass over an endpoint, whose organisation must be open. The returned position may be stored: every event up to it is delivered or parked.
 * Undefined if the lease was lost meanwhile and events are to be parked; then nothing is stored.
 * @throws AppError unavailable if nothing may be stored
 */
export async function runPass(options: WorkOptions): Promise<Pass | undefined> {
  const { feed, endpoint, health, now } = options;
  const { _id: id } = endpoint;
  const { deliveries } = feed;
  const changed = new Map<string, ChangedDelivery>();
  // rows not counted in `parked` come from a gateway that was killed before it moved the position: their events are sent again
  const open = endpoint.parked > 0 ? await deliveries.open(id, PARKED.most) : [];
  const wasFailing = health.isFailing();
  let isInterrupted = false;
  const mustStop = (): boolean =>
    isInterrupted ||
    options.mustStop() ||
    health.disable() !== undefined ||
    health.restUntil() !== undefined ||
    (health.isFailing() && !wasFailing);

  /** Sends an event and notes the outcome. Resolves with whether the next event of the object may follow: it was delivered or given up. */
  async function attempt(row: DeliveryRow, entry: FeedEntry): Promise<boolean> {
    const outcome = await options.post(entry);
    if (!outcome) {
      isInterrupted = true;
      return false;
    }
    const attempts = row.attempts + 1;
    const tried = { ...row, attempts, attempt: outcome };
    if (outcome.ok) {
      health.noteSuccess();
      changed.set(row._id, { ...tried, state: 'delivered', next_at: null });
      options.onOutcome('delivered');
      return true;
    }
    health.noteFailure(orderKeyOf(row.object_id), outcome);
    // the event that probes a failing endpoint is not given up before the endpoint is
    const wait = health.isFailing() ? health.probeWait() : waitAfter(attempts);
    if (wait === undefined) changed.set(row._id, { ...tried, state: 'failed', next_at: null });
    else {
      const next = Math.max(now() + wait, health.restUntil() ?? 0);
      changed.set(row._id, { ...tried, state: 'waiting', next_at: new Date(next) });
    }
    options.onOutcome(wait === undefined ? 'given_up' : 'failed');
    return wait === undefined;
  }

  const rowOf = ({ position, type, object, shown }: FeedEntry): DeliveryRow => ({
    _id: deliveryId(id, position),
    endpoint_id: id,
    event_id: shown.id,
    type,
    object_id: object,
    state: 'waiting',
    attempts: 0,
    next_at: null,
    log: [],
    at: new Date(now()),
  });

  /** Retries what is due, each object's events in order. For a failing endpoint, only the oldest event, due or not: passes.ts has waited for it. */
  async function retry(): Promise<void> {
    const lanes = wasFailing ? [open.slice(0, 1)] : dueLanes(open, now());
    const ids = lanes.flat().map((row) => row._id);
    if (ids.length === 0) return;
    const rows = new Map((await deliveries.byIds(ids)).map((row) => [row._id, row]));
    const events = await feed.at(ids.map(positionOfDelivery));
    await runLanes(lanes, health.width, mustStop, async ({ _id }) => {
      const [row, event] = [rows.get(_id), events.get(positionOfDelivery(_id))];
      if (row && event) return attempt(row, event);
      // an event that is no longer kept cannot be sent, and must not block others
      if (row) {
        changed.set(_id, { ...row, state: 'failed', next_at: null });
        options.onOutcome('given_up');
      }
      return true;
    });
  }

  /** Sends the next events; those of objects with parked events are parked behind them. */
  async function sendNext(): Promise<Pick<Pass, 'position' | 'hasMore'>> {
    const page = await feed.next(endpoint, wasFailing ? 1 : PARKED.page);
    const parkedObjects = new Set(open.map((row) => orderKeyOf(row.object_id)));
    const openIds = new Set(open.map((row) => row._id));
    const items = page.entries.map((event): Item => ({ event, row: rowOf(event) }));
    // nothing is left to probe with
    if (wasFailing && items.length === 0 && !page.hasMore) health.forget();
    const lanes = byObject(items, ({ row }) => row.object_id);
    for (const key of parkedObjects) lanes.delete(key);
    await runLanes(lanes.values(), health.width, mustStop, ({ row, event }) => attempt(row, event));
    const isWhole = !mustStop();
    const last = isWhole ? items.length - 1 : items.findLastIndex(({ row }) => changed.has(row._id));
    for (const { row } of items.slice(0, last + 1)) {
      const key = orderKeyOf(row.object_id);
      const state = changed.get(row._id)?.state;
      if (state === undefined && !openIds.has(row._id)) {
        const isHead = !parkedObjects.has(key);
        changed.set(row._id, { ...row, state: isHead ? 'waiting' : 'held', next_at: isHead ? new Date(now()) : null });
      }
      if (state !== 'delivered' && state !== 'failed') parkedObjects.add(key);
    }
    if (!isWhole) return { position: items[last]?.event.after ?? endpoint.position, hasMore: true };
    return { position: page.next, hasMore: page.hasMore };
  }

  await retry();
  let progress = { position: endpoint.position, hasMore: true };
  const hasProbed = wasFailing && open.length > 0;
  if (!mustStop() && !hasProbed && open.length < PARKED.full) progress = await sendNext();
  // if the lease was lost, another gateway may have taken over, or people dropped parked events; what was delivered stays delivered
  const isParking = [...changed.values()].some(({ state }) => state !== 'delivered');
  if (isParking && !(await options.holdsLease())) return undefined;
  await deliveries.save([...changed.values()]);
  const recovered = wasFailing && !health.isFailing();
  if (recovered) await deliveries.makeDue(id, new Date(now()));
  const stillParked = stillOpen(open, changed);
  const nextAt = recovered ? now() : nextOf(stillParked);
  return {
    position: progress.position,
    parked: stillParked.length,
    hasMore: progress.hasMore && stillParked.length < PARKED.full,
    nextAt,
  };
}

interface Item {
  readonly row: DeliveryRow;
  readonly event: FeedEntry;
}

/** Items of each object, in order. */
function byObject<T>(items: readonly T[], objectOf: (item: T) => string | null): Map<string, T[]> {
  const lanes = new Map<string, T[]>();
  for (const item of items) {
    const key = orderKeyOf(objectOf(item));
    const lane = lanes.get(key);
    if (lane) lane.push(item);
    else lanes.set(key, [item]);
  }
  return lanes;
}

/** The parked events of each object, oldest first. */
const parkedLanes = (open: readonly OpenRow[]): OpenRow[][] => [...byObject(open, (row) => row.object_id).values()];

/** When the oldest parked event of an object is due, in milliseconds since 1970; 0 if it was held behind one that is delivered or given up. */
const dueAt = ([head]: readonly OpenRow[]): number => (head?.state === 'held' ? 0 : (head?.next_at?.getTime() ?? 0));

const dueLanes = (open: readonly OpenRow[], now: number): OpenRow[][] =>
  parkedLanes(open)
    .filter((lane) => dueAt(lane) <= now)
    .slice(0, RETRIED.objects)
    .map((lane) => lane.slice(0, RETRIED.events));

/** What is parked after a pass, oldest event first. */
function stillOpen(open: readonly OpenRow[], changed: ReadonlyMap<string, DeliveryRow>): OpenRow[] {
  const all = new Map<string, OpenRow>(open.map((row) => [row._id, row]));
  for (const [id, row] of changed) all.set(id, row);
  const isOpen = ({ state }: OpenRow): boolean => state === 'waiting' || state === 'held';
  return [...all.values()].filter(isOpen).sort((a, b) => (a._id < b._id ? -1 : 1));
}

function nextOf(open: readonly OpenRow[]): number | undefined {
  const times = parkedLanes(open).map(dueAt);
  return times.length > 0 ? Math.min(...times) : undefined;
}

/**
 * Runs the items of each lane in order, until `each` resolves with false, and up to `width()` lanes at once.
 * @throws the error of the first item that fails, once all lanes have ended
 */
async function runLanes<T>(
  lanes: Iterable<readonly T[]>,
  width: () => number,
  mustStop: () => boolean,
  each: (item: T) => Promise<boolean>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];

  async function run(lane: readonly T[]): Promise<void> {
    try {
      for (const item of lane) if (failures.length > 0 || mustStop() || !(await each(item))) return;
    } catch (error) {
      failures.push(error);
    }
  }

  for (const lane of lanes) {
    while (running.size > 0 && running.size >= width()) await Promise.race(running);
    if (failures.length > 0 || mustStop()) break;
    const ended = run(lane).finally(() => running.delete(ended));
    running.add(ended);
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0] as Error;
}
