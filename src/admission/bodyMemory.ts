import { addressBucket } from '../auth/addresses';
import { AppError } from '../errors';
import type { Caller } from '../auth/principal';
import { MAX_ANSWER, MEBIBYTE } from '../units';

/*
 * Counts the memory of request bodies (received bytes and parsed values) and of rows read from the database until their requests are done,
 * and of large answers until they are sent (docs/decisions/bodies-and-fairness.md).
 */

/** Maximum share of the limit for one key (or address), and for one organisation with all its keys. */
const SHARES = { caller: 1 / 4, organisation: 1 / 2 };
/** Answers up to this many bytes are not counted: the kernel buffers most of them, and counting would slow every request by a percent. */
const SMALL_ANSWER = 64 * 1024;

/** Maximum memory of the rows that one request keeps, in bytes; as stored, rows are half as large and four times the largest answer. */
const MAX_ROWS = 8 * MAX_ANSWER;

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

/** A caller or organisation whose share a request's bytes count towards. */
interface Owner {
  readonly kind: keyof typeof SHARES;
  readonly name: string;
}

interface Holding {
  body: number;
  rows: number;
  answer: number;
  readonly owners: readonly Owner[];
}

export type BodyMemory = ReturnType<typeof createBodyMemory>;

/** Limits the memory of bodies and answers, in bytes; `onRefused` is called for each refusal. */
export function createBodyMemory(limit: number, onRefused: () => void) {
  const most = { caller: limit * SHARES.caller, organisation: limit * SHARES.organisation };
  const holdings = new Map<CountedExchange, Holding>();
  const byOwner = new Map<string, number>();
  let total = 0;

  /** The limit that `more` bytes would exceed. A request is always within a limit towards which nothing else counts. */
  function fullFor({ body, rows, answer, owners }: Holding, more: number): keyof typeof REFUSALS | undefined {
    const isOver = (held: number, bound: number): boolean => held + more > bound && held > body + rows + answer;
    if (isOver(total, limit)) return 'all';
    return owners.find(({ kind, name }) => isOver(byOwner.get(name) ?? 0, most[kind]))?.kind;
  }

  /** Sets what a request holds. @throws AppError unavailable if that is too much; the previous value is kept */
  function set(exchange: CountedExchange, part: 'body' | 'rows' | 'answer', size: number, isRefusable = true): void {
    // sums of fractions would not return to 0, and a caller's only request would seem to have another beside it
    const bytes = Math.ceil(size);
    const known = holdings.get(exchange);
    const holding = known ?? nothingHeld(exchange);
    const more = bytes - holding[part];
    const full = more > 0 && isRefusable ? fullFor(holding, more) : undefined;
    if (full) refuse(full);
    holding[part] = bytes;
    total += more;
    for (const { name } of holding.owners) {
      const held = (byOwner.get(name) ?? 0) + more;
      if (held === 0) byOwner.delete(name);
      else byOwner.set(name, held);
    }
    if (holding.body + holding.rows + holding.answer === 0) holdings.delete(exchange);
    else if (!known) holdings.set(exchange, holding);
  }

  function refuse(whose: keyof typeof REFUSALS): never {
    onRefused();
    throw new AppError('unavailable', REFUSALS[whose], { reason: 'shed' });
  }

  return {
    /** Checks a request whose answer will not be refused, before its work. @throws AppError unavailable if its caller holds too much already */
    requireRoom(exchange: CountedExchange): void {
      const full = fullFor(holdings.get(exchange) ?? nothingHeld(exchange), 1);
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
     * Counts more bytes of rows that a request keeps, or fewer if negative.
     * @throws AppError invalid_request if the request alone keeps too many; unavailable if its caller does. Then it keeps none
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
    held: (): number => total,
  };
}

function nothingHeld(exchange: CountedExchange): Holding {
  return { body: 0, rows: 0, answer: 0, owners: ownersOf(exchange) };
}

function tooManyRows(): AppError {
  const most = `${String(MAX_ROWS / 2 / MEBIBYTE)} MiB`;
  const detail = `The request would read more than ${most} from the database. Request fewer objects at a time.`;
  return new AppError('invalid_request', detail);
}

function ownersOf({ log: { principal }, address }: CountedExchange): Owner[] {
  if (!principal) return [{ kind: 'caller', name: `address ${addressBucket(address)}` }];
  if (principal.kind === 'operator') return [{ kind: 'caller', name: `operator ${principal.name}` }];
  const { organisation } = principal;
  const caller = principal.kind === 'key' ? `key ${principal.key.id}` : `user ${organisation.id} ${principal.user.id}`;
  return [
    { kind: 'caller', name: caller },
    { kind: 'organisation', name: `organisation ${organisation.id}` },
  ];
}
