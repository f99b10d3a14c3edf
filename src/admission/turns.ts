import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../auth/principal';
import { AppError } from '../errors';

/*
 * Turns for large requests: each organisation has a few in progress and a few waiting, so that an organisation that sends
 * too many is rejected before it slows down others (docs/decisions/bodies-and-fairness.md).
 */

/**
 * Concurrent large requests per organisation. Two queries at once would both finish later, since one's answer is built
 * while the other's is read, and slow down other reads. Bodies wait for the database most of the time. Four pages with lines
 * of the maximum size fit into 512 MiB.
 */
const AT_ONCE = { query: 1, body: 2, page: 4 };
/** Maximum number waiting. Pages need no limit: most are small, and an organisation's total number of requests is limited. */
const MOST_WAITING = { query: 16, body: 16, page: Infinity };

/** The kind of large request. */
export type LargePart = keyof typeof AT_ONCE;
const PARTS = Object.keys(AT_ONCE) as LargePart[];

/** Rows of a page that takes no turn. */
const USUAL_ROWS = 20;

/** Whether the arguments of a list ask for a page that takes a turn. */
export function isLargePage({ limit }: Readonly<Record<string, unknown>>): boolean {
  return typeof limit === 'number' && limit > USUAL_ROWS;
}

/** The part of an exchange used here. */
interface Taker {
  readonly request: Pick<IncomingMessage, 'socket'>;
  readonly response: Pick<ServerResponse, 'closed' | 'once'>;
  readonly log: { readonly principal?: Caller };
  isWaiting: boolean;
}

export type Turns = ReturnType<typeof createTurns>;

interface Waiter {
  readonly exchange: Taker;
  readonly go: () => void;
  readonly refuse: (reason: AppError) => void;
}

interface Line {
  readonly under: Set<Taker>;
  readonly waiting: Set<Waiter>;
}

/** `onRefused` is called for each refusal. */
export function createTurns(onRefused: () => void) {
  const lines = new Map<string, Line>();
  /** Exchanges that have ended; `end` is only called once for each, so they must not get another turn. */
  const ended = new WeakSet<Taker>();

  function wait(line: Line, exchange: Taker): Promise<void> {
    exchange.isWaiting = true;
    return new Promise<void>((resolve, reject) => {
      const waiter = { exchange, go: resolve, refuse: reject };
      line.waiting.add(waiter);
      // the caller disconnected, or got a 503 in the meantime
      exchange.response.once('close', () => {
        giveUp(line, exchange);
      });
    }).finally(() => (exchange.isWaiting = false));
  }

  function giveUp(line: Line, exchange: Taker): void {
    for (const waiter of line.waiting) {
      if (waiter.exchange !== exchange) continue;
      line.waiting.delete(waiter);
      waiter.refuse(tooMany());
    }
  }

  function leave(exchange: Taker, part: LargePart): void {
    const name = nameOf(exchange, part);
    const line = name === undefined ? undefined : lines.get(name);
    if (name === undefined || !line) return;
    giveUp(line, exchange);
    if (!line.under.delete(exchange)) return;
    const [next] = line.waiting;
    if (next) {
      line.waiting.delete(next);
      line.under.add(next.exchange);
      // the end of one and the start of the next would block the event loop together
      setImmediate(next.go);
    } else if (line.under.size === 0) lines.delete(name);
  }

  return {
    /**
     * Waits until an exchange may start large work; returns immediately if it has its turn already or has no principal.
     * Taking a turn of another kind gives up the turn for the body.
     * @throws AppError unavailable if too many of the organisation are waiting, or the caller has disconnected
     */
    async take(exchange: Taker, part: LargePart): Promise<void> {
      const name = nameOf(exchange, part);
      if (name === undefined) return;
      // its body is read, and keeping that turn while waiting would waste it
      if (part !== 'body') leave(exchange, 'body');
      const line: Line = lines.get(name) ?? { under: new Set(), waiting: new Set() };
      if (line.under.has(exchange)) return;
      // a closed exchange would never end its turn
      if (ended.has(exchange) || exchange.response.closed || exchange.request.socket.destroyed) throw tooMany();
      lines.set(name, line);
      if (line.under.size < AT_ONCE[part]) {
        line.under.add(exchange);
        return;
      }
      if (line.waiting.size >= MOST_WAITING[part]) {
        onRefused();
        throw tooMany();
      }
      await wait(line, exchange);
    },
    /** Ends all turns of an exchange. */
    end(exchange: Taker): void {
      ended.add(exchange);
      for (const part of PARTS) leave(exchange, part);
    },
  };
}

function nameOf({ log }: Taker, part: LargePart): string | undefined {
  return log.principal && `${log.principal.organisation?.id ?? 'operator'} ${part}`;
}

function tooMany(): AppError {
  const detail = 'Too many large requests of this organisation are in progress.';
  return new AppError('unavailable', detail, { reason: 'shed' });
}
