import { AppError } from '../errors';
import type { Exchange } from './exchange';

/*
 * Limits how long and how many requests wait for the database. The driver's timeouts are per stage, and apply again to a
 * retried read, so each request checks for itself whether the database still responds. While it does not, requests are
 * rejected at once, so that memory does not grow.
 */

/** When a request first checks whether the database responds, and how often after that, in milliseconds. */
const LOOK_EVERY = 1000;
/** How often requests are scanned for due checks, in milliseconds. */
const SWEEP_EVERY = 100;
/** How often a database that is down is checked, in milliseconds. */
const ASK_AGAIN = 200;
/**
 * How long a request may continue after its connections were lost, in milliseconds. The driver fails or retries most
 * commands, but one written to a connection that was just closed waits forever.
 */
const AFTER_LOSS = 5000;
/** A request whose work does not end is forgotten after this multiple of its limit, which is longer than any driver timeout. */
const FORGOTTEN_AFTER = 2;
/** Maximum number of waiting requests: at 20 KB each that is 40 MB, and a working database never has so many waiting. */
const MOST_IN_HAND = 2000;
/** Maximum for one organisation. */
const MOST_OF_ONE = MOST_IN_HAND / 4;
const AWAY = 'The database is not responding.';

export interface Patience {
  /**
   * Runs the work of a request. Rejects with its error, or earlier if the database does not respond; the work then
   * continues in the background, and its answer is not sent.
   * @throws AppError unavailable
   */
  spend(exchange: Exchange, work: () => Promise<void>): Promise<void>;
  /**
   * Checks a request before its first database query.
   * @throws AppError unavailable if the database is down or too many requests wait for it
   */
  admit(): void;
  /**
   * Checks a request before it queries its organisation's data.
   * @throws AppError unavailable if too many requests of the organisation are waiting
   */
  readonly admitOrganisation: (organisation: { readonly id: string }) => void;
  /** Whether other organisations have requests in progress, not counting those that wait for a body or a turn. */
  readonly hasOthers: (organisationId: string) => boolean;
  /** Requests in progress, including rejected ones whose work has not ended. */
  readonly inHand: () => number;
  stop(): void;
}

export interface PatienceOptions {
  /** Whether a cluster (default: that of the control database) responds. */
  readonly answers: (cluster: string | undefined) => Promise<boolean>;
  /** When the connections to a cluster (default: that of the control database) were last lost, by performance.now(). */
  readonly lostAt: (cluster: string | undefined) => number;
  readonly onShed: () => void;
  readonly onOverShare: () => void;
  /** Called when the control database goes down, and when it is back. */
  readonly onChange: (isAway: boolean) => void;
  /** Called when the work of a request has ended or is forgotten. */
  readonly onEnd: (exchange: Exchange) => void;
  /** Maximum duration of a request even if the database responds, in milliseconds; a final check can add up to 5 s. */
  readonly longest: number;
}

/** A request in progress; times are by performance.now(). */
interface Waiting {
  readonly started: number;
  /** Since when it may have queried the database: its start, or the end of its body. */
  askingSince: number;
  /** When its connections were first lost since then; a retry that is lost again gets no extra time. */
  lostAt: number | undefined;
  /** When it next checks whether the database responds. */
  lookAt: number;
  reject(reason: AppError): void;
}

export function createPatience(options: PatienceOptions): Patience {
  const { answers, lostAt, onShed, onOverShare, onChange, onEnd, longest } = options;
  const inHand = new Map<Exchange, Waiting>();
  let [isAway, isStopped] = [false, false];
  let asking: NodeJS.Timeout | undefined;
  let sweeping: NodeJS.Timeout | undefined;

  /** Requests that wait for their caller's body do not count, since they do not wait for the database. */
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

  /** Whether it was in progress when its connections were lost, and should have failed since. */
  function isLost({ log }: Exchange, waiting: Waiting): boolean {
    const last = Math.max(lostAt(undefined), lostAt(log.principal?.organisation.cluster));
    if (last > waiting.askingSince) waiting.lostAt ??= last;
    return waiting.lostAt !== undefined && performance.now() - waiting.lostAt > AFTER_LOSS;
  }

  async function look(exchange: Exchange, waiting: Waiting): Promise<void> {
    const areThere = await answersStill(exchange);
    if (!areThere || isLost(exchange, waiting)) waiting.reject(unavailable(AWAY));
    else if (performance.now() - waiting.started > longest) waiting.reject(unavailable('The request took too long.'));
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
      throw unavailable('Too many requests are waiting for the database.');
    },
    admitOrganisation({ id }) {
      if (!isMore(MOST_OF_ONE, id)) return;
      onOverShare();
      throw unavailable('Too many requests of this organisation are in progress.');
    },
    stop() {
      isStopped = true;
      clearTimeout(asking);
      clearInterval(sweeping);
    },
    spend(exchange, work) {
      // one timer for all, since most requests are answered before their first check
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
