/* How much one caller, one organisation, and all of them together may have at once in one gateway, since gateways share no counts (docs/decisions/shares.md). */

/** Bytes of bodies, rows and answers; `most` is MAX_BODY_MEMORY in bytes (admission/bodyMemory.ts). */
export const bodyMemoryLimits = (most: number) => ({ all: most, caller: most / 4, organisation: most / 2 });

/**
 * Connections (admission/connectionLimit.ts). A caller is an address, which has no limit of its own if callers may share it (`isShared`), as they
 * share a proxy's. `caller` is first, since limits are checked in this order: an address at its limit loses a connection of its own.
 */
export const connectionLimits = (most: number, isShared: boolean) =>
  isShared ? { all: most } : { caller: Math.max(100, Math.ceil(most / 2)), all: most };

/**
 * Requests that wait for the database (admission/requestTracker.ts): at 20 KB each that is 40 MB, and a working database never has so many
 * waiting.
 */
export const WAITING_REQUESTS = { all: 2000, organisation: 500 };
/** Lookups of keys that a gateway has not accepted lately (gateway/callers.ts), which are requests that wait for the database. A caller is an address. */
export const KEY_LOOKUPS = { caller: 500 };

/**
 * Large requests of an organisation, or of an operator's token, by what is large (admission/requestQueue.ts). Two queries at once would both finish
 * later, since one's answer is built while the other's is read, and would slow down other reads. Two bodies would not: they wait for the database
 * most of the time. Four pages with lines of the maximum size fit into 512 MiB.
 */
export const LARGE_REQUESTS = { query: 1, body: 2, page: 4 };
/** Those that may wait. Pages need no limit: most are small, and an organisation's total number of requests is limited. */
export const LARGE_REQUESTS_WAITING = { query: 16, body: 16, page: Infinity };

/**
 * Commands of an organisation in the database at once (tenant/organisationData.ts). Decoding one of the largest pages holds the event loop for about
 * 30 ms, and an aggregation can keep a core of the database busy.
 */
export const COMMANDS = { reads: 20, pages: 2, transactions: 10, aggregations: 1 };

/**
 * Requests that wait for events, and streams of them (events/waits.ts). A sandbox's count as its organisation's (operations/openContext.ts); why
 * so many: docs/decisions/subscription.md.
 */
export const EVENT_WAITS = { caller: 20, organisation: 200, all: 1000 };
/** Streams of events that read pages (events/stream.ts): of the 20 reads of an organisation, and of the pool's 100 connections. */
export const STREAM_READS = { organisation: 4, all: 8 };

/** Webhook endpoints that a gateway works on (webhooks/workers.ts). */
export const WORKED_ENDPOINTS = { all: 64, organisation: 8 };
/** Posts to them (webhooks/postSlots.ts). An endpoint may have all of its organisation's, and 1 after a failure (webhooks/health.ts). Why so many: docs/decisions/webhooks.md. */
export const POSTS = { all: 64, organisation: 8 };
/** Idle connections to their receivers, of each protocol (webhooks/post.ts). */
export const IDLE_RECEIVERS = 128;
/** Parked events of an endpoint: from `full` on no more are read; a page read just before may park all its `page` events, so `most` is the sum (webhooks/work.ts). */
export const PARKED = { full: 1000, page: 50, most: 1050 };

/**
 * Customers that a key may be restricted to: MongoDB merges up to 200 index scans to sort what they have (docs/decisions/restricted-keys.md), and
 * the values of another filter in the index multiply them.
 */
export const KEY_CUSTOMERS = 100;
