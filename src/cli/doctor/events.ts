import type { mongo } from 'mongoose';
import { isRecordingOff, readTail, type TailRow } from '../../events/tail/lease';
import { oldestInLog, openChanges, whyLogUnreadable } from '../../mongo/changeCursor';
import { MINUTE, SECOND } from '../../units';
import type { Config } from '../../config';
import { isOnAtlas } from '../connection';
import type { Store } from '../store';
import { type Check, type CheckResult, type DoctorContext, examine, Finding, RUN_AGAIN } from './check';
import { seconds } from './servers';

/* Whether the changes of the database are recorded as events. */

/** A log shorter than this, in milliseconds, has only just begun. */
const YOUNG = 10 * MINUTE;
/** A gateway that was seen this long ago, in milliseconds, runs: each shows itself every 10 s. */
const RUNS = 30 * SECOND;

const FIX = {
  log: 'run the servers as a replica set, and give the user the role readAnyDatabase (or a role with find and changeStream on all databases); if nobody needs events, set EVENTS=off on every gateway',
  late: 'start a gateway without EVENTS=off, or look for "recording events failed" in the logs of the running gateways, before the unrecorded events drop out of the log; a larger log gives more time',
  off: 'start a gateway without EVENTS=off, or look for "events are not recorded" and "recording events failed" in the logs of the running gateways; if nobody needs events, set EVENTS=off on every gateway and here',
  length:
    'give the user the role read on the database local: db.getSiblingDB("admin").grantRolesToUser("USER", [{role: "read", db: "local"}])',
  lengthOnAtlas: 'give the user the role clusterMonitor in Atlas, under Database Access',
} as const;

/**
 * Whether the log can be read, and whether running gateways record events, if somebody is to get them: with EVENTS=off here and without
 * webhook endpoints, nobody is.
 */
export function checkEvents({ store, config }: DoctorContext): Promise<Check> {
  return examine('events', RUN_AGAIN, async () => {
    const isWanted = config.EVENTS === 'on' || (await hasReceivers(store));
    const state = await recordingState(store.databases, isWanted, config);
    // without the fix, no warning: what is amiss harms nobody then
    return isWanted ? state : { detail: state.detail };
  });
}

/** Whether there is a webhook endpoint that is not disabled. */
async function hasReceivers({ control }: Store): Promise<boolean> {
  return [...(await control.webhooks.counts())].some(([state, count]) => state !== 'disabled' && count > 0);
}

/** @throws Finding if events are wanted, and are not recorded */
async function recordingState(databases: Store['databases'], isWanted: boolean, config: Config): Promise<CheckResult> {
  const client = await databases.streams();
  const row = await readTail(databases);
  const unreadable = await whyUnreadable(client);
  if (unreadable !== undefined) {
    const detail = `events are not recorded, because ${unreadable}`;
    if (isWanted) throw new Finding(detail, FIX.log);
    return { detail };
  }
  const now = databases.now();
  const seen = await databases.gatewaySeenAt();
  if (seen && now - seen.getTime() < RUNS && (!row || isRecordingOff(row, now))) {
    if (isWanted) throw new Finding(`gateways run, but ${whyOff(row, now)}`, FIX.off);
    return { detail: 'no gateway records events: EVENTS is off here too, and there are no webhook endpoints' };
  }
  const oldest = databases.shards ? undefined : await oldestInLog(client);
  const length = oldest && now - oldest.t * SECOND;
  const isLengthHidden = !databases.shards && length === undefined;
  const fixOfLength = isOnAtlas(config) ? FIX.lengthOnAtlas : FIX.length;
  const kept = databases.shards
    ? 'how far back the logs go is known on each shard (rs.printReplicationInfo())'
    : length === undefined
      ? 'this user may not read how far back the log goes'
      : `the log goes back ${seconds(length)}`;
  if (!row?.at) {
    const detail = 'the log can be read; no gateway has recorded events yet';
    return isLengthHidden ? { detail: `${detail}; ${kept}`, fix: fixOfLength } : { detail };
  }
  const behind = Math.max(0, now - row.at.t * SECOND);
  const detail = `recorded up to ${seconds(behind)} ago; ${kept}`;
  if (isLengthHidden) return { detail, fix: fixOfLength };
  // from when half of the log has passed unrecorded
  const isLate = length !== undefined && length >= YOUNG && behind >= length / 2;
  return isLate ? { detail, fix: FIX.late } : { detail };
}

/** Why this user cannot read the log, in a clause; undefined if it can. @throws what says nothing about that */
async function whyUnreadable(client: mongo.MongoClient): Promise<string | undefined> {
  try {
    await (await openChanges(client, [])).close();
    return undefined;
  } catch (error) {
    const reason = whyLogUnreadable(error);
    if (reason === undefined) throw error;
    return reason;
  }
}

function whyOff(row: TailRow | null, now: number): string {
  if (row?.fault !== undefined) return `they cannot record events: ${row.fault}`;
  return row?.at ? `none has recorded events for ${seconds(now - row.at.t * SECOND)}` : 'none has ever recorded events';
}
