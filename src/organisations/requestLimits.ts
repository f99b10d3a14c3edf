import { DAY, SECOND } from '../units';

/* What the request log keeps (docs/decisions/request-log.md). Imports little, since the command line's help needs it. */

/** For how long a row is kept, in milliseconds. */
export const REQUESTS_KEPT_FOR = 7 * DAY;
/** Rows kept per organisation: this many of failed requests, and this many of others. */
export const MAX_ROWS = 10_000;
/** How often rows are written, in milliseconds. */
export const WRITE_EVERY = 2 * SECOND;
/** Rows that a key gets in a minute from a process, before only each {@link ONE_IN}th request gets one. All keys of an organisation share five times as many (requestRecorder.ts). */
export const ROWS_A_MINUTE = { failed: 100, successful: 10 } as const;
export const ONE_IN = 100;
