import { AppError } from '../errors';
import type { Exchange } from './exchange';

/*
 * How long, and how many, requests wait for the database. The driver's own deadlines are those of single stages, and a
 * read that it tries again meets them twice; so each request looks for itself whether the database still answers. While
 * it does not, requests are refused at once, and memory stays as it was.
 */

/** When a request first asks whether the database answers, and how often from then on, in milliseconds. */
const LOOK_EVERY = 1000;
/** How often it is seen whose time to ask has come, in milliseconds. */
const SWEEP_EVERY = 100;
/** How often a database that is away is asked, in milliseconds. */
const ASK_AGAIN = 200;
/**
 * How long a request whose connections were lost may go on, in milliseconds. The driver tells most of them, or tries
 * again; a command that it was about to write to a connection just closed waits for ever.
 */
const AFTER_LOSS = 5000;
/** How many times as long a request is known whose work does not end: no deadline of the driver is longer. */
const FORGOTTEN_AFTER = 2;
/** Requests that may wait at once: at 20 KB each 40 MB, and no database that answers leaves so many waiting. */
const MOST_IN_HAND = 2000;
/** Most of those that may be one organisation's. */
const MOST_OF_ONE = MOST_IN_HAND / 4;
const AWAY = 'The database does not answer at the moment.';

export interface Patience {
  /**
   * Does the work of a request. Rejects with what it throws, or earlier when the database does not answer; the work then
   * goes on by itself, and what it answers is not sent.
   * @throws AppError unavailable
   */
  spend(exchange: Exchange, work: () => Promise<void>): Promise<void>;
  /**
   * Judges a request that is about to ask the database for the first time.
   * @throws AppError unavailable, when the database is away or too many wait for it
   */
  admit(): void;
  /**
   * Judges a request of an organisation that is about to ask for the organisation's data.
   * @throws AppError unavailable, when too many of the same organisation wait
   */
  readonly admitOrganisation: (organisation: { readonly id: string }) => void;
  /** Whether requests of others than this organisation are at work now: those that wait for a body or a turn are not. */
  readonly hasOthers: (organisationId: string) => boolean;
  /** Requests at work now, those that were given up but still wait included. */
  readonly inHand: () => number;
  stop(): void;
}

export interface PatienceOptions {
  /** Whether the control database and a cluster's answer. */
  readonly answers: (cluster: string | undefined) => Promise<boolean>;
  /** When the connections to the control database or a cluster's were last lost, by performance.now(). */
  readonly lostAt: (cluster: string | undefined) => number;
  readonly onShed: () => void;
  readonly onOverShare: () => void;
  /** Told when the control database goes away, and when it is back. */
  readonly onChange: (isAway: boolean) => void;
  /** Told when the work of a request has ended, or is not waited for any more. */
  readonly onEnd: (exchange: Exchange) => void;
  /** Longest a request may take, however much the database answers, in milliseconds; a last look at that comes on top, up to 5 s. */
  readonly longest: number;
}

/** A request at work; moments are by performance.now(). */
interface Waiting {
  readonly started: number;
  /** Since when it may have asked the database something: from its start or the end of its body. */
  askingSince: number;
  /** When its connections were first lost since then: what is tried again and lost again has no more time for that. */
  lostAt: number | undefined;
  /** When it next asks whether the database answers. */
  lookAt: number;
  reject(reason: AppError): void;
}

export function createPatience(options: PatienceOptions): Patience {
  const { answers, lostAt, onShed, onOverShare, onChange, onEnd, longest } = options;
  const inHand = new Map<Exchange, Waiting>();
  let [isAway, isStopped] = [false, false];
  let asking: NodeJS.Timeout | undefined;
  let sweeping: NodeJS.Timeout | undefined;

  /** A request that still waits for its caller's body is not the database's matter. */
  function isMore(most: number, organisation?: string): boolean {
    if (inHand.size <= most) return false;
    let waiting = 0;
    for (const { isReceiving, log } of inHand.keys()) {
      const isMeant = organisation === undefined || log.principal?.organisation.id === organisation;
      if (isMeant && !isReceiving) waiting += 1;
    }
    return waiting > most;
  }

  async function ask(): Promise<boolean> {
    const isThere = await answers(undefined);
    if (isAway === isThere) {
      isAway = !isThere;
      onChange(isAway);
    }
    clearTimeout(asking);
    if (isAway && !isStopped) asking = setTimeout(() => void ask(), ASK_AGAIN).unref();
    return isThere;
  }

  async function answersStill({ isReceiving, log }: Exchange): Promise<boolean> {
    if (isReceiving) return true;
    const cluster = log.principal?.organisation.cluster;
    return (await ask()) && (cluster === undefined || (await answers(cluster)));
  }

  /** Whether it was under way when its connections were lost, and should have been told since. */
  function isLost({ log }: Exchange, waiting: Waiting): boolean {
    const last = Math.max(lostAt(undefined), lostAt(log.principal?.organisation.cluster));
    if (last > waiting.askingSince) waiting.lostAt ??= last;
    return waiting.lostAt !== undefined && performance.now() - waiting.lostAt > AFTER_LOSS;
  }

  async function look(exchange: Exchange, waiting: Waiting): Promise<void> {
    const areThere = await answersStill(exchange);
    if (!areThere || isLost(exchange, waiting)) waiting.reject(unavailable(AWAY));
    else if (performance.now() - waiting.started > longest) waiting.reject(unavailable('This took too long.'));
    else waiting.lookAt = performance.now() + LOOK_EVERY;
  }

  function end(exchange: Exchange): void {
    if (inHand.delete(exchange)) onEnd(exchange);
  }

  function sweep(): void {
    const now = performance.now();
    for (const [exchange, waiting] of inHand) {
      if (exchange.isReceiving) waiting.askingSince = now;
      if (now - waiting.started > FORGOTTEN_AFTER * longest) end(exchange);
      if (now < waiting.lookAt) continue;
      waiting.lookAt = Infinity;
      void look(exchange, waiting);
    }
    if (inHand.size > 0) return;
    clearInterval(sweeping);
    sweeping = undefined;
  }

  return {
    hasOthers(organisationId) {
      for (const { isReceiving, isWaiting, response, log } of inHand.keys()) {
        const isAtWork = !isReceiving && !isWaiting && !response.writableEnded;
        if (isAtWork && log.principal?.organisation.id !== organisationId) return true;
      }
      return false;
    },
    inHand: () => inHand.size,
    admit() {
      if (isAway) throw unavailable(AWAY);
      if (!isMore(MOST_IN_HAND)) return;
      onShed();
      throw unavailable('Too many requests wait for the database.');
    },
    admitOrganisation({ id }) {
      if (!isMore(MOST_OF_ONE, id)) return;
      onOverShare();
      throw unavailable('Too many requests of this organisation are under way.');
    },
    stop() {
      isStopped = true;
      clearTimeout(asking);
      clearInterval(sweeping);
    },
    spend(exchange, work) {
      // one timer for all: most requests are answered before they would look
      sweeping ??= setInterval(sweep, SWEEP_EVERY).unref();
      return new Promise((resolve, reject) => {
        const started = performance.now();
        inHand.set(exchange, {
          started,
          askingSince: started,
          lostAt: undefined,
          lookAt: started + LOOK_EVERY,
          reject,
        });
        work().then(
          () => {
            end(exchange);
            resolve();
          },
          (error: unknown) => {
            end(exchange);
            reject(error instanceof Error ? error : new Error(String(error)));
          },
        );
      });
    },
  };
}

function unavailable(detail: string): AppError {
  return new AppError('unavailable', detail);
}
