import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextLoopTurn } from 'node:timers/promises';
import type { Caller } from '../auth/principal';
import { AppError } from '../errors';
import { LARGE_REQUESTS, LARGE_REQUESTS_WAITING } from '../limits';

/*
 * The queue of large requests: each organisation has a few in progress (each has a turn) and a few waiting, so that one that sends too many
 * is rejected before it slows down others (docs/decisions/bodies-and-fairness.md). So that no two wait for each other, an exchange takes turns in
 * the order query, page, body, and gives up that of a body before it waits for another.
 */

/** What a turn is for: work on a large query, body or page. */
export type TurnKind = keyof typeof LARGE_REQUESTS;
const TURN_KINDS = Object.keys(LARGE_REQUESTS) as TurnKind[];

/** Maximum rows of a page that takes no turn: the usual default of `limit`, so that a page without one takes none. */
const MAX_ROWS_WITHOUT_TURN = 20;

/** Whether the arguments of a list ask for a page that takes a turn. */
export function isLargePage({ limit }: Readonly<Record<string, unknown>>): boolean {
  return typeof limit === 'number' && limit > MAX_ROWS_WITHOUT_TURN;
}

/** The part of an exchange used here. */
interface QueuedExchange {
  readonly request: Pick<IncomingMessage, 'socket'>;
  readonly response: Pick<ServerResponse, 'closed' | 'once'>;
  readonly log: { readonly principal?: Caller };
  isWaiting: boolean;
}

export type RequestQueue = ReturnType<typeof createRequestQueue>;

/** A request that waits for a turn. */
interface Waiter {
  readonly exchange: QueuedExchange;
  readonly admit: () => void;
  readonly refuse: (reason: AppError) => void;
}

interface Queue {
  readonly name: string;
  readonly running: Set<QueuedExchange>;
  readonly waiting: Set<Waiter>;
}

/** `onRefused` is called for each request that is refused because too many wait. */
export function createRequestQueue(onRefused: () => void) {
  const queues = new Map<string, Queue>();
  /** The queues that each exchange has joined: it leaves these, even if its log names another caller by then. */
  const joined = new WeakMap<QueuedExchange, Map<TurnKind, Queue>>();
  /** Exchanges that have ended; `end` is only called once for each, so they must not get another turn. */
  const ended = new WeakSet<QueuedExchange>();
  /** The last turn of the event loop that a request of each organisation waits for. */
  const lastTurns = new Map<string, Promise<void>>();

  function wait(queue: Queue, exchange: QueuedExchange): Promise<void> {
    exchange.isWaiting = true;
    return new Promise<void>((resolve, reject) => {
      const waiter = { exchange, admit: resolve, refuse: reject };
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
      waiter.refuse(tooManyLarge());
    }
  }

  function leave(exchange: QueuedExchange, kind: TurnKind): void {
    const queue = joined.get(exchange)?.get(kind);
    if (!queue) return;
    giveUp(queue, exchange);
    if (!queue.running.delete(exchange)) return;
    const [next] = queue.waiting;
    if (next) {
      queue.waiting.delete(next);
      queue.running.add(next.exchange);
      // the end of one and the start of the next would block the event loop together
      setImmediate(next.admit);
    } else if (queue.running.size === 0) queues.delete(queue.name);
  }

  return {
    /**
     * Waits until an exchange may start large work; returns immediately if it has its turn already or has no principal.
     * A turn for a query or page gives up the turn for the body. An exchange asks for one turn at a time, since its
     * steps, and the fields of a mutation, run one after another.
     * @throws AppError unavailable if too many of the organisation are waiting, or the caller has disconnected
     */
    async take(exchange: QueuedExchange, kind: TurnKind): Promise<void> {
      const name = nameOf(exchange, kind);
      if (name === undefined) return;
      // the body has been read by now, and keeping its turn would break the order in which turns are taken
      if (kind !== 'body') leave(exchange, 'body');
      const queue: Queue = queues.get(name) ?? { name, running: new Set(), waiting: new Set() };
      if (queue.running.has(exchange)) return;
      // whoever has gone needs no turn, and would not leave the queue: its `close` has been emitted
      if (ended.has(exchange) || exchange.response.closed || exchange.request.socket.destroyed) throw tooManyLarge();
      if (queue.running.size >= LARGE_REQUESTS[kind] && queue.waiting.size >= LARGE_REQUESTS_WAITING[kind]) {
        onRefused();
        throw tooManyLarge();
      }
      queues.set(name, queue);
      joined.set(exchange, (joined.get(exchange) ?? new Map<TurnKind, Queue>()).set(kind, queue));
      if (queue.running.size < LARGE_REQUESTS[kind]) queue.running.add(exchange);
      else await wait(queue, exchange);
    },
    /**
     * Waits for a turn of the event loop that no other request of the organisation has. Requests that arrive together, or wait for the same
     * lookup of their key, would otherwise be read and refused in one turn. Those without an organisation (operators, callers without a key) share
     * one line.
     */
    loopTurn({ log }: Pick<QueuedExchange, 'log'>): Promise<void> {
      const name = log.principal?.organisation?.id ?? '';
      const ownTurn = (lastTurns.get(name) ?? Promise.resolve()).then(() => nextLoopTurn());
      lastTurns.set(name, ownTurn);
      void ownTurn.then(() => lastTurns.get(name) === ownTurn && lastTurns.delete(name));
      return ownTurn;
    },
    /** Gives back all turns of an exchange, once its work has ended. */
    end(exchange: QueuedExchange): void {
      ended.add(exchange);
      for (const kind of TURN_KINDS) leave(exchange, kind);
    },
  };
}

/** The name of the queue of an exchange's organisation or token; undefined without a principal. */
function nameOf({ log }: QueuedExchange, kind: TurnKind): string | undefined {
  const { principal } = log;
  if (!principal) return undefined;
  // a token that sends slowly must not hold up the others
  return `${principal.kind === 'operator' ? `operator:${principal.name}` : principal.organisation.id} ${kind}`;
}

function tooManyLarge(): AppError {
  const detail = 'Too many large requests of this organisation, or operator token, are in progress.';
  return new AppError('unavailable', detail, { reason: 'shed' });
}
