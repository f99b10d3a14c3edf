import type { Scope } from '../auth/scopes';
import type { EventPage, EventRow, EventSource, RequestContext, WantedEvents } from '../operations/context';
import type { OrganisationData } from '../database/organisationData';
import { DEFAULT_LIMIT } from '../database/pagination';
import { AppError } from '../errors';
import { cursorOf, readRecorded, shownEvent, startOf } from './page';
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

export const feedResolvers = {
  Query: {
    events: async (_: unknown, args: FeedArguments, context: RequestContext): Promise<EventFeed> => {
      const { data, source, wanted } = listenerOf(context, args);
      const limit = args.limit ?? DEFAULT_LIMIT;
      let after = await startOf(data, args.after);
      const look = async (): Promise<boolean> => {
        page = await readRecorded(data, source, wanted, { after, limit });
        after = page.next;
        return page.rows.length > 0 || page.hasMore;
      };
      let page: EventPage = { rows: [], hasMore: false, next: after };
      if (!(await look()) && args.wait) await source.wait(args.wait * 1000, wanted, look);
      return {
        data: page.rows.map((row) => shown(data.organisationId, row)),
        has_more: page.hasMore,
        next_cursor: cursorOf(data, page.next),
      };
    },
  },
  Event: {
    cursor: ({ position }: ShownEvent, _: unknown, { data }: RequestContext): string => cursorOf(data, position),
  },
};

interface Listener {
  readonly data: OrganisationData;
  readonly source: EventSource;
  readonly wanted: WantedEvents;
}

/** Who asks for which events. @throws AppError insufficient_scope */
export function listenerOf({ data, principal, events: source }: RequestContext, args: FeedArguments): Listener {
  // the guard admits only keys
  if (principal.kind !== 'key' || !source) throw new Error('events was called without a key');
  return { data, source, wanted: wantedBy(args, principal.scopes) };
}

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

/** An event as the resolvers of its fields take it. */
export interface ShownEvent {
  readonly position: string;
}

export function shown(organisation: string, row: EventRow): ShownEvent & object {
  return { position: row._id, ...shownEvent(organisation, row) };
}
