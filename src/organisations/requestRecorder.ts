import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { MINUTE } from '../units';
import type { RequestLog } from './requestLog';
import type { RequestRow } from './requestRows';
import { createWriter } from './writer';

/** What decides whether a request gets a row. */
export type RequestHead = Pick<RequestRow, 'organisation_id' | 'key_id' | 'operation' | 'status' | 'code' | 'failed'>;
export type RequestDetails = Omit<RequestRow, keyof RequestHead | '_id' | 'at' | 'similar'>;
type DetailsOf = () => RequestDetails;

export interface RequestRecorderOptions {
  readonly log: Pick<RequestLog, 'add' | 'trim'>;
  /** Called when a write fails; its rows are retried with the next ones, if there is room. */
  readonly onError: (error: unknown) => void;
  /** Called with the number of failed requests that are neither in a row nor in a row's `similar`. */
  readonly onLeftOut: (requests: number) => void;
  readonly capacity?: number;
  /** From 0 to 1; decides whether an organisation is trimmed. */
  readonly random?: () => number;
}

const EVERY = 2000;
/** 5,000 rows take about 3 MB. */
const CAPACITY = 5000;
/** Rows of an organisation per trim, on average. */
const ROWS_A_TRIM = 500;
/** Organisations and keys whose budgets are remembered; a forgotten one gets its whole budget again. */
const MAX_BUDGETS = 20_000;
/** Rows that a key may have in a burst, and then per minute, in this process. */
const BUDGETS = {
  failed: { atOnce: 600, aMinute: 60 },
  successful: { atOnce: 100, aMinute: 1 },
  /** Failed requests beyond that budget that resemble no row of the batch. */
  similar: { atOnce: 20, aMinute: 20 },
} as const;
/** The budget of an organisation, as a multiple of a key's: a flood from one key does not hide the requests of the others. */
const SHARE_OF_ORGANISATION = 1.5;
type Kind = keyof typeof BUDGETS;

type Row = { -readonly [Name in keyof RequestRow]: RequestRow[Name] };

/**
 * Gathers requests with keys in memory and writes them every two seconds, so that no request waits for the database
 * (docs/decisions/request-log.md).
 */
export function createRequestRecorder(options: RequestRecorderOptions) {
  const { log, onError, onLeftOut, capacity = CAPACITY, random = Math.random } = options;
  const budgets = new LRUCache<string, ReturnType<typeof createBudget>, number>({
    max: MAX_BUDGETS,
    memoMethod: (_id, _old, { context: share }) => createBudget(share),
  });
  let batch: Row[] = [];
  /** The last failed request of each kind in the batch. */
  let alike = new Map<string, Row>();
  let leftOut = 0;

  /** Takes a row from the budgets of a key and of its organisation, if both have one. */
  function takes(kind: Kind, { organisation_id, key_id }: RequestHead): boolean {
    const ofKey = budgets.memo(key_id, { context: 1 });
    const ofAll = budgets.memo(organisation_id, { context: SHARE_OF_ORGANISATION });
    const hasBudget = ofKey.has(kind) && ofAll.has(kind);
    if (hasBudget) for (const budget of [ofKey, ofAll]) budget.take(kind);
    return hasBudget;
  }

  function add(head: RequestHead, detailsOf: DetailsOf): Row {
    const row = { _id: '', at: new Date(), ...head, ...detailsOf(), similar: 0 };
    batch.push(row);
    return row;
  }

  const { soon, flush } = createWriter(EVERY, async () => {
    if (leftOut > 0) onLeftOut(leftOut);
    leftOut = 0;
    if (batch.length === 0) return;
    const taken = batch;
    batch = [];
    alike = new Map();
    // ids are generated here, so that no request waits for them
    for (const row of taken) row._id ||= randomUUID();
    try {
      await log.add(taken);
      await trim(taken);
    } catch (error) {
      const kept = taken.slice(0, Math.max(0, capacity - batch.length));
      leftOut += taken.length - kept.length;
      batch = [...kept, ...batch];
      soon();
      onError(error);
    }
  });

  async function trim(rows: readonly RequestRow[]): Promise<void> {
    const counts = new Map<string, number>();
    for (const { organisation_id: id } of rows) counts.set(id, (counts.get(id) ?? 0) + 1);
    for (const [id, count] of counts) if (random() < count / ROWS_A_TRIM) await log.trim(id);
  }

  return {
    /** Adds a finished request to the batch, if the batch and the budgets of its key and organisation have room; never blocks or fails. */
    add(head: RequestHead, detailsOf: DetailsOf): void {
      soon();
      if (batch.length >= capacity) {
        leftOut += Number(head.failed);
        return;
      }
      if (!head.failed) {
        if (takes('successful', head)) add(head, detailsOf);
        return;
      }
      const { key_id, operation, status, code } = head;
      const resemblance = `${key_id} ${String(status)} ${code ?? ''} ${operation ?? ''}`;
      const hasRow = takes('failed', head);
      const last = hasRow ? undefined : alike.get(resemblance);
      if (last) last.similar += 1;
      else if (hasRow || takes('similar', head)) alike.set(resemblance, add(head, detailsOf));
      else leftOut += 1;
    },
    stop: flush,
  };
}

/** What an organisation or key may still add, by kind: {@link BUDGETS} times its share, refilled steadily. */
function createBudget(share: number) {
  const left = { failed: 0, successful: 0, similar: 0 };
  let filledAt = -Infinity;

  function fill(): void {
    const now = performance.now();
    const minutes = (now - filledAt) / MINUTE;
    filledAt = now;
    for (const kind of Object.keys(BUDGETS) as Kind[]) {
      const { atOnce, aMinute } = BUDGETS[kind];
      left[kind] = Math.min(atOnce * share, left[kind] + minutes * aMinute * share);
    }
  }

  return {
    has: (kind: Kind): boolean => {
      // in steady use most requests find an empty budget, and cost no more than this
      if (left[kind] < 1) fill();
      return left[kind] >= 1;
    },
    take: (kind: Kind): void => {
      left[kind] -= 1;
    },
  };
}
