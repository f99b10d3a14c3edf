import { setTimeout as sleep } from 'node:timers/promises';
import { isUnavailable } from '../../database/faults';
import type { OrganisationData } from '../../database/organisationData';
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
import { readTail, tailRows } from '../../events/tail/lease';
import { EVENT_TYPES } from '../../events/types';
import { messageOf, usageFailure } from '../common/failure';
import type { OrgOption } from '../common/help';
import type { Store } from '../common/open';
import { note, plain, printSlowly } from '../common/terminal';
import { requireOrganisation, withStore } from '../common/withStore';
import { createTrouble, untilStopped } from './untilStopped';

interface TailOptions extends OrgOption {
  readonly types?: readonly string[];
  readonly after?: string;
  readonly since?: Date;
}

/** How often it looks for events, in milliseconds. */
const LOOK_EVERY = 500;
/** How often it looks up where the organisation's data are, since it may be moved, in milliseconds. */
const PLACED_FOR = 2000;
/** Events that are read at once. */
const PAGE = 100;

/** `scopegate events tail`. Resolves after it is stopped. */
export async function tailCommand({ org, types, after, since }: TailOptions): Promise<void> {
  const known = EVENT_TYPES.map(({ name }) => name);
  const unknown = types?.filter((type) => !known.includes(type)) ?? [];
  if (unknown.length > 0) throw usageFailure(`unknown type ${unknown.join(', ')}; types are ${known.join(', ')}`);
  const wanted = { types: types && new Set(types), objectId: undefined };
  /** The position to begin after. @throws AppError for a cursor that is none, or too old */
  const from = (data: OrganisationData): Promise<string> =>
    since ? positionBefore(data, since) : startOf(data, after === 'beginning' ? undefined : (after ?? 'now'));
  await untilStopped((signal) => withStore((store) => follow(store, org, { wanted, from, signal }), signal));
}

interface Following {
  readonly wanted: WantedEvents;
  readonly from: (data: OrganisationData) => Promise<string>;
  readonly signal: AbortSignal;
}

async function follow(store: Store, org: string, { wanted, from, signal }: Following): Promise<void> {
  const placed = placeOf(store, org);
  const trouble = createTrouble();
  let position: string | undefined;
  try {
    for (;;) {
      try {
        const data = await placed.data();
        if (position === undefined) {
          position = await from(data);
          note('following the events; press Ctrl-C to stop');
        }
        const source = sourceOf(store, data);
        const page = await readRecorded(data, source, wanted, { after: position, limit: PAGE });
        trouble.is(source.trouble());
        for (const row of page.rows) {
          const line = JSON.stringify(shownEvent(data.organisationId, row));
          await printSlowly(`${plain(line)}\n`, signal);
          position = row._id;
        }
        position = page.next;
        if (page.hasMore) continue;
      } catch (error) {
        if (!isPassing(error)) throw error;
        placed.forget();
        trouble.is(`waiting for the database: ${messageOf(error)}`);
      }
      await sleep(LOOK_EVERY, undefined, { signal });
    }
  } finally {
    if (position !== undefined) {
      const from = position === BEGINNING ? 'beginning' : cursorOf({ organisationId: org }, position);
      note(`to go on from here: --after ${from}`);
    }
  }
}

/** The organisation's data, wherever they are now. */
function placeOf(store: Store, org: string) {
  let known: OrganisationData | undefined;
  let knownAt = 0;
  return {
    /** @throws CommandFailure if the organisation is not there, or is being erased */
    async data(): Promise<OrganisationData> {
      if (!known || performance.now() - knownAt > PLACED_FOR) {
        known = await store.databases.open(await requireOrganisation(store, org));
        knownAt = performance.now();
      }
      return known;
    },
    forget(): void {
      known = undefined;
    },
  };
}

/** How far events are recorded, and then what keeps them from being recorded. */
function sourceOf({ databases }: Store, { cluster }: OrganisationData) {
  let trouble: string | undefined;
  const source: Recording = {
    async recordedUntil() {
      const row = await readTail(tailRows(await databases.streams(cluster), databases.control.name));
      if (!row) trouble = 'no gateway has recorded events yet; start one with scopegate serve';
      else if (row.fault !== undefined) trouble = `events are not recorded: ${row.fault}`;
      else if (row.until.getTime() < databases.timeOf(cluster))
        trouble = 'no gateway is recording events; start one with scopegate serve';
      return row?.at;
    },
  };
  return { ...source, trouble: () => trouble };
}

/** Whether an error ends when the database can be reached again, or the organisation has been moved. */
function isPassing(error: unknown): boolean {
  return isUnavailable(error) || (error instanceof AppError && error.code === 'unavailable');
}
