import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { MINUTE } from '../units';
import { ONE_IN, ROWS_A_MINUTE, WRITE_EVERY } from './requestLimits';
import type { RequestLog } from './requestLog';
import type { RequestRow } from './requestRows';
import { createDelayedWriter } from './delayedWriter';

/** What decides whether a request gets a row. */
export type RequestHead = Pick<RequestRow, 'organisation_id' | 'key_id' | 'failed'>;
export type RequestDetails = Omit<RequestRow, keyof RequestHead | '_id' | 'at'>;
type DetailsOf = () => RequestDetails;

export interface RequestRecorderOptions {
  readonly log: Pick<RequestLog, 'add' | 'trim'>;
  /** The database's time, in milliseconds since 1970. */
  readonly now: () => number;
  /** Called when a write fails; its rows are retried with the next ones, if there is room. */
  readonly onError: (error: unknown) => void;
  /** Called with the number of failed requests without a row since the last call. */
  readonly onLeftOut: (requests: number) => void;
  /** Rows held in memory. */
  readonly capacity?: number;
}

/** 5,000 rows take about 3 MB. */
const CAPACITY = 5000;
/** After this many rows of an organisation from this process, its oldest rows are deleted. */
const ROWS_A_TRIM = 500;
/** Organisations and keys that are counted; a forgotten one begins anew. */
const MAX_COUNTED = 20_000;
/** The rows of an organisation, as a multiple of a key's: a flood from one key does not hide the requests of the others. */
const SHARE_OF_ORGANISATION = 5;

/** Requests of a key or an organisation in a minute. */
interface MinuteCounts {
  readonly since: number;
  failed: number;
  successful: number;
}

/**
 * Gathers requests with keys in memory and writes them every two seconds, so that no request waits for the database
 * (docs/decisions/request-log.md).
 */
export function createRequestRecorder({ log, now, onError, onLeftOut, capacity = CAPACITY }: RequestRecorderOptions) {
  /** By key and by organisation. */
  const minutes = new LRUCache<string, MinuteCounts>({ max: MAX_COUNTED });
  /** Rows by organisation since it was trimmed. */
  const untrimmed = new LRUCache<string, number>({ max: MAX_COUNTED });
  let batch: RequestRow[] = [];
  let leftOut = 0;

  /** Counts a request of a key or organisation, and returns how many there were in its minute, which begins with the first. */
  function numberOf(id: string, kind: keyof typeof ROWS_A_MINUTE): number {
    const now = performance.now();
    let minute = minutes.get(id);
    if (!minute || now - minute.since >= MINUTE) {
      minute = { since: now, failed: 0, successful: 0 };
      minutes.set(id, minute);
    }
    return (minute[kind] += 1);
  }

  function getsRow({ organisation_id, key_id, failed }: RequestHead): boolean {
    const kind = failed ? 'failed' : 'successful';
    const number = numberOf(key_id, kind);
    if (number % ONE_IN === 0) return true;
    // of the organisation only those count that their key has a row for
    const most = ROWS_A_MINUTE[kind];
    return number <= most && numberOf(organisation_id, kind) <= most * SHARE_OF_ORGANISATION;
  }

  const { schedule, flush } = createDelayedWriter(WRITE_EVERY, async () => {
    if (leftOut > 0) onLeftOut(leftOut);
    leftOut = 0;
    if (batch.length === 0) return;
    const rows = batch;
    batch = [];
    try {
      await log.add(rows);
      await trim(rows);
    } catch (error) {
      const retained = rows.slice(0, Math.max(0, capacity - batch.length));
      leftOut += rows.slice(retained.length).filter(({ failed }) => failed).length;
      batch = [...retained, ...batch];
      schedule();
      onError(error);
    }
  });

  async function trim(rows: readonly RequestRow[]): Promise<void> {
    for (const { organisation_id: id } of rows) untrimmed.set(id, (untrimmed.get(id) ?? 0) + 1);
    for (const id of new Set(rows.map((row) => row.organisation_id))) {
      if ((untrimmed.get(id) ?? 0) < ROWS_A_TRIM) continue;
      untrimmed.delete(id);
      await log.trim(id);
    }
  }

  return {
    /** Adds a finished request to the batch, if it gets a row and the batch has room; never blocks or fails. */
    add(head: RequestHead, detailsOf: DetailsOf): void {
      schedule();
      if (batch.length < capacity && getsRow(head))
        batch.push({ _id: randomUUID(), at: new Date(now()), ...head, ...detailsOf() });
      else leftOut += Number(head.failed);
    },
    /** Writes what is gathered; resolves also if that fails. */
    stop: flush,
  };
}
