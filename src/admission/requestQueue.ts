import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import type { Caller } from '../auth/principal';
import { AppError } from '../errors';
import { LARGE_REQUESTS, LARGE_REQUESTS_WAITING } from '../limits';

/*
 * The queue of large requests: each organisation has a few in progress and a few waiting, so that one that sends too many is
 * rejected before it slows down others (docs/decisions/bodies-and-fairness.md).
 */

export type LargePart = keyof typeof LARGE_REQUESTS;
const PARTS = Object.keys(LARGE_REQUESTS) as LargePart[];

/** Maximum rows of a page that takes no turn. */
const USUAL_ROWS = 20;

/** Whether the arguments of a list ask for a page that takes a turn. */
export function isLargePage({ limit }: Readonly<Record<string, unknown>>): boolean {
  return typeof limit === 'number' && limit > USUAL_ROWS;
}

/** The part of an exchange used here. */
interface QueuedExchange {
  readonly request: Pick<IncomingMessage, 'socket'>;
  readonly response: Pick<ServerResponse, 'closed' | 'once'>;
  readonly log: { readonly principal?: Caller };
  isWaiting: boolean;
}

export type RequestQueue = ReturnType<typeof createRequestQueue>;

interface Waiter {
  readonly exchange: QueuedExchange;
  readonly go: () => void;
  readonly refuse: (reason: AppError) => void;
}

interface Queue {
  readonly running: Set<QueuedExchange>;
  readonly waiting: Set<Waiter>;
}

/** `onRefused` is called for each refusal. */
export function createRequestQueue(onRefused: () => void) {
  const queues = new Map<string, Queue>();
  /** Exchanges that have ended; `end` is only called once for each, so they must not get another turn. */
  const ended = new WeakSet<QueuedExchange>();
  /** The last of each organisation that waits for a turn of the event loop. */
  const last = new Map<string, Promise<void>>();

  function wait(queue: Queue, exchange: QueuedExchange): Promise<void> {
    exchange.isWaiting = true;
    return new Promise<void>((resolve, reject) => {
      const waiter = { exchange, go: resolve, refuse: reject };
      queue.waiting.add(waiter);
      // the caller disconnected, or got a 503 in the meantime
      exchange.response.once('close', () => {
        giveUp(queue, exchange);
      });
    }).finally(() => (exchange.isWaiting = false));
  }

  function giveUp(queue: Queue, exchange: QueuedExchange): void {
    for (const waiter of queue.waiting) {
      if (waiter.exchange !== exchange) continue;
      queue.waiting.delete(waiter);
      waiter.refuse(tooMany());
    }
  }

  function leave(exchange: QueuedExchange, part: LargePart): void {
    const name = nameOf(exchange, part);
    const queue = name === undefined ? undefined : queues.get(name);
    if (name === undefined || !queue) return;
    giveUp(queue, exchange);
    if (!queue.running.delete(exchange)) return;
    const [next] = queue.waiting;
    if (next) {
      queue.waiting.delete(next);
      queue.running.add(next.exchange);
      // the end of one and the start of the next would block the event loop together
      setImmediate(next.go);
    } else if (queue.running.size === 0) queues.delete(name);
  }

  return {
    /**
     * Waits until an exchange may start large work; returns immediately if it has its turn already or has no principal.
     * Taking a turn of another kind gives up the turn for the body.
     * @throws AppError unavailable if too many of the organisation are waiting, or the caller has disconnected
     */
    async take(exchange: QueuedExchange, part: LargePart): Promise<void> {
      const name = nameOf(exchange, part);
      if (name === undefined) return;
      // the body has been read by now, and keeping its turn while waiting would waste it
      if (part !== 'body') leave(exchange, 'body');
      const queue: Queue = queues.get(name) ?? { running: new Set(), waiting: new Set() };
      if (queue.running.has(exchange)) return;
      // a closed exchange would never end its turn
      if (ended.has(exchange) || exchange.response.closed || exchange.request.socket.destroyed) throw tooMany();
      queues.set(name, queue);
      if (queue.running.size < LARGE_REQUESTS[part]) {
        queue.running.add(exchange);
        return;
      }
      if (queue.waiting.size >= LARGE_REQUESTS_WAITING[part]) {
        onRefused();
        throw tooMany();
      }
      await wait(queue, exchange);
    },
    /**
     * Waits for a turn of the event loop that no other request of the organisation has. Requests that arrive together, or wait for the same
     * lookup of their key, would otherwise be read and refused in one turn.
     */
    loopTurn({ log }: Pick<QueuedExchange, 'log'>): Promise<void> {
      const name = log.principal?.organisation?.id ?? '';
      const ownTurn = (last.get(name) ?? Promise.resolve()).then(() => turn());
      last.set(name, ownTurn);
      void ownTurn.then(() => last.get(name) === ownTurn && last.delete(name));
      return ownTurn;
    },
    end(exchange: QueuedExchange): void {
      ended.add(exchange);
      for (const part of PARTS) leave(exchange, part);
    },
  };
}

function nameOf({ log }: QueuedExchange, part: LargePart): string | undefined {
  const { principal } = log;
  if (!principal) return undefined;
  // a token that sends slowly must not hold up the others
  return `${principal.kind === 'operator' ? `operator:${principal.name}` : principal.organisation.id} ${part}`;
}

function tooMany(): AppError {
  const detail = 'Too many large requests of this organisation, or operator token, are in progress.';
  return new AppError('unavailable', detail, { reason: 'shed' });
}
