import mongoose from 'mongoose';
import { isLostHistory, openChanges, type LogPosition, resumeChanges, type Token } from '../mongo/changeCursor';
import type { Databases } from '../tenant/databases';
import { createSemaphore } from '../async/semaphore';
import { databaseName, organisationOf } from '../mongo/databaseNames';
import { badCursor, cursorMark, encodeCursor, positionIn } from '../tenant/pagination';
import { AppError } from '../errors';
import { type EventRow, events } from './collection';
import { NOW, RESTART } from './page';
import { timeDigits } from './position';
import { END, OF_ORGANISATION, TAILS } from './tail/changes';

/*
 * The events of all organisations, in the order in which they were stored, read from the database's log: so none is stored a second time
 * (docs/decisions/operator-feed.md).
 */

export interface FeedFilter {
  /** Undefined for all types. */
  readonly types: ReadonlySet<string> | undefined;
  /** Undefined for all organisations. */
  readonly organisationId: string | undefined;
}

/** An event of one of the organisations. */
export interface OrganisationEventRow {
  readonly organisationId: string;
  readonly row: EventRow;
  /** Where reading goes on after it. */
  readonly after: LogPosition;
}

export interface DeploymentPage {
  readonly events: readonly OrganisationEventRow[];
  readonly hasMore: boolean;
  readonly next: LogPosition;
}

/** For how long a read waits for an event, in milliseconds; without one by then, its page is empty. The tail's renewals come as often (stagesOf). */
export type Patience = 0 | 2000;

/** Reads at once on a gateway: each holds a connection. */
export const READS_AT_ONCE = 4;
/** How long a read goes on through changes that are no wanted events, in milliseconds. */
const LONGEST = 2000;
/** How long the server waits for a change in a read that is not patient, in milliseconds: on a sharded cluster each shard has to answer. */
const SHORT_WAIT = 200;

const CURSOR_MARK = cursorMark(['operator', 'events']);
/** A resume token: a few hundred hexadecimal digits from MongoDB, base64 from other servers. */
const TOKEN = /^[0-9A-Za-z+/=]{1,1500}$/;
const TIME = /^[0-9a-f]{16}$/;

/** A change in the log: an event that was stored, or one without `fullDocument` that only moves the position on. */
interface EventInsert {
  readonly _id: Token;
  readonly operationType: string;
  readonly clusterTime: mongoose.mongo.Timestamp;
  readonly ns?: { readonly db: string; readonly coll?: string };
  readonly fullDocument?: EventRow;
}

export type DeploymentFeed = ReturnType<typeof createDeploymentFeed>;

export function createDeploymentFeed({ streams, control }: Pick<Databases, 'streams' | 'control'>) {
  const semaphore = createSemaphore(READS_AT_ONCE);

  async function read(position: LogPosition | undefined, wanted: FeedFilter, limit: number, patience: Patience) {
    const client = await streams();
    const stages = stagesOf(control.name, wanted);
    // half, so that a page is late by half the patience at most
    const reading = { batch: limit + 1, wait: patience === 0 ? SHORT_WAIT : patience / 2 };
    const cursor = position
      ? await resumeChanges<EventInsert>(client, stages, position, reading)
      : await openChanges<EventInsert>(client, stages, reading);
    if (!cursor) throw expired();
    try {
      return await pageOf(cursor, position, limit, patience);
    } catch (error) {
      throw position && isLostHistory(error) ? expired() : error;
    } finally {
      await cursor.close();
    }
  }

  return {
    /**
     * A page of wanted events after a position, which is undefined for the end of the log. @throws AppError cursor_expired if the log does not
     * go back that far
     */
    read: (position: LogPosition | undefined, wanted: FeedFilter, limit: number, patience: Patience) =>
      semaphore(() => read(position, wanted, limit, patience)),
  };
}

async function pageOf(
  cursor: Awaited<ReturnType<typeof openChanges<EventInsert>>>,
  position: LogPosition | undefined,
  limit: number,
  patience: Patience,
): Promise<DeploymentPage> {
  const collected: OrganisationEventRow[] = [];
  // of the position: how late reading is, and where a gap begins, follow from it; reading goes on by the token alone
  let at = cursor.openedAt;
  const began = performance.now();
  const { token: openedAfter } = cursor;
  let next = position ?? (openedAfter && { token: openedAfter, ...(at && { at }) });
  for (;;) {
    const batch = await cursor.next();
    for (const notice of batch) {
      const event = eventOf(notice);
      if (event && collected.length === limit && next) return { events: collected, hasMore: true, next };
      if (event) collected.push(event);
      at = notice.clusterTime;
      next = { token: notice._id, at };
      // the server has closed the stream; another one goes on from here
      if (notice.operationType === END) return { events: collected, hasMore: true, next };
    }
    const took = performance.now() - began;
    // a reply that is not full (see `batch` in read) is the end of the log
    const isEnd = batch.length <= limit;
    if (!isEnd && took < LONGEST) continue;
    if (isEnd && collected.length === 0 && took < patience) continue;
    const reached = cursor.reached();
    // past the changes that the stages leave out
    if (isEnd && reached) next = { token: reached, ...(at && { at }) };
    if (!next) throw new Error('the server does not say where a stream of changes is');
    return { events: collected, hasMore: !isEnd, next };
  }
}

function stagesOf(control: string, { types, organisationId }: FeedFilter): object[] {
  const ours = {
    'ns.db': organisationId === undefined ? OF_ORGANISATION : databaseName(organisationId),
    'ns.coll': events.name,
    operationType: 'insert',
    ...(types && { 'fullDocument.type': { $in: [...types] } }),
  };
  // the tail renews its lease every 2 s: so that a reply comes and the position moves on however long nothing else matches
  const renewed = { 'ns.db': control, 'ns.coll': TAILS };
  return [
    { $match: { $or: [ours, renewed, { operationType: END }] } },
    { $project: { operationType: 1, clusterTime: 1, ns: 1, fullDocument: 1 } },
  ];
}

function eventOf({
  _id: token,
  clusterTime: at,
  ns,
  fullDocument: row,
}: EventInsert): OrganisationEventRow | undefined {
  const organisationId = organisationOf(ns?.db ?? '');
  return organisationId !== undefined && row ? { organisationId, row, after: { token, at } } : undefined;
}

/** The cursor that continues after a position in the log. */
export function cursorOfLog({ token, at }: LogPosition): string {
  const { _data: data } = token;
  if (typeof data !== 'string' || !TOKEN.test(data)) throw new Error('the server has a resume token of another form');
  return encodeCursor([data, at ? timeDigits(at) : ''], CURSOR_MARK);
}

/** The position of a cursor; undefined for the end of the log. @throws AppError invalid_request */
export function positionOfLog(after: string | null | undefined): LogPosition | undefined {
  if (after === null || after === undefined || after === NOW) return undefined;
  const [data = '', time = '', ...others] = positionIn(after, CURSOR_MARK) ?? [];
  if (!TOKEN.test(data) || !(time === '' || TIME.test(time)) || others.length > 0) throw badCursor('after', RESTART);
  if (time === '') return { token: { _data: data } };
  const at = { t: parseInt(time.slice(0, 8), 16), i: parseInt(time.slice(8), 16) };
  return { token: { _data: data }, at: new mongoose.mongo.Timestamp(at) };
}

function expired(): AppError {
  const detail =
    "The log of the database no longer goes back to this cursor. Begin with after=now, and read what was missed from each organisation's own events.";
  return new AppError('cursor_expired', detail);
}
