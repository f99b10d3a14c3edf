import { setTimeout as sleep } from 'node:timers/promises';
import { CLOCK_SKEW } from '../../admin/webhooks';
import { isUnavailable } from '../../mongo/faults';
import type { OrganisationData } from '../../tenant/organisationData';
import { AppError } from '../../errors';
import {
  BEGINNING,
  cursorOf,
  positionBefore,
  readRecorded,
  type Recording,
  shownEvent,
  startOf,
  type WantedEvents,
} from '../../events/page';
import { readTailWithTime } from '../../events/tail/lease';
import { published } from '../../schema/model';
import { messageOf, untilStopped, usageFailure } from '../ending';
import type { OrgOption } from '../help';
import type { Store } from '../store';
import { createProblemReporter, note, escapeText, printSlowly } from '../terminal';
import { requireData, withStore } from '../withStore';

interface TailOptions extends OrgOption {
  readonly types?: readonly string[];
  readonly after?: string;
  readonly since?: Date;
}

/** How often to look for new events, in milliseconds. */
const POLL_EVERY = 500;
/** How many events to read at once. */
const PAGE = 100;

/** `scopegate events tail`. Resolves after it is stopped. */
export async function tailCommand({ org, types, after, since }: TailOptions): Promise<void> {
  const eventTypes = published.eventTypes.map(({ name }) => name);
  const unknown = types?.filter((type) => !eventTypes.includes(type)) ?? [];
  if (unknown.length > 0) throw usageFailure(`unknown type ${unknown.join(', ')}; types are ${eventTypes.join(', ')}`);
  const wanted = { types: types && new Set(types), objectId: undefined };
  /** The position to begin after: an event's id, which a cursor contains. @throws AppError for an invalid or expired cursor; CommandFailure */
  async function startingPosition(data: OrganisationData, source: Recording): Promise<string> {
    if (!since) return startOf(data, source, after === 'beginning' ? undefined : (after ?? 'now'));
    if (since.getTime() > data.now() + CLOCK_SKEW)
      throw usageFailure(`--since ${since.toISOString()} is in the future`);
    return positionBefore(data, since);
  }
  await untilStopped((signal) =>
    withStore((store) => follow(store, org, { wanted, startingPosition, signal }), signal),
  );
}

interface Following {
  readonly wanted: WantedEvents;
  readonly startingPosition: (data: OrganisationData, source: Recording) => Promise<string>;
  readonly signal: AbortSignal;
}

/** Prints events until the signal aborts, and then, or if it fails, how to continue. @throws AbortError */
async function follow(store: Store, org: string, { wanted, startingPosition, signal }: Following): Promise<void> {
  const reportProblem = createProblemReporter();
  let position: string | undefined;
  try {
    for (;;) {
      try {
        // read each time, since it may have been moved or erased meanwhile, which ends this
        const data = store.databases.organisationData(await requireData(store, org));
        const source = createSource(store);
        if (position === undefined) {
          position = await startingPosition(data, source);
          note('following the events; press Ctrl-C to stop');
        }
        const page = await readRecorded(data, source, wanted, { after: position, limit: PAGE });
        reportProblem(source.problem());
        for (const row of page.rows) {
          const line = JSON.stringify(shownEvent(data.organisationId, row));
          await printSlowly(`${escapeText(line)}\n`, signal);
          position = row._id;
        }
        position = page.next;
        if (page.hasMore) continue;
      } catch (error) {
        if (!isTemporary(error)) throw error;
        reportProblem(`waiting for the database: ${messageOf(error)}`);
      }
      await sleep(POLL_EVERY, undefined, { signal });
    }
  } finally {
    if (position !== undefined) {
      const from = position === BEGINNING ? 'beginning' : cursorOf({ organisationId: org }, position);
      note(`to go on from here: --after ${from}`);
    }
  }
}

/** Up to where events are recorded and, once readRecorded has asked that, what keeps others from being recorded. */
function createSource({ databases }: Store) {
  let problem: string | undefined;
  const source: Recording = {
    async recordedUntil() {
      const { row, time } = await readTailWithTime(databases);
      if (!row) problem = 'no gateway has recorded events yet; start one with scopegate serve';
      else if (row.fault !== undefined) problem = `events are not recorded: ${row.fault}`;
      else if (row.until.getTime() < databases.now())
        problem = 'no gateway is recording events; start one with scopegate serve';
      return { until: row?.at, time };
    },
  };
  return { ...source, problem: () => problem };
}

/** Whether an error goes away once the database can be reached, or is not overloaded, again. */
function isTemporary(error: unknown): boolean {
  return isUnavailable(error) || (error instanceof AppError && error.code === 'unavailable');
}
