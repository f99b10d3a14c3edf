import { addressBucket } from '../auth/addresses';
import { AppError } from '../errors';
import type { Caller } from '../auth/principal';
import { bodyMemoryLimits } from '../limits';
import { createShares, type Owner, type Whose } from '../async/shares';
import { DECODED, MAX_ANSWER, MEBIBYTE } from '../units';

/*
 * Counts the memory of request bodies (received bytes and parsed values) and of rows read from the database until their requests are done,
 * and of large answers until they are sent (docs/decisions/bodies-and-fairness.md).
 */

/** Answers up to this many bytes are not counted: the kernel buffers most of them, and counting would slow every request by a percent. */
const SMALL_ANSWER = 64 * 1024;

/** Maximum bytes, as stored, of the rows that one request keeps (contract, "Answers"): those of a few answers, since GraphQL reads more than it answers. */
const MAX_STORED_ROWS = 4 * MAX_ANSWER;
/** The same, decoded: a row in memory takes DECODED times its stored bytes. */
const MAX_ROWS = DECODED * MAX_STORED_ROWS;

const REFUSALS = {
  all: 'Too much data is being sent, read, or answered and not taken, at the moment.',
  caller: 'This caller is sending or reading too much data at once, or not taking its answers.',
  organisation: 'This organisation is sending or reading too much data at once, or not taking its answers.',
} as const;

/** The part of an exchange used here. */
interface CountedExchange {
  readonly address: string;
  readonly log: { readonly principal?: Caller };
  readonly response: {
    readonly closed: boolean;
    readonly destroyed: boolean;
    once(event: 'close', listener: () => void): unknown;
  };
}

/** What an exchange holds, in bytes. */
interface Holding {
  body: number;
  rows: number;
  answer: number;
  readonly owner: Owner;
}

export type BodyMemory = ReturnType<typeof createBodyMemory>;

/** Limits the memory of bodies and answers, in bytes; `onRefused` is called for each refusal. */
export function createBodyMemory(limit: number, onRefused: () => void) {
  const shares = createShares(bodyMemoryLimits(limit));
  const holdings = new Map<CountedExchange, Holding>();

  /** The limit that `more` bytes would exceed; undefined if none. */
  const exceededBy = ({ body, rows, answer, owner }: Holding, more: number): Whose | undefined =>
    shares.exceeded(owner, more, body + rows + answer);

  /** Sets what a part of a request holds. @throws AppError unavailable if that is too much and `isRefusable`; the previous value is kept */
  function set(exchange: CountedExchange, part: 'body' | 'rows' | 'answer', size: number, isRefusable = true): void {
    // whole, since sums of fractions would not return to 0, and a caller's only request would seem to have another beside it
    const bytes = Math.ceil(size);
    const existing = holdings.get(exchange);
    const holding = existing ?? emptyHolding(exchange);
    const more = bytes - holding[part];
    const full = more > 0 && isRefusable ? exceededBy(holding, more) : undefined;
    if (full) refuse(full);
    holding[part] = bytes;
    shares.add(holding.owner, more);
    if (holding.body + holding.rows + holding.answer === 0) holdings.delete(exchange);
    else if (!existing) holdings.set(exchange, holding);
  }

  function refuse(whose: Whose): never {
    onRefused();
    throw new AppError('unavailable', REFUSALS[whose], { reason: 'shed' });
  }

  return {
    /** Checks a write before its work, since its answer will not be refused. @throws AppError unavailable if its caller holds too much already */
    requireRoom(exchange: CountedExchange): void {
      const full = exceededBy(holdings.get(exchange) ?? emptyHolding(exchange), 1);
      if (full) refuse(full);
    },
    /** Sets how many bytes the body of a request holds. @throws AppError unavailable if that is too much; the previous value is kept */
    holdBody(exchange: CountedExchange, bytes: number): void {
      set(exchange, 'body', bytes);
    },
    /** Releases what the body of a request holds. */
    releaseBody(exchange: CountedExchange): void {
      if (holdings.has(exchange)) set(exchange, 'body', 0);
    },
    /**
     * Counts more bytes of decoded rows that a request keeps, or fewer if negative.
     * @throws AppError invalid_request if the request alone keeps too many; unavailable if its caller does. Then none of it counts any more
     */
    holdRows(exchange: CountedExchange, more: number): void {
      const rows = Math.max(0, (holdings.get(exchange)?.rows ?? 0) + more);
      try {
        if (more > 0 && rows > MAX_ROWS) throw tooManyRows();
        set(exchange, 'rows', rows);
      } catch (error) {
        // released, so that when many grow at once, some can complete
        if (holdings.has(exchange)) set(exchange, 'rows', 0);
        throw error;
      }
    },
    /** Releases what the body and the rows of a request hold, once its work has ended. */
    end(exchange: CountedExchange): void {
      if (!holdings.has(exchange)) return;
      set(exchange, 'body', 0);
      if (holdings.has(exchange)) set(exchange, 'rows', 0);
    },
    /**
     * Sets how many bytes the answer to a request holds, until it is sent or the caller disconnects.
     * @throws AppError unavailable if that is too much and `isRefusable`, which the answer to a completed write is not
     */
    holdAnswer(exchange: CountedExchange, bytes: number, isRefusable = true): void {
      const { response } = exchange;
      const before = holdings.get(exchange)?.answer ?? 0;
      if ((before === 0 && bytes <= SMALL_ANSWER) || response.closed || response.destroyed) return;
      try {
        set(exchange, 'answer', bytes, isRefusable);
      } catch (error) {
        // released, so that when many grow at once, some can complete
        if (before > 0) set(exchange, 'answer', 0);
        throw error;
      }
      if (before > 0) return;
      response.once('close', () => {
        if (holdings.has(exchange)) set(exchange, 'answer', 0);
      });
    },
    /** Bytes currently held. */
    held: (): number => shares.held('all'),
  };
}

function emptyHolding(exchange: CountedExchange): Holding {
  return { body: 0, rows: 0, answer: 0, owner: ownerOf(exchange) };
}

function tooManyRows(): AppError {
  const most = `${String(MAX_STORED_ROWS / MEBIBYTE)} MiB`;
  const detail = `The request would read more than ${most} from the database. Request fewer objects at a time.`;
  return new AppError('invalid_request', detail);
}

function ownerOf({ log: { principal }, address }: CountedExchange): Owner {
  if (!principal) return { caller: `address ${addressBucket(address)}` };
  if (principal.kind === 'operator') return { caller: `operator ${principal.name}` };
  const { id } = principal.organisation;
  const caller = principal.kind === 'key' ? `key ${principal.key.id}` : `user ${id} ${principal.user.id}`;
  return { caller, organisation: id };
}
