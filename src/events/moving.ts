import { setTimeout as sleep } from 'node:timers/promises';
import { clusterTimeOf } from '../database/changeCursor';
import type { Databases } from '../database/connect';
import type { OrganisationData } from '../database/organisationData';
import type { Control } from '../organisations/control';
import { events } from './collection';
import { endOf, positionOf, timeDigits } from './position';
import { gapEvent } from './tail/changes';
import { readTail, tailRows } from './tail/lease';

/* Events of organisations that move to another cluster (docs/decisions/events.md). */

/** How long to wait for a tail to catch up with the log, and how often to check, in milliseconds. */
const CATCH_UP_WITHIN = 30_000;
const CHECK_EVERY = 100;

/** The time of an organisation's cluster, as 16 hexadecimal digits. No write so far is later. */
export async function clusterTime({ database }: OrganisationData): Promise<string> {
  const time = await clusterTimeOf(database.client);
  return time ? timeDigits(time) : '';
}

interface Recorded {
  readonly databases: Pick<Databases, 'control' | 'streams' | 'timeOf'>;
  readonly control: Pick<Control, 'feeds' | 'webhookLeases'>;
}

/**
 * Waits until the events of all changes up to a time of an organisation's cluster are stored; does not wait if none was ever recorded
 * there. If no gateway records them, or it takes too long, resolves with the time from which events are missing. @throws AbortError
 */
export async function awaitTail(
  { databases }: Pick<Recorded, 'databases'>,
  data: OrganisationData,
  { time, signal }: { readonly time: string; readonly signal?: AbortSignal },
): Promise<Date | undefined> {
  const rows = tailRows(await databases.streams(data.cluster), databases.control.name);
  const latest = performance.now() + CATCH_UP_WITHIN;
  for (;;) {
    const row = await readTail(rows);
    if (!row?.at || timeDigits(row.at) >= time) return undefined;
    if (performance.now() > latest || row.until.getTime() < databases.timeOf(data.cluster) - LAPSED)
      return new Date(row.at.t * 1000);
    await sleep(CHECK_EVERY, undefined, signal && { signal });
  }
}

/** No other gateway is about to take a lease that ended this long ago, in milliseconds. */
const LAPSED = 5000;

/**
 * Records the gap event that an organisation is owed, if any. If its events are not all stored yet, the gap event is
 * recorded with the next one instead. @throws if its cluster does not respond
 */
export async function recordOwedGap(recorded: Recorded, data: OrganisationData): Promise<void> {
  const { organisationId: id } = data;
  const { feeds, webhookLeases } = recorded.control;
  const feed = (await feeds.of([id])).get(id);
  if (!feed?.owed) return;
  await data.prepare([events]);
  const time = await clusterTime(data);
  // earlier events must be stored first, since readers of the gap event continue after it
  if (await awaitTail(recorded, data, { time })) return;
  const to = new Date(Math.max(Date.now(), feed.owed.getTime()));
  const row = { _id: endOf(time, positionOf(feed.epoch, time, 0)), ...gapEvent(feed.owed, to) };
  await data.collection(events).insertOne(row);
  await feeds.settleGap(id, feed.owed);
  await webhookLeases.wake([id]);
}
