import type { mongo } from 'mongoose';
import type { Token } from '../../mongo/changeCursor';
import { openWrites, type Writer } from '../../tenant/slots';
import { UUID } from '../../units';
import { WITHOUT_LINE } from '../../organisations/auditLine';
import { AUDIT_EVENTS } from '../../organisations/auditRows';
import { GAP, type PublicCollection } from '../../schema/eventTypes';
import { published } from '../../schema/model';
import { ERASED_AT } from '../../schema/personal';
import { customerColumn } from '../../schema/restricted';
import type { EventRow } from '../collection';

/* Changes as the database's log (its change stream) has them, and the events they become. */

/** A change as {@link stagesFor} projects it: names of members, and no values but the status. */
export interface Change {
  readonly _id: Token;
  readonly operationType: string;
  readonly clusterTime: mongo.Timestamp;
  /** When it was committed. */
  readonly wallTime: Date;
  readonly ns: { readonly db: string; readonly coll?: string };
  /** The new name of a collection that was renamed. */
  readonly to?: { readonly db: string; readonly coll: string };
  readonly documentKey?: { readonly _id: unknown };
  /** For an inserted or replaced row: the members that say whose it is, such as `request_id` and `customer_id`. */
  readonly fullDocument?: Readonly<Record<string, unknown>>;
  /** The same members as an update set them. */
  readonly set?: Readonly<Record<string, unknown>>;
  /** Paths of the members that an update set, removed or truncated. */
  readonly paths?: readonly string[];
  /** What the change sets the status, and the time of erasure, to. */
  readonly status?: unknown;
  readonly [ERASED_AT]?: unknown;
  /** The transaction that it is part of, if any. */
  readonly lsid?: { readonly id: mongo.Binary };
  readonly txnNumber?: number | mongo.Long;
  /** Of a row of `open_writes`: who writes in its transaction. */
  readonly by?: Writer;
}

/** A change with its place in the log. */
export interface LoggedChange {
  readonly change: Change;
  /** Its cluster time as digits (position.ts). */
  readonly time: string;
  /** Its ordinal at that time, from 1; 0 is for a gap before it. */
  readonly ordinal: number;
  /** Who wrote it through a gateway or the command line; undefined for another program. */
  readonly by?: Writer | undefined;
}

/** The collection of the control database with the row of the tail. */
export const TAILS = 'event_tails';

/** How the names of organisations' databases begin; matching whole names makes reading half as dear again (docs/decisions/events.md). */
export const OF_ORGANISATION = /^org_/;
/** What a server ends a stream with, which then goes on after it; said to happen on MongoDB 6.0 and 7.0 when a database is moved. */
export const END = 'invalidate';
/** Operations that remove whole collections; before a database is dropped, each of its collections is. */
const DROPS = ['drop', 'rename'];
export const isDrop = ({ operationType }: Pick<Change, 'operationType'>): boolean => DROPS.includes(operationType);

/**
 * The filter and projection of the log; `control` is the name of the control database. What passes the filter counts in ordinals, which are part of
 * events' ids (tail.ts): what a version adds to it must not count while a gateway of the version before may record the same changes.
 */
export function stagesFor(control: string): object[] {
  const kinds = ['insert', 'update', 'replace', 'delete', ...DROPS];
  const updated = '$updateDescription.updatedFields';
  // the members that say whose a row is: `_id` stands for none, which every change has
  const refers = [...published.collections.values()].flatMap(({ part, restriction }): [string, unknown][] => {
    const column = customerColumn(restriction) ?? '_id';
    const whose: [string, unknown][] = [
      [`fullDocument.${column}`, 1],
      [`set.${column}`, `${updated}.${column}`],
    ];
    return [...(part ? [[`fullDocument.${part.member}`, 1] as [string, 1]] : []), ...(column === '_id' ? [] : whose)];
  });
  const ofOrganisations = {
    'ns.db': OF_ORGANISATION,
    'ns.coll': { $in: [...published.collections.keys()] },
    operationType: { $in: kinds },
  };
  // $out does this, too
  const renamed = {
    operationType: 'rename',
    'to.db': OF_ORGANISATION,
    'to.coll': { $in: [...published.collections.keys()] },
  };
  // the end of each write, in its transaction (slots.ts)
  const writers = {
    'ns.db': OF_ORGANISATION,
    'ns.coll': openWrites.name,
    operationType: 'update',
    'updateDescription.updatedFields.by': { $exists: true },
  };
  // an update is of an event that was repeated within the hour
  const audited = {
    'ns.db': control,
    'ns.coll': AUDIT_EVENTS,
    operationType: { $in: ['insert', 'update'] },
    'fullDocument.action': { $ne: WITHOUT_LINE },
  };
  const renewals = { 'ns.db': control, 'ns.coll': TAILS };
  const listed = (name: string): object => ({ $ifNull: [`$updateDescription.${name}`, []] });
  const names = (input: object, name: string): object => ({ $map: { input, in: `$$this.${name}` } });
  return [
    { $match: { $or: [ofOrganisations, renamed, writers, audited, renewals, { operationType: END }] } },
    {
      $project: {
        operationType: 1,
        clusterTime: 1,
        wallTime: 1,
        ns: 1,
        to: 1,
        'documentKey._id': 1,
        'lsid.id': 1,
        txnNumber: 1,
        by: `${updated}.by`,
        ...Object.fromEntries(refers),
        // one list is cheaper to decode than the description of an update, of which most parts are empty
        paths: {
          $concatArrays: [
            names({ $objectToArray: { $ifNull: [updated, {}] } }, 'k'),
            listed('removedFields'),
            names(listed('truncatedArrays'), 'field'),
          ],
        },
        status: { $ifNull: ['$fullDocument.status', `${updated}.status`] },
        [ERASED_AT]: `${updated}.${ERASED_AT}`,
      },
    },
  ];
}

