import type { mongo } from 'mongoose';
import { atMost } from '../mongo/native';
import { AppError } from '../errors';
import { type DeploymentFeed, cursorOfLog, type OrganisationEventRow, positionOfLog } from '../events/deploymentFeed';
import { shownEvent } from '../events/page';
import { eventId, timeDigits } from '../events/position';
import type { OrganisationForOperators } from '../organisations/organisationRows';
import { GAP } from '../schema/eventTypes';
import { type DeliveryRow, deliveryUpdate, OPEN_MEMBERS, type OpenRow } from './deliveries';
import type { FeedEntry, WorkFeed } from './feed';

/* The events that the operator's webhook is sent: those of all organisations, from the log of the database (docs/decisions/operator-webhook.md). */

/** A parked event: one that failed, or one behind it. It has what is sent, so that its organisation's database need not respond. */
export interface ParkedRow extends DeliveryRow, Pick<FeedEntry, 'shown'> {
  /** Null for a `feed.gap`, which is of all organisations. */
  readonly organisation_id: string | null;
  readonly is_test: boolean;
}

interface OperatorFeedOptions {
  readonly log: DeploymentFeed;
  readonly rows: mongo.Collection<ParkedRow>;
  readonly byIds: (ids: readonly string[]) => Promise<ReadonlyMap<string, OrganisationForOperators>>;
  readonly now: () => number;
  /** Called if the log no longer goes back to where the webhook stopped. */
  readonly onLost: (from: Date) => void;
}

interface OperatorEntry extends FeedEntry {
  /** Null for a `feed.gap`. */
  readonly organisationId: string | null;
}

export function createOperatorFeed({ log, rows, byIds, now, onLost }: OperatorFeedOptions): WorkFeed {
  /** The events of the last page, by event id, of which `save` stores those that are parked: a pass saves what it read before the next page is read. */
  const entryByEvent = new Map<string, OperatorEntry>();

  async function ofKnownOrganisations(events: readonly OrganisationEventRow[]): Promise<OperatorEntry[]> {
    const organisations =
      events.length === 0 ? undefined : await byIds([...new Set(events.map((event) => event.organisationId))]);
    return events.flatMap((event) => {
      const organisation = organisations?.get(event.organisationId);
      return organisation ? [entryOf(event, organisation)] : [];
    });
  }

  /** A page with one event, which says that history was lost since a position, and goes on at the end of the log. */
  async function gapPage(position: string) {
    const at = positionOfLog(position)?.at;
    const from = new Date(at ? at.t * 1000 : now());
    onLost(from);
    const { next } = await log.read(undefined, ALL_EVENTS, 1, 0);
    // after the read: what it found is in the gap
    const to = new Date(now());
    const time = at ? timeDigits(at) : '';
    const after = cursorOfLog(next);
    const shown = {
      id: eventId('operator', time),
      type: GAP,
      occurred_at: to,
      object: null,
      changes: [],
      status: null,
      related: null,
      gap: { from, to },
      origin: null,
      organisation_id: null,
      organisation_ref: null,
    };
    const entry = { position: `gap.${time}`, after, type: GAP, object: null, shown, organisationId: null };
    return { entries: [entry], hasMore: true, next: after };
  }

  async function read(position: string, limit: number) {
    try {
      const { events, hasMore, next } = await log.read(positionOfLog(position), ALL_EVENTS, limit, 0);
      return { entries: await ofKnownOrganisations(events), hasMore, next: cursorOfLog(next) };
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'cursor_expired') throw error;
      return gapPage(position);
    }
  }

  return {
    async next({ position }, limit) {
      const page = await read(position, limit);
      entryByEvent.clear();
      for (const entry of page.entries) entryByEvent.set(entry.shown.id, entry);
      return page;
    },
    async at(positions) {
      const ids = { $in: positions.map((position) => `${OPERATOR_ENDPOINT}.${position}`) };
      const parked = await rows.find({ _id: ids }).toArray();
      const organisations = await byIds([...new Set(parked.flatMap(({ organisation_id: id }) => id ?? []))]);
      const hasOrganisation = ({ organisation_id: id }: ParkedRow): boolean => id === null || organisations.has(id);
      const entries = parked.filter(hasOrganisation).map((row) => entryOfParked(row));
      return new Map(entries.map((entry) => [entry.position, entry]));
    },
    deliveries: {
      // all rows are open, as `save` deletes the others; by organisation, and of each in the order of its events
      open: (_endpoint, most): Promise<OpenRow[]> =>
        rows.find({}, { projection: OPEN_MEMBERS, sort: { _id: 1 }, ...atMost(most) }).toArray(),
      byIds: (ids) => rows.find({ _id: { $in: [...ids] } }, { sort: { _id: 1 } }).toArray(),
      async save(changed) {
        if (changed.length === 0) return;
        const writes = changed.map(({ _id, ...row }) => {
          const isOpen = row.state === 'waiting' || row.state === 'held';
          if (!isOpen) return { deleteOne: { filter: { _id } } };
          // of an event that is retried the row has these members already
          const entry = entryByEvent.get(row.event_id);
          const what = entry && {
            shown: entry.shown,
            organisation_id: entry.organisationId,
            is_test: entry.isTest ?? false,
          };
          const update = deliveryUpdate({ ...row, ...what });
          return { updateOne: { filter: { _id }, update, upsert: entry !== undefined } };
        });
        await rows.bulkWrite(writes, { ordered: false });
      },
      makeDue: async (_endpoint, at) => {
        await rows.updateMany({ state: 'waiting' }, { $set: { next_at: at } });
      },
    },
  };
}

/** The id of the operator's endpoint, with which the ids of its parked events begin. */
export const OPERATOR_ENDPOINT = 'operator';
const ALL_EVENTS = { types: undefined, organisationId: undefined } as const;

function entryOf(
  { organisationId, row, after }: OrganisationEventRow,
  organisation: OrganisationForOperators,
): OperatorEntry {
  const { external_ref, sandbox_of } = organisation;
  const shown = { ...shownEvent(organisationId, row), organisation_id: organisationId, organisation_ref: external_ref };
  return {
    position: `${organisationId}.${row._id}`,
    after: cursorOfLog(after),
    type: row.type,
    shown,
    organisationId,
    object: `${organisationId} ${row.object?.id ?? ''}`,
    isTest: sandbox_of !== undefined,
  };
}

/** Its `after` is never stored: retries do not move the position. */
function entryOfParked({
  _id,
  type,
  object_id,
  shown,
  organisation_id: organisationId,
  is_test,
}: ParkedRow): OperatorEntry {
  const position = _id.slice(OPERATOR_ENDPOINT.length + 1);
  return { position, after: '', type, object: object_id, shown, organisationId, isTest: is_test };
}
