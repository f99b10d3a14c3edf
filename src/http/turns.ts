import { AppError } from '../errors';
import type { Exchange } from './exchange';

/*
 * Turns of large requests: each organisation has a few under way and a few that wait, so that one which sends ever more
 * of them is refused before another waits (docs/decisions/bodies-and-fairness.md).
 */

/**
 * Large requests of one organisation that are carried out at once. Of two queries one's answer would be made while the
 * other's is read: both would be done later, and others' reads take longer. Bodies wait for the database most of their time.
 */
const AT_ONCE = { query: 1, body: 2 };
/** How many may wait for that. */
const MOST_WAITING = 16;

/** What makes a request large. */
export type LargePart = keyof typeof AT_ONCE;

export interface Turns {
  /**
   * Waits until an exchange may do something large; at once where it has its turn already, or nobody is known to ask. Who
   * needs both turns takes the body's first, so that no two wait for each other.
   * @throws AppError unavailable, when too many of the organisation wait, or its caller has left
   */
  take(exchange: Exchange, part: LargePart): Promise<void>;
  /** Ends the turns of an exchange, where it has any. */
  end(exchange: Exchange): void;
}

interface Waiter {
  readonly exchange: Exchange;
  readonly go: () => void;
}

interface Line {
  readonly under: Set<Exchange>;
  readonly waiting: Set<Waiter>;
}

/** `onRefused` is told of each refusal. */
export function createTurns(onRefused: () => void): Turns {
  const lines = new Map<string, Line>();

  function wait(line: Line, exchange: Exchange): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter = { exchange, go: resolve };
      line.waiting.add(waiter);
      // who left, or was told 503 in the meantime
      exchange.response.once('close', () => {
        if (line.waiting.delete(waiter)) reject(tooMany());
      });
    });
  }

  function leave(name: string, line: Line, exchange: Exchange): void {
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
      const line = lines.get(name) ?? { under: new Set<Exchange>(), waiting: new Set<Waiter>() };
      if (line.under.has(exchange)) return;
      lines.set(name, line);
      if (line.under.size < AT_ONCE[part]) {
        line.under.add(exchange);
        return;
      }
      if (line.waiting.size >= MOST_WAITING || exchange.response.closed) {
        onRefused();
        throw tooMany();
      }
      await wait(line, exchange);
    },
    end(exchange) {
      for (const part of ['query', 'body'] as const) {
        const name = nameOf(exchange, part);
        const line = name === undefined ? undefined : lines.get(name);
        if (name !== undefined && line) leave(name, line, exchange);
      }
    },
  };
}

function nameOf({ log }: Exchange, part: LargePart): string | undefined {
  return log.principal && `${log.principal.organisation.id} ${part}`;
}

function tooMany(): AppError {
  return new AppError('unavailable', 'Too many large requests of this organisation are under way.');
}
