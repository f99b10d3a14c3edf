import { AppError } from '../errors';
import type { Exchange } from './exchange';

/*
 * Turns of large requests: each organisation has a few under way and a few that wait, so that one which sends ever more
 * of them is refused before another waits (docs/decisions/bodies-and-fairness.md).
 */

/** Large requests of one organisation that are carried out at once, and that may wait for that. */
const AT_ONCE = 2;
const MOST_WAITING = 16;

export interface Turns {
  /**
   * Waits until an exchange may do something large; at once where it has its turn already, or nobody is known to ask.
   * @throws AppError unavailable, when too many of the organisation wait, or its caller has left
   */
  take(exchange: Exchange): Promise<void>;
  /** Ends the turn of an exchange, where it has one. */
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

  return {
    async take(exchange) {
      const id = exchange.log.principal?.organisation.id;
      if (id === undefined) return;
      const line = lines.get(id) ?? { under: new Set<Exchange>(), waiting: new Set<Waiter>() };
      if (line.under.has(exchange)) return;
      lines.set(id, line);
      if (line.under.size < AT_ONCE) {
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
      const id = exchange.log.principal?.organisation.id;
      const line = id === undefined ? undefined : lines.get(id);
      if (id === undefined || !line?.under.delete(exchange)) return;
      const [next] = line.waiting;
      if (next) {
        line.waiting.delete(next);
        line.under.add(next.exchange);
        next.go();
      } else if (line.under.size === 0) lines.delete(id);
    },
  };
}

function tooMany(): AppError {
  return new AppError('unavailable', 'Too many large requests of this organisation are under way.');
}
