import type { mongo } from 'mongoose';
import { atMost, READ_TIMEOUT } from '../mongo/native';
import type { OrganisationData } from '../tenant/organisationData';
import { badCursor, cursorMark, encodeCursor, positionIn } from '../tenant/pagination';
import { SETTLED_READ } from '../tenant/slots';
import { AppError } from '../errors';
import { DAY, EVENTS_KEPT_FOR, HOUR, MINUTE, SECOND } from '../units';
import { type EventRow, events } from './collection';
import { type Origin, shownOrigin } from './origin';
import { beginningOf, endOf, eventId, millisecondsOf, POSITION, timeDigits } from './position';

/* Pages of an organisation's events, for the feed, streams, webhooks and the command line. */

/** Advice for the sender of an invalid cursor. */
export const RESTART = 'begin with after=now, and then copy all objects again';
/** Stands for a cursor at the end of the feed. */
export const NOW = 'now';
/** The position before all events. */
export const BEGINNING = '0'.repeat(28);
/** Maximum number of events scanned for a page of selected types, or of some customers. */
const MAX_SCANNED = 5000;
/** Where a page of some customers may end in between their events, in milliseconds: the coarsest at which it gets on. */
const STEPS = [HOUR, MINUTE, SECOND];

export interface EventPage {
  readonly rows: readonly EventRow[];
  readonly hasMore: boolean;
  /** The position after which to go on, also if there is nothing more yet. */
  readonly next: string;
}

export interface WantedEvents {
  /** Undefined for all types. */
  readonly types: ReadonlySet<string> | undefined;
  readonly objectId: string | undefined;
}

/** How far the events of an organisation are recorded. */
interface Recorded {
  /** The time up to which all events are stored; undefined at first. */
  readonly until: { readonly t: number; readonly i: number } | undefined;
  /** A later time of the database, when they were; undefined if the server does not say. */
  readonly time: mongo.Timestamp | undefined;
}

export interface Recording {
  /** @throws AppError unavailable if none ever were, or the log cannot be read */
  recordedUntil(): Promise<Recorded>;
}

type OfOrganisation = Pick<OrganisationData, 'organisationId'>;

/** The cursor that continues after a position. */
export function cursorOf(data: OfOrganisation, position: string): string {
  return encodeCursor([position], markOf(data));
}

function markOf({ organisationId }: OfOrganisation): string {
  return cursorMark([organisationId, 'events']);
}

/** The position after which to read. @throws AppError invalid_request; cursor_expired; unavailable */
export async function startOf(
  data: OrganisationData,
  source: Recording,
  after: string | null | undefined,
): Promise<string> {
  if (after === null || after === undefined) return BEGINNING;
  if (after === NOW) return endOfFeed(data, source);
  const [position = '', ...others] = positionIn(after, markOf(data)) ?? [];
  if (!POSITION.test(position) || others.length > 0) throw badCursor('after', RESTART);
  if (position !== BEGINNING && millisecondsOf(position) < data.now() - EVENTS_KEPT_FOR) {
    const days = String(EVENTS_KEPT_FOR / DAY);
    throw new AppError(
      'cursor_expired',
      `This cursor is older than ${days} days, and events after it are no longer kept.`,
    );
  }
  return position;
}

/** The end of the feed, as a position that tells a key for some customers of no event of another. @throws AppError unavailable */
async function endOfFeed(data: OrganisationData, source: Recording): Promise<string> {
  const { until, time } = data.customerIds ? await source.recordedUntil() : {};
  if (!until) return lastPosition(data);
  return settledReads(data, [time], async (session) => {
    const end = endOf(timeDigits(until), await findLast(data, { session }));
    const options = { ...SETTLED_READ, session, projection: { _id: 1 }, maxTimeMS: READ_TIMEOUT } as const;
    const own = await data.collection(events).findOne({ _id: { $gt: end } }, { ...options, sort: { _id: -1 } });
    return own?._id ?? end;
  });
}

/** The position of the last event, whoever gets it; BEGINNING if there is none. */
export function lastPosition(data: OrganisationData): Promise<string> {
  return data.reads(() => findLast(data, {}));
}

async function findLast(data: OrganisationData, within: { readonly session?: mongo.ClientSession }): Promise<string> {
  const rows = data.whole.collection(events);
  const options = { ...SETTLED_READ, ...within, projection: { _id: 1 }, maxTimeMS: READ_TIMEOUT } as const;
  const last = await rows.findOne({}, { ...options, sort: { _id: -1 } });
  return last?._id ?? BEGINNING;
}

/** The position before the first event since a time; that of the last event if there is none. */
export async function positionBefore(data: OrganisationData, from: Date): Promise<string> {
  const rows = data.collection(events);
  const options = { ...SETTLED_READ, projection: { _id: 1 }, maxTimeMS: READ_TIMEOUT } as const;
  const first = await data.reads(() => rows.findOne({ at: { $gte: from } }, { ...options, sort: { at: 1, _id: 1 } }));
  if (!first) return lastPosition(data);
  const before = await data.reads(() => rows.findOne({ _id: { $lt: first._id } }, { ...options, sort: { _id: -1 } }));
  return before?._id ?? BEGINNING;
}

