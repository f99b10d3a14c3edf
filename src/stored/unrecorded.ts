import type { mongo } from 'mongoose';
import type { OrganisationData } from '../tenant/organisationData';
import { AppError } from '../errors';
import type { DataContext } from '../operations/context';

/*
 * The database's log is one queue, in which one organisation's changes delay the events of all others. So bulk calls may have only so many
 * changes in it that are not recorded yet (docs/decisions/events.md).
 */

/** Changes by bulk calls, on one gateway, that may wait to be recorded. An organisation may have as many as all that wait leave free: half, if it is alone. */
const MAX_WAITING = 8000;
/** Retry-After, in seconds. */
const RETRY_AFTER = 1;

/** Changes by one call. */
interface Changes {
  readonly count: number;
  /** The cluster time by which they were committed; undefined while the call is in progress. */
  readonly until: mongo.Timestamp | undefined;
}

/** The changes that are not known to be recorded. */
interface Queue {
  count: number;
  readonly byOrganisation: Map<string, Set<Changes>>;
}

const queues = new WeakMap<mongo.MongoClient, Queue>();

/** Called when a call's changes are committed, with their number, and their cluster time if the server has one. */
export type OnCommitted = (count: number, time: mongo.Timestamp | undefined) => void;

/**
 * Runs a call that makes at most `most` changes. It is always admitted while no other changes of its organisation wait.
 * @throws AppError unavailable while too many changes wait to be recorded as events
 */
export async function runAdmitted<T>(
  context: Pick<DataContext, 'data' | 'events'>,
  most: number,
  run: (onCommitted: OnCommitted) => Promise<T>,
): Promise<T> {
  const { data } = context;
  const { organisationId: id } = data;
  const queue = queueOf(data);
  const ownWaiting = (): number => sum(queue.byOrganisation.get(id));
  const hasRoom = (): boolean => ownWaiting() < MAX_WAITING - queue.count;
  if (!hasRoom()) {
    // a getter makes `events`, which few calls need
    const recorded = await context.events.recordedAt();
    if (recorded) forgetRecorded(queue, recorded);
  }
  if (!hasRoom() && ownWaiting() > 0) {
    const detail = 'The events of earlier changes of this organisation are still being recorded; nothing was stored.';
    throw new AppError('unavailable', detail, { reason: 'not_recorded', retryAfter: RETRY_AFTER });
  }
  const reserved = { count: most, until: undefined };
  add(queue, id, reserved);
  try {
    return await run((count, time) => {
      // a server without times has no log either
      if (count > 0 && time) add(queue, id, { count, until: time });
    });
  } finally {
    remove(queue, id, reserved);
  }
}

function queueOf({ client }: OrganisationData): Queue {
  const queue = queues.get(client) ?? { count: 0, byOrganisation: new Map() };
  queues.set(client, queue);
  return queue;
}

/** Forgets what was recorded at a cluster time; without recording there is nothing to wait for. */
function forgetRecorded(queue: Queue, recorded: mongo.Timestamp | 'off'): void {
  for (const [organisation, all] of queue.byOrganisation)
    for (const changes of all)
      if (changes.until && (recorded === 'off' || changes.until.lessThanOrEqual(recorded)))
        remove(queue, organisation, changes);
}

function add(queue: Queue, organisation: string, changes: Changes): void {
  const all = queue.byOrganisation.get(organisation) ?? new Set();
  queue.byOrganisation.set(organisation, all.add(changes));
  queue.count += changes.count;
}

function remove(queue: Queue, organisation: string, changes: Changes): void {
  const all = queue.byOrganisation.get(organisation);
  if (!all?.delete(changes)) return;
  queue.count -= changes.count;
  if (all.size === 0) queue.byOrganisation.delete(organisation);
}

function sum(all: Iterable<Changes> = []): number {
  let total = 0;
  for (const { count } of all) total += count;
  return total;
}
