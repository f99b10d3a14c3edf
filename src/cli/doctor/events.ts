import { oldestInLog, openChanges, whyNoLog } from '../../database/changeCursor';
import { readTail, tailRows } from '../../events/tail/lease';
import { MINUTE } from '../../units';
import type { Store } from '../common/open';
import type { Check } from './check';

/** A log that is shorter, in milliseconds, has only just begun. */
const YOUNG = 10 * MINUTE;

interface Found {
  readonly detail: string;
  readonly fix?: string;
}

/**
 * Whether the log of each cluster that responds can be read, and how far the recording of its events is. Only warnings, since
 * everything but events is served.
 */
export async function checkEvents({ databases }: Store): Promise<Check | undefined> {
  const found = await Promise.all(databases.clusters.map((cluster) => look(databases, cluster)));
  const known = found.filter((one) => one !== undefined);
  if (known.length === 0) return undefined;
  const fixes = [...new Set(known.flatMap(({ fix }) => fix ?? []))];
  const detail = known.map((one) => one.detail).join('; ');
  return { name: 'events', ok: true, detail, ...(fixes.length > 0 && { fix: fixes.join('; ') }) };
}

/** Undefined if the cluster does not respond. */
async function look(databases: Store['databases'], cluster: string): Promise<Found | undefined> {
  try {
    const client = await databases.streams(cluster);
    // fails where nothing can be read, which is said already
    const row = await readTail(tailRows(client, databases.control.name));
    try {
      await (await openChanges(client, [])).close();
    } catch (error) {
      const reason = whyNoLog(error);
      if (reason === undefined) throw error;
      const fix = `run the servers of cluster ${cluster} as a replica set, and give the user the role readAnyDatabase (or a role with find and changeStream on all databases)`;
      return { detail: `${cluster}: events are not recorded, because ${reason}`, fix };
    }
    const now = databases.timeOf(cluster);
    const oldest = await oldestInLog(client);
    const log = oldest && now - oldest.t * 1000;
    const kept = log === undefined ? 'of a length that this user may not read' : `of ${seconds(log)}`;
    if (!row?.at) return { detail: `${cluster}: the log can be read; no gateway has recorded events yet` };
    const behind = Math.max(0, now - row.at.t * 1000);
    const detail = `${cluster}: recorded up to ${seconds(behind)} ago, from a log ${kept}`;
    if (log === undefined || log < YOUNG || behind < log / 2) return { detail };
    const fix = `start a gateway without EVENTS=off, or look for "recording events failed" in the logs of those that run, before the log of cluster ${cluster} loses what is not recorded; a larger log gives more time`;
    return { detail, fix };
  } catch {
    return undefined;
  }
}

function seconds(ms: number): string {
  return `${String(Math.round(ms / 1000))} s`;
}