/** Parts of changes, each of which ends with a drop, but for the last. */
export function upToDrops(changes: readonly LoggedChange[]): LoggedChange[][] {
  const parts: LoggedChange[][] = [[]];
  for (const logged of changes) {
    parts.at(-1)?.push(logged);
    if (isDrop(logged.change)) parts.push([]);
  }
  return parts.filter((part) => part.length > 0);
}

export function collectionOf({ ns, to }: Pick<Change, 'ns' | 'to'>): PublicCollection | undefined {
  return published.collections.get(ns.coll ?? '') ?? published.collections.get(to?.coll ?? '');
}

/** Whether an id is one of ours; objects with another have no events, since callers cannot read them. */
export function isId(id: unknown): id is string {
  return typeof id === 'string' && UUID.test(id);
}

/** The members that callers can see of those that an update changed. */
export function changedMembers({ paths = [] }: Change, { members }: PublicCollection): string[] {
  const names = new Set(paths.map((path) => path.split('.', 1)[0] ?? ''));
  return [...members].filter((name) => names.has(name));
}

/** What the log leaves out: the status of the object before the change and now, or the owner of a part. */
export interface ChangeContext {
  /** Undefined if it is not known. */
  readonly before: string | undefined;
  /** Null if the object has none, or is deleted. */
  readonly now: string | null;
  readonly owner?: unknown;
}

/** The event of a change; undefined if it has none. */
export function toEvent(change: Change, context: ChangeContext): Omit<EventRow, '_id'> | undefined {
  const collection = collectionOf(change);
  if (!collection) return undefined;
  const at = change.wallTime;
  if (isDrop(change)) return gapEvent(at, at);
  const { object: type, part, hasStatus } = collection;
  const { operationType } = change;
  if (part) {
    const id = operationType === 'update' ? context.owner : change.fullDocument?.[part.member];
    // the log does not say what a deleted row belonged to
    if (!isId(id) || operationType === 'delete') return undefined;
    const partId = change.documentKey?._id;
    const related = isId(partId) && { related: { type: part.name, id: partId } };
    const event = { at, object: { type, id }, status: context.now, ...related };
    if (operationType === 'insert') return { ...event, type: part.added, changes: [] };
    const isChanged = operationType === 'replace' || changedMembers(change, collection).length > 0;
    return isChanged ? { ...event, type: `${type}.updated`, changes: [collection.collection] } : undefined;
  }
  const id = change.documentKey?._id;
  if (!isId(id)) return undefined;
  const object = { type, id };
  const event = (what: string, changes: readonly string[], status: unknown) => ({
    type: `${type}.${what}`,
    at,
    object,
    changes,
    status: hasStatus && typeof status === 'string' ? status : null,
  });
  switch (operationType) {
    case 'insert':
      return event('created', [], change.status);
    case 'delete':
      return event('deleted', [], null);
    case 'replace': {
      // the log does not say what a replacement changed
      const changes = [...collection.members].filter((name) => name !== 'status' || change.status !== context.before);
      return event(changes.includes('status') ? 'status_changed' : 'updated', changes, change.status);
    }
    case 'update': {
      const changes = changedMembers(change, collection);
      if (changes.length === 0) return undefined;
      if (change[ERASED_AT]) return event('erased', changes, context.now);
      if (!hasStatus || !changes.includes('status')) return event('updated', changes, context.now);
      return event('status_changed', changes, change.status);
    }
    default:
      return undefined;
  }
}

/** Stands for the time since when history is lost if nothing that was told before can be relied on, as after a restore. */
export const EVER = new Date(0);
export const isEver = (from: Date): boolean => from.getTime() === EVER.getTime();

/** The event that says that history was lost between two times; they are equal if only a new copy helps. */
export function gapEvent(from: Date, to: Date): Omit<EventRow, '_id'> {
  return { type: GAP, at: to, object: null, changes: [], status: null, gap: { from: isEver(from) ? to : from, to } };
}
