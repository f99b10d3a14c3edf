import type { Scope } from '../access/scopes';
import type { RequestContext, WantedEvents } from '../context';
import { nativeCollection } from '../database/native';
import type { OrganisationData } from '../database/organisationData';
import { badCursor, cursorMark, DEFAULT_LIMIT, encodeCursor, positionIn } from '../database/pagination';
import { SETTLED_READ } from '../database/slots';
import { timeOf } from '../database/clock';
import { AppError } from '../errors';
import { type EventRow, events, KEPT_FOR } from './collection';
import { endOf, eventId, millisecondsOf, POSITION, timeDigits } from './position';
import { EVENT_TYPES } from './types';

/* The feed of an organisation's events (contract, section 12). */

export interface FeedArguments {
  readonly types?: readonly string[] | null;
  readonly object_id?: string | null;
  readonly after?: string | null;
  readonly limit?: number | null;
  readonly wait?: number | null;
}

export interface EventFeed {
  readonly data: readonly object[];
  readonly has_more: boolean;
  readonly next_cursor: string;
}

/** What to do about a cursor that is none. */
const AGAIN = 'begin with after=now, and then copy all objects again';
/** In place of a cursor: what happens from now on. */
const NOW = 'now';
/** Before all events. */
export const BEGINNING = '0'.repeat(28);
/** Events that are looked at for one page. */
const MOST_LOOKED_AT = 5000;
/** How long a page may take the database, in milliseconds. */
const READ_WITHIN = 10_000;

export const feedResolvers = {
  Query: {
    events: async (_: unknown, args: FeedArguments, context: RequestContext): Promise<EventFeed> => {
      const { data, principal, events: source } = context;
      // the guard admits only keys
      if (principal.kind !== 'key' || !source) throw new Error('events was called without a key');
      const wanted = wantedBy(args, principal.scopes);
      const limit = args.limit ?? DEFAULT_LIMIT;
      let after = await startOf(data, args.after);
      const look = async (): Promise<boolean> => {
        // before the events, all of which up to its time are stored
        const until = await source.recordedUntil();
        page = await readEvents(data, wanted, { after, limit, until });
        after = page.next;
        return page.rows.length > 0 || page.hasMore;
      };
      let page: Page = { rows: [], hasMore: false, next: after };
      if (!(await look()) && args.wait) await source.wait(args.wait * 1000, wanted, look);
      return {
        data: page.rows.map((row) => shownEvent(data.organisationId, row)),
        has_more: page.hasMore,
        next_cursor: encodeCursor([page.next], markOf(data)),
      };
    },
  },
};

/** @throws AppError insufficient_scope if the key may not hear of a type that is asked for */
function wantedBy({ types, object_id: id }: FeedArguments, scopes: ReadonlySet<Scope>): WantedEvents {
  const hidden = EVENT_TYPES.filter(({ scope }) => scope !== undefined && !scopes.has(scope));
  const asked = types && new Set(types);
  const refused = asked && hidden.find(({ name }) => asked.has(name));
  if (refused?.scope !== undefined) {
    const detail = `Events of the type ${refused.name} need a key with the scope ${refused.scope}.`;
    throw new AppError('insufficient_scope', detail, { requiredScope: refused.scope });
  }
  const shownTypes = EVENT_TYPES.filter((type) => !hidden.includes(type)).map(({ name }) => name);
  const all = hidden.length === 0 ? undefined : new Set(shownTypes);
  return { types: asked ?? all, objectId: id?.toLowerCase() };
}

function markOf({ organisationId }: OrganisationData): string {
  return cursorMark([organisationId, 'events']);
}

/** The position to read after. @throws AppError invalid_request; cursor_expired */
async function startOf(data: OrganisationData, after: string | null | undefined): Promise<string> {
  if (after === null || after === undefined) return BEGINNING;
  if (after === NOW) return lastPosition(data);
  const [position = '', ...others] = positionIn(after, markOf(data)) ?? [];
  if (!POSITION.test(position) || others.length > 0) throw badCursor('after', AGAIN);
  if (position !== BEGINNING && millisecondsOf(position) < timeOf(data.connection) - KEPT_FOR) {
    throw new AppError('cursor_expired', 'This cursor is older than 30 days, and events after it are no longer kept.');
  }
  return position;
}

/** The position of the last event. */
export async function lastPosition(data: OrganisationData): Promise<string> {
  const rows = nativeCollection(data.collection(events));
  const options = { ...SETTLED_READ, sort: { _id: -1 }, projection: { _id: 1 } } as const;
  const last = await data.reads(() => rows.findOne({}, options));
  return (last as Pick<EventRow, '_id'> | null)?._id ?? BEGINNING;
}

export interface Page {
  readonly rows: readonly EventRow[];
  readonly hasMore: boolean;
  /** The position to go on after. */
  readonly next: string;
}

export interface PageStart {
  readonly after: string;
  readonly limit: number;
  /** All events up to this time are known to be stored. */
  readonly until?: { readonly t: number; readonly i: number } | undefined;
}

/** The events after a position that are wanted, oldest first. */
export async function readEvents(
  data: OrganisationData,
  { types, objectId }: WantedEvents,
  { after, limit, until }: PageStart,
): Promise<Page> {
  const rows = nativeCollection(data.collection(events));
  const options = { ...SETTLED_READ, sort: { _id: 1 }, maxTimeMS: READ_WITHIN } as const;
  return data.reads(async () => {
    let bound: string | undefined;
    if (types && objectId === undefined) {
      const beyond = { ...options, projection: { _id: 1 }, skip: MOST_LOOKED_AT - 1 } as const;
      bound = (await rows.findOne({ _id: { $gt: after } }, beyond))?._id;
    }
    const filter = {
      _id: { $gt: after, ...(bound !== undefined && { $lte: bound }) },
      ...(types && { type: { $in: [...types] } }),
      ...(objectId !== undefined && { 'object.id': objectId }),
    };
    const found = await rows.find(filter, { ...options, limit: limit + 1 }).toArray();
    const page = found.slice(0, limit);
    const last = page.at(-1)?._id ?? after;
    if (found.length > limit) return { rows: page, hasMore: true, next: last };
    if (bound !== undefined) return { rows: page, hasMore: true, next: bound };
    // so that the cursor of a caller whom nothing concerns does not expire
    const end = until && endOf(timeDigits(until), last);
    return { rows: page, hasMore: false, next: end !== undefined && end > last ? end : last };
  });
}

/** An event as callers see it. */
export function shownEvent(
  organisation: string,
  { _id, type, at, object, changes, status, gap }: EventRow,
): { readonly id: string } {
  return {
    ...{ id: eventId(organisation, _id), type, occurred_at: at },
    ...{ object: object ?? null, changes, status: status ?? null, gap: gap ?? null },
  };
}
