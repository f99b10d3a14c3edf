import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../access/principal';
import { AppError } from '../errors';

/*
 * Turns of large requests: each organisation has a few under way and a few that wait, so that one which sends ever more
 * of them is refused before another waits (docs/decisions/bodies-and-fairness.md).
 */

/**
 * Large requests of one organisation that are carried out at once. Of two queries one's answer would be made while the
 * other's is read: both would be done later, and others' reads take longer. Bodies wait for the database most of their time.
 * Of pages with lines four at their largest fit into 512 MiB.
 */
const AT_ONCE = { query: 1, body: 2, page: 4 };
/** How many may wait for that. Most pages are small, and no more than all requests of an organisation can wait. */
const MOST_WAITING = { query: 16, body: 16, page: Infinity };

/** What makes a request large. */
export type LargePart = keyof typeof AT_ONCE;
const PARTS = Object.keys(AT_ONCE) as LargePart[];

/** Who takes a turn: an exchange. */
interface Taker {
  readonly request: Pick<IncomingMessage, 'socket'>;
  readonly response: Pick<ServerResponse, 'closed' | 'once'>;
  readonly log: { readonly principal?: Principal };
  isWaiting: boolean;
}

export interface Turns {
  /**
   * Waits until an exchange may do something large; at once where it has its turn already, or nobody is known to ask. What
   * follows a body gives up the body's turn.
   * @throws AppError unavailable, when too many of the organisation wait, or its caller has left
   */
  take(exchange: Taker, part: LargePart): Promise<void>;
  /** Ends the turns of an exchange, where it has any. */
  end(exchange: Taker): void;
}

interface Waiter {
  readonly exchange: Taker;
  readonly go: () => void;
  readonly refuse: (reason: AppError) => void;
}

interface Line {
  readonly under: Set<Taker>;
  readonly waiting: Set<Waiter>;
}

/** `onRefused` is told of each refusal. */
export function createTurns(onRefused: () => void): Turns {
  const lines = new Map<string, Line>();
  /** Told of their end once only, so nothing may be given to them afterwards. */
  const ended = new WeakSet<Taker>();

  function wait(line: Line, exchange: Taker): Promise<void> {
    exchange.isWaiting = true;
    return new Promise<void>((resolve, reject) => {
      const waiter = { exchange, go: resolve, refuse: reject };
      line.waiting.add(waiter);
      // who left, or was told 503 in the meantime
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
      next.go();
    } else if (line.under.size === 0) lines.delete(name);
  }

  return {
    async take(exchange, part) {
      const name = nameOf(exchange, part);
      if (name === undefined) return;
      // its body is read: kept on, the place would stand idle while this waits
      if (part !== 'body') leave(exchange, 'body');
      const line = lines.get(name) ?? { under: new Set<Taker>(), waiting: new Set<Waiter>() };
      if (line.under.has(exchange)) return;
      // whoever is gone would never end its turn
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
    end(exchange) {
      ended.add(exchange);
      for (const part of PARTS) leave(exchange, part);
    },
  };
}

function nameOf({ log }: Taker, part: LargePart): string | undefined {
  return log.principal && `${log.principal.organisation.id} ${part}`;
}

function tooMany(): AppError {
  return new AppError('unavailable', 'Too many large requests of this organisation are under way.');
}