interface PageStart {
  readonly after: string;
  readonly limit: number;
  /** A time of the database: the read sees everything written until then. */
  readonly since?: mongo.Timestamp | undefined;
  /** How far events are known to be stored; the read sees them all. */
  readonly recorded?: Recorded;
  /** Whether `next` of the last page is the last event of all, wanted or not. With `recorded` it is that time anyway. */
  readonly skipsUnwanted?: boolean;
}

/**
 * Runs reads that see everything written until some times, and what those before them saw: majority reads alone may lag behind that, such as on
 * a server that has just become primary, or another shard than that of the row that says how far events are recorded.
 */
function settledReads<T>(
  data: OrganisationData,
  times: readonly (mongo.Timestamp | undefined)[],
  read: (session: mongo.ClientSession) => Promise<T>,
): Promise<T> {
  return data.reads(() =>
    data.client.withSession({ causalConsistency: true }, (session) => {
      for (const time of times) if (time) session.advanceOperationTime(time);
      return read(session);
    }),
  );
}

/** The wanted events after a position, oldest first, at most `limit`. */
export async function readEvents(
  data: OrganisationData,
  { types, objectId }: WantedEvents,
  { after, limit, since, recorded, skipsUnwanted = false }: PageStart,
): Promise<EventPage> {
  const rows = data.collection(events);
  return settledReads(data, [since, recorded?.time], async (session) => {
    const options = { ...SETTLED_READ, session, sort: { _id: 1 }, maxTimeMS: READ_TIMEOUT } as const;
    let bound: string | undefined;
    let lastOfAll = BEGINNING;
    // the events of one object are read by an index, and scan nothing else
    if ((types || data.customerIds) && objectId === undefined) {
      bound = await boundAfter(data, after, session);
      // read before the page, which then sees all events up to this one
      if (skipsUnwanted && bound === undefined) lastOfAll = await findLast(data, { session });
    }
    const filter = {
      _id: { $gt: after, ...(bound !== undefined && { $lte: bound }) },
      ...(types && { type: { $in: [...types] } }),
      ...(objectId !== undefined && { 'object.id': objectId }),
    };
    const rowsWithNext = await rows.find(filter, { ...options, ...atMost(limit + 1) }).toArray();
    const page = rowsWithNext.slice(0, limit);
    const last = page.at(-1)?._id ?? after;
    if (rowsWithNext.length > limit) return { rows: page, hasMore: true, next: last };
    if (bound !== undefined) return { rows: page, hasMore: true, next: bound };
    // moves the cursor on, so that it does not expire while there are no wanted events
    const end = recorded?.until ? endOf(timeDigits(recorded.until), last) : lastOfAll;
    return { rows: page, hasMore: false, next: end > last ? end : last };
  });
}

/**
 * The position up to which a page may scan; undefined if there are few events. A key for some customers may ask after any position, since anybody can
 * make cursors, so the position of an event would tell it when others change something: it gets that of a full hour, minute or second.
 */
async function boundAfter(
  data: OrganisationData,
  after: string,
  session: mongo.ClientSession,
): Promise<string | undefined> {
  const rows = data.whole.collection(events);
  const options = { ...SETTLED_READ, session, sort: { _id: 1 }, maxTimeMS: READ_TIMEOUT } as const;
  const beyond = { ...options, projection: { _id: 1 }, skip: MAX_SCANNED - 1 } as const;
  for (const step of data.customerIds ? STEPS : []) {
    const last = await rows.findOne({ _id: { $gt: beginningOf(after, step) } }, beyond);
    if (!last) return undefined;
    const bound = beginningOf(last._id, step);
    // as a cursor it must not be older than what is kept
    if (bound > after && millisecondsOf(bound) >= data.now() - EVENTS_KEPT_FOR) return bound;
  }
  return (await rows.findOne({ _id: { $gt: after } }, beyond))?._id;
}

/** Reads events. After the last one, the next page begins at the time up to which events are recorded. @throws AppError unavailable */
export async function readRecorded(
  data: OrganisationData,
  source: Recording,
  wanted: WantedEvents,
  start: Omit<PageStart, 'recorded'>,
): Promise<EventPage> {
  // asked first, so that all events up to this time are stored when the page is read
  const recorded = await source.recordedUntil();
  return readEvents(data, wanted, { ...start, recorded });
}

/** An event as callers get it; in webhooks, its members are the body. */
export interface ShownEvent extends Pick<EventRow, 'type' | 'object' | 'changes' | 'status'> {
  readonly id: string;
  readonly occurred_at: Date;
  readonly related: NonNullable<EventRow['related']> | null;
  readonly gap: NonNullable<EventRow['gap']> | null;
  readonly origin: Origin | null;
}

export function shownEvent(
  organisation: string,
  { _id, type, at, object, changes, status, related, gap, origin }: EventRow,
): ShownEvent {
  return {
    id: eventId(organisation, _id),
    type,
    occurred_at: at,
    object: object ?? null,
    changes,
    status: status ?? null,
    related: related ?? null,
    gap: gap ?? null,
    origin: shownOrigin(origin),
  };
}
