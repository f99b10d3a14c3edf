import type { Collection } from 'mongodb';
import { type Gateway, GatewayError } from './gateway.js';

/** An event of the operator's feed. */
export interface SyncEvent {
  readonly id: string | null;
  readonly type: string;
  /** Null of a `feed.gap`: events of any organisation may be missing. */
  readonly organisation_id: string | null;
  /** Your id of the account. */
  readonly organisation_ref: string | null;
  readonly object: { readonly type: string; readonly id: string } | null;
  readonly origin: { readonly kind: string; readonly name: string | null } | null;
  /** As they are now, if you asked for it. */
  readonly current?: Readonly<Record<string, unknown>> | null;
  readonly current_related?: Readonly<Record<string, unknown>> | null;
  readonly [member: string]: unknown;
}

export interface FollowOptions {
  /** Only these types, such as `request.message_added`. */
  readonly types?: readonly string[];
  /** Whether events have `current`, their object, and `current_related`, a message that was added to it, as they are now. */
  readonly current?: boolean;
}

/** How far a stream of changes or events was handled. */
export interface Position {
  readonly _id: string;
  readonly token?: unknown;
  readonly cursor?: string;
}

interface Page {
  readonly data: readonly SyncEvent[];
  readonly next_cursor: string;
}

const _id = 'events';
const GAP: SyncEvent = {
  id: null,
  type: 'feed.gap',
  organisation_id: null,
  organisation_ref: null,
  object: null,
  origin: null,
};

/** Hands over events one after another, and stores the position after each page. */
export async function followEvents(
  gateway: Gateway,
  positions: Collection<Position>,
  handler: (event: SyncEvent) => unknown,
  { types = [], current = false }: FollowOptions,
): Promise<never> {
  const read = async (after: string, wait: string): Promise<Page> => {
    const query = new URLSearchParams({ after, wait, limit: '100', ...(current && { include: 'object' }) });
    if (current) query.append('include', 'related');
    for (const type of types) query.append('types', type);
    return (await gateway.retrying(() => gateway.get(`/events?${query.toString()}`))) as Page;
  };
  for (let cursor = (await positions.findOne({ _id }))?.cursor ?? 'now'; ;) {
    const { data, next_cursor } = await read(cursor, '20').catch(async (error: unknown): Promise<Page> => {
      // cursor_expired
      if (!(error instanceof GatewayError) || error.status !== 410) throw error;
      return { ...(await read('now', '0')), data: [GAP] };
    });
    for (const event of data) await gateway.retrying(() => Promise.resolve(event).then(handler));
    cursor = next_cursor;
    await gateway.retrying(() => positions.updateOne({ _id }, { $set: { cursor } }, { upsert: true }));
  }
}
