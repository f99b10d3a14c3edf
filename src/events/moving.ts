import { setTimeout as sleep } from 'node:timers/promises';
import { clusterTimeOf } from '../database/changeCursor';
import { nativeCollection } from '../database/native';
import type { Databases } from '../database/connect';
import type { OrganisationData } from '../database/organisationData';
import type { Control } from '../organisations/control';
import { events } from './collection';
import { positionOf, timeDigits } from './position';
import { gapEvent } from './tail/changes';
import { readTail, tailRows } from './tail/lease';

/* The events of an organisation that moves to another cluster (docs/decisions/events.md). */

/** How long a tail may take to record what is in the log, and how often it is looked at, in milliseconds. */
const CAUGHT_UP_WITHIN = 30_000;
const LOOK_EVERY = 100;

/** The time of an organisation's cluster, as 16 hexadecimal digits; all its writes so far are not later. */
export async function clusterTime({ connection }: OrganisationData): Promise<string> {
  const time = await clusterTimeOf(connection.getClient());
  return time ? timeDigits(time) : '';
}

interface Recorded {
  readonly databases: Pick<Databases, 'control' | 'streams' | 'timeOf'>;
}

/**
 * Waits until all events of an organisation's changes are stored. False if no gateway records them, or it takes too long; true also
 * if none was ever recorded. @throws AbortError
 */
export async function awaitTail(
  { databases }: Recorded,
  data: OrganisationData,
  signal: AbortSignal,
): Promise<boolean> {
  const rows = tailRows(await databases.streams(data.cluster), databases.control.name);
  const time = await clusterTime(data);
  const latest = performance.now() + CAUGHT_UP_WITHIN;
  for (;;) {
    const row = await readTail(rows);
    if (!row?.at || timeDigits(row.at) >= time) return true;
    if (performance.now() > latest || row.until.getTime() < databases.timeOf(data.cluster) - LAPSED) return false;
    await sleep(LOOK_EVERY, undefined, { signal });
  }
}

/** A lease that ended this long ago (ms) is not about to be taken by another gateway. */
const LAPSED = 5000;

/** Tells an organisation of the gap that it is owed, if any. @throws if its cluster does not respond */
export async function tellOwedGap(feeds: Control['feeds'], data: OrganisationData): Promise<void> {
  const { organisationId: id } = data;
  const feed = (await feeds.of([id])).get(id);
  if (!feed?.owed) return;
  const to = new Date(Math.max(Date.now(), feed.owed.getTime()));
  const row = { _id: positionOf(feed.epoch, await clusterTime(data), 0), ...gapEvent(feed.owed, to) };
  await data.prepare([events]);
  await nativeCollection(data.collection(events)).insertOne(row);
  await feeds.settleGap(id, feed.owed);
}
