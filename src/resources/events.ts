import type { Scope } from '../auth/scopes';
import type { OrganisationData } from '../tenant/organisationData';
import type { EventSource } from '../events/source';
import type { EventRow } from '../events/collection';
import {
  cursorOf,
  type EventPage,
  NOW,
  readRecorded,
  shownEvent,
  type ShownEvent,
  startOf,
  type WantedEvents,
} from '../events/page';
import type { DataContext } from '../operations/context';
import { published } from '../schema/model';

/* An organisation's events: the feed (contract, section 12), and the subscription to it (docs/decisions/subscription.md). */

/** How many events a stream reads at once while there are more. */
const PAGE = 100;

interface FeedArguments {
  readonly types?: readonly string[] | null;
  readonly object_id?: string | null;
  readonly after?: string | null;
  readonly limit?: number | null;
  /** In seconds. */
  readonly wait?: number | null;
}

/** An event, the way the resolvers of its fields receive it. */
interface FeedEvent extends ShownEvent {
  readonly position: string;
}

const DEFAULT_LIMIT = published.defaultOf('events', 'limit');

/** By the context of a call: where the feed ended when it began. */
const ends = new WeakMap<object, Promise<string>>();

/** The position after which to read: `now` is the same one in all reads of a call, so that a page that MCP reads again with fewer rows is the same. */
async function startOfRead(
  context: DataContext,
  source: EventSource,
  after: string | null | undefined,
): Promise<string> {
  if (after !== NOW) return startOf(context.data, source, after);
  const end = ends.get(context) ?? startOf(context.data, source, after);
  ends.set(context, end);
  return end;
}

export const eventResolvers = {
  Query: {
    events: async (_: unknown, args: FeedArguments, context: DataContext) => {
      const { data, source, wanted } = listenerOf(context, args);
      const limit = args.limit ?? DEFAULT_LIMIT;
      const after = await startOfRead(context, source, args.after);
      let page: EventPage = { rows: [], hasMore: false, next: after };
      /** Goes on from where the last page ended; whether the page is worth an answer. */
      const readPage = async (): Promise<boolean> => {
        page = await readRecorded(data, source, wanted, { after: page.next, limit });
        return page.rows.length > 0 || page.hasMore;
      };
      // reads again when events arrive, until one is wanted or the time is over
      if (!(await readPage()) && args.wait) await source.wait(args.wait * 1000, wanted, readPage);
      return {
        data: page.rows.map((row) => shown(data.organisationId, row)),
        has_more: page.hasMore,
        next_cursor: cursorOf(data, page.next),
      };
    },
  },
  Event: {
    cursor: ({ position }: FeedEvent, _: unknown, { data }: DataContext): string => cursorOf(data, position),
  },
  Subscription: {
    events: {
      subscribe: async (_: unknown, args: Pick<FeedArguments, 'types' | 'after'>, context: DataContext) => {
        const { data, source, wanted } = listenerOf(context, args);
        const after = await startOf(data, source, context.lastEventId ?? args.after ?? NOW);
        // throws if no events are recorded
        await source.recordedUntil();
        // `since` is a cluster time: the read must see all changes up to it
        const stream = source.follow(wanted, after, (from, since) =>
          readRecorded(data, source, wanted, { after: from, limit: PAGE, since }),
        );
        let position = after;
        // beside the events, graphql/streams/eventStreams.ts reads when it ends, and where to resume
        return {
          ended: stream.ended,
          get cursor() {
            return cursorOf(data, position);
          },
          async *[Symbol.asyncIterator]() {
            for await (const row of stream) {
              position = row._id;
              yield { events: shown(data.organisationId, row) };
            }
          },
        };
      },
    },
  },
};

interface Listener {
  readonly data: OrganisationData;
  readonly source: EventSource;
  readonly wanted: WantedEvents;
}

/** What of the context events are read by, and which events are wanted. @throws AppError insufficient_scope */
function listenerOf(context: DataContext, args: FeedArguments): Listener {
  const { data, principal, events: source } = context;
  return { data, source, wanted: wantedBy(args, principal.scopes, context) };
}

/** The event types asked for or, by default, all that the key may receive. @throws AppError insufficient_scope if it may not receive one asked for */
function wantedBy(
  { types, object_id: id }: FeedArguments,
  scopes: ReadonlySet<Scope>,
  { authorise }: Pick<DataContext, 'authorise'>,
): WantedEvents {
  const hidden = published.eventTypes.filter(({ scope }) => scope !== undefined && !scopes.has(scope));
  const asked = types && new Set(types);
  const refused = asked && hidden.find(({ name }) => asked.has(name));
  if (refused?.scope !== undefined)
    authorise({ scope: refused.scope, role: undefined }, `The event type ${refused.name}`);
  const allowed = published.eventTypes.filter((type) => !hidden.includes(type)).map(({ name }) => name);
  return {
    // undefined for all types
    types: asked ?? (hidden.length === 0 ? undefined : new Set(allowed)),
    objectId: id?.toLowerCase(),
  };
}

function shown(organisation: string, row: EventRow): FeedEvent {
  return { position: row._id, ...shownEvent(organisation, row) };
}
