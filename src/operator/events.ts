import type { OrganisationForOperators } from '../organisations/organisationRows';
import type { OrganisationDataCache } from '../tenant/organisationDataCache';
import { AppError, invalidRequest, movingError } from '../errors';
import {
  type DeploymentFeed,
  type DeploymentPage,
  cursorOfLog,
  type OrganisationEventRow,
  type Patience,
  positionOfLog,
} from '../events/deploymentFeed';
import type { EventRow } from '../events/collection';
import { shownEvent } from '../events/page';
import type { EventSource } from '../events/source';
import type { Waiting, WaitingCaller } from '../events/waiting';
import type { CallContext } from '../operations/context';

/* The events of all organisations, for operators (docs/decisions/operator-feed.md). */

export type FeedCaller = Omit<WaitingCaller, 'organisationId'>;

export interface FeedOptions {
  readonly databases: { readonly organisationData: OrganisationDataCache };
  /** Reads events from the database's log. */
  readonly log: DeploymentFeed;
  /** Here only to check that events are recorded. */
  readonly source: (caller: WaitingCaller) => EventSource;
  /** Calls `look` whenever an event of the caller's may have come, until it returns true or the time is over. */
  readonly wait: Waiting['wait'];
  /** Reads an object as REST shows it; null if there is none, or its row cannot be shown. */
  readonly readShown: (
    data: ReturnType<OrganisationDataCache>,
    object: { readonly type: string; readonly id: string },
    context: CallContext,
  ) => Promise<unknown>;
  readonly organisationsById: (ids: readonly string[]) => Promise<ReadonlyMap<string, OrganisationForOperators>>;
  /** The organisation that a caller names. @throws AppError not_found */
  readonly requireOrganisation: (text: string) => Promise<OrganisationForOperators>;
}

interface FeedArguments {
  readonly types?: readonly string[] | null;
  readonly organisation?: string | null;
  /** A cursor; by default only later events. */
  readonly after?: string | null;
  readonly limit?: number | null;
  /** In seconds. */
  readonly wait?: number | null;
}

/** As in schema/admin.graphql. */
const DEFAULT_LIMIT = 20;
/** How long a read waits for an event after a notification, in milliseconds: there is one, but the log may not have it yet. */
const NOTIFIED: Patience = 2000;

/** An event as operators get it, with its organisation for the resolvers of its fields. */
export type OrganisationEvent = ReturnType<typeof organisationEvent>;

export function createFeedOperations(options: FeedOptions, caller: FeedCaller) {
  const { databases, log, source, wait, readShown, organisationsById, requireOrganisation } = options;

  return {
    /** The next events; with `wait`, after up to so many seconds until there is one. */
    async events(args: FeedArguments) {
      const { organisation } = args;
      const organisationId =
        organisation == null ? undefined : (await requireOrganisation(organisation).catch(rethrowAsParameterFault)).id;
      const types = args.types ? new Set(args.types) : undefined;
      const waiter = { ...caller, organisationId };
      // throws if no events are recorded
      await source(waiter).recordedUntil();
      let position = positionOfLog(args.after);
      const read = async (patience: Patience): Promise<Page> => {
        const logPage = await log.read(position, { types, organisationId }, args.limit ?? DEFAULT_LIMIT, patience);
        position = logPage.next;
        return { ...logPage, events: await ofKnownOrganisations(logPage.events, organisationsById) };
      };
      let page = await read(0);
      let lookCount = 0;
      const look = async (): Promise<boolean> => {
        lookCount += 1;
        // `wait` calls it once before any notification
        page = await read(lookCount === 1 ? 0 : NOTIFIED);
        return hasAny(page);
      };
      if (!hasAny(page) && args.wait) await wait(waiter, args.wait * 1000, { types, objectId: undefined }, look);
      return {
        data: page.events,
        has_more: page.hasMore,
        next_cursor: cursorOfLog(page.next),
      };
    },
    /** An object that an event names, its `object` or `related`, as it is now; null if there is none any more, or its row cannot be shown. @throws AppError unavailable while the organisation is being moved */
    current(
      { organisation }: OrganisationEvent,
      object: OrganisationEvent['object'],
      context: CallContext,
    ): Promise<unknown> {
      if (organisation.moving) throw movingError();
      if (!object || organisation.state === 'erasing') return Promise.resolve(null);
      return readShown(databases.organisationData(organisation), object, context);
    },
  };
}

/** In a query string, what does not exist is a fault of the parameter. @throws AppError invalid_request for not_found; any other error unchanged */
function rethrowAsParameterFault(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
  const detail = 'is neither the id of an organisation nor `ref:` and its external_ref';
  throw invalidRequest([{ parameter: 'organisation', code: 'not_found', detail }]);
}

type Page = Omit<DeploymentPage, 'events'> & { readonly events: readonly OrganisationEvent[] };

/** Whether there is something to answer with: events, or a later page. */
const hasAny = ({ events, hasMore }: Page): boolean => events.length > 0 || hasMore;

/** The events of organisations in this control database: others are gone, or another control database of the same deployment has them. */
async function ofKnownOrganisations(
  events: readonly OrganisationEventRow[],
  organisationsById: FeedOptions['organisationsById'],
): Promise<OrganisationEvent[]> {
  if (events.length === 0) return [];
  const organisations = await organisationsById([...new Set(events.map(({ organisationId }) => organisationId))]);
  return events.flatMap(({ organisationId, row }) => {
    const organisation = organisations.get(organisationId);
    return organisation ? [organisationEvent(row, organisation)] : [];
  });
}

export function organisationEvent(row: EventRow, organisation: OrganisationForOperators) {
  const { id, external_ref } = organisation;
  return { ...shownEvent(id, row), organisation_id: id, organisation_ref: external_ref, organisation };
}
