import type { Availability } from '../mongo/availability';
import type { ShardHealth } from '../mongo/shardHealth';
import { NOT_RESPONDING } from '../mongo/deployment';
import { AppError } from '../errors';
import type { Caller, Organisation } from '../auth/principal';
import { WAITING_REQUESTS } from '../limits';

/*
 * Limits how many requests wait for the database, and for how long. The driver's timeouts are per stage, and start again for a
 * retried read, so each request checks for itself whether the database still responds. While it does not, requests are
 * rejected at once, so that memory does not grow.
 */

/**
 * Interval at which a request checks whether the database responds, in milliseconds. With the sweep and the 1.5 s that a check takes, a request
 * for a database that hangs is rejected within 2.6 s (docs/decisions/database-away.md). A check is repeated for 3 s more while this machine is
 * busy (mongo/probe.ts).
 */
const CHECK_EVERY = 800;
/** Interval at which requests are scanned for due checks, in milliseconds. */
const SWEEP_EVERY = 100;
/**
 * How long a request may continue after its connections were lost, in milliseconds. The driver fails or retries most
 * commands, but one written to a connection that was just closed waits forever.
 */
const AFTER_LOSS = 5000;
/** A request whose work does not end is forgotten after this multiple of `maxDuration`, which is longer than any driver timeout. */
const FORGOTTEN_AFTER = 2;
/** While no more than this many wait for the database, requests read their object in parallel with their key. More would queue behind each other anyway, and fewer of their reads would share a command. */
const READ_AHEAD_UP_TO = 4;

/** The part of an exchange used here. */
interface TrackedExchange {
  readonly response: { readonly writableEnded: boolean };
  readonly log: { readonly principal?: Caller };
  /** Whether its body is arriving. */
  readonly isReceiving: boolean;
  /** Whether it waits for a turn (requestQueue.ts). */
  readonly isWaiting: boolean;
  /** How many of its waits need no database, such as waits for events. */
  readonly idleWaits: number;
}

export type RequestTracker<Exchange extends TrackedExchange> = ReturnType<typeof createRequestTracker<Exchange>>;

export interface RequestTrackerOptions<Exchange> {
  readonly availability: Pick<Availability, 'isDown' | 'ask'>;
  /** Whether each shard responds; undefined for a replica set. */
  readonly shards?: Pick<ShardHealth, 'downShardOf' | 'check'> | undefined;
  /** When the connections were last lost, by performance.now(). */
  readonly lostAt: () => number;
  /** Called for each request rejected because too many wait: for the database, or of its organisation. */
  readonly onShed: (whose: 'database' | 'organisation') => void;
  /** Called when the work of a request has ended or is forgotten. */
  readonly onEnd: (exchange: Exchange) => void;
  /** Maximum duration of a request even if the database responds, in milliseconds; a final check can add up to 5 s on a busy machine. */
  readonly maxDuration: number;
}

/** A request in progress; times are by performance.now(). */
interface RequestInProgress {
  readonly started: number;
  /** Since when it may have queried the database: its start, or the end of its body or of its wait for events. */
  queryingSince: number;
  /** When its connections were first lost after `queryingSince`, also if it has waited again since; a retry that is lost again gets no extra time. */
  lostAt: number | undefined;
  /** When it next checks whether the database responds. */
  checkAt: number;
  reject(reason: AppError): void;
}

export function createRequestTracker<Exchange extends TrackedExchange>(options: RequestTrackerOptions<Exchange>) {
  const { availability, shards, lostAt, onShed, onEnd, maxDuration } = options;
  const inFlight = new Map<Exchange, RequestInProgress>();
  let sweepTimer: NodeJS.Timeout | undefined;

  /** Whether more than `most` requests wait for the database: those that wait for a body or for events do not. */
  function exceeds(most: number, matches: (organisation: Organisation | undefined) => boolean): boolean {
    if (inFlight.size <= most) return false;
    let waiting = 0;
    for (const { isReceiving, idleWaits, log } of inFlight.keys()) {
      if (!isReceiving && idleWaits === 0 && matches(log.principal?.organisation)) waiting += 1;
      if (waiting > most) return true;
    }
    return false;
  }

  /** The error of a request that waits for a database or a shard that does not respond; undefined if it responds. */
  async function findOutage({ isReceiving, idleWaits, log }: TrackedExchange): Promise<AppError | undefined> {
    if (isReceiving || idleWaits > 0) return undefined;
    const { organisation } = log.principal ?? {};
    const [isUp, shard] = await Promise.all([availability.ask(), organisation && shards?.check(organisation.id)]);
    return isUp && shard === undefined ? undefined : databaseDown(isUp ? shard : undefined);
  }

  /** Whether a request was in progress when its connections were lost, and should have failed since. */
  function isLost(request: RequestInProgress): boolean {
    const last = lostAt();
    if (last > request.queryingSince) request.lostAt ??= last;
    return request.lostAt !== undefined && performance.now() - request.lostAt > AFTER_LOSS;
  }

  /** Rejects a request if the database does not respond or it took too long, or else sets when it is checked next. */
  async function check(exchange: Exchange, request: RequestInProgress): Promise<void> {
    const failure = (await findOutage(exchange)) ?? (isLost(request) ? databaseDown() : undefined);
    if (failure) request.reject(failure);
    // the time includes its waits for a body and for events, each of which ends by itself before that
    else if (performance.now() - request.started > maxDuration)
      request.reject(new AppError('unavailable', 'The request took too long.', { reason: 'slow' }));
    else request.checkAt = performance.now() + CHECK_EVERY;
  }

  function end(exchange: Exchange): void {
    if (inFlight.delete(exchange)) onEnd(exchange);
  }

  function sweep(): void {
    const now = performance.now();
    for (const [exchange, request] of inFlight) {
      if (exchange.isReceiving || exchange.idleWaits > 0) request.queryingSince = now;
      if (now - request.started > FORGOTTEN_AFTER * maxDuration) end(exchange);
      if (now < request.checkAt) continue;
      // until this check ends; a rejected request is not checked again
      request.checkAt = Infinity;
      void check(exchange, request);
    }
    if (inFlight.size > 0) return;
    clearInterval(sweepTimer);
    sweepTimer = undefined;
  }

  return {
    /**
     * Whether other organisations have requests in progress, not counting those that wait for a body or a turn. A request without a caller yet
     * counts, since it may be another organisation's. An operator's does not: its large writes ask this, too, and would wait for themselves.
     */
    hasOthers(organisationId: string): boolean {
      for (const { isReceiving, isWaiting, idleWaits, response, log } of inFlight.keys()) {
        const isAtWork = !isReceiving && !isWaiting && idleWaits === 0 && !response.writableEnded;
        const isOther = log.principal?.kind !== 'operator' && log.principal?.organisation.id !== organisationId;
        if (isAtWork && isOther) return true;
      }
      return false;
    },
    /** Whether so few requests wait for the database that each may read its object in parallel with its key. */
    isCalm: (): boolean => !exceeds(READ_AHEAD_UP_TO, () => true),
    /** Requests in progress, including rejected ones whose work has not ended. */
    inFlight: (): number => inFlight.size,
    /**
     * Checks a request before its first database query.
     * @throws AppError unavailable if the database is down or too many requests are waiting
     */
    admit(): void {
      if (availability.isDown()) throw databaseDown();
      if (!exceeds(WAITING_REQUESTS.all, () => true)) return;
      onShed('database');
      throw tooMany('Too many requests are waiting for the database.');
    },
    /**
     * Checks a request before it queries its organisation's data.
     * @throws AppError unavailable if its shard is down, or too many requests of the organisation are waiting
     */
    admitOrganisation({ id }: Pick<Organisation, 'id'>): void {
      const shard = shards?.downShardOf(id);
      if (shard !== undefined) throw databaseDown(shard);
      if (!exceeds(WAITING_REQUESTS.organisation, (organisation) => organisation?.id === id)) return;
      onShed('organisation');
      throw tooMany('Too many requests of this organisation are in progress.');
    },
    /** Stops checking; requests in progress continue. */
    stop(): void {
      clearInterval(sweepTimer);
    },
    /**
     * Runs the work of a request. Rejects with its error, or earlier if the database does not respond; the work then
     * continues in the background, and its answer is not sent.
     * @throws AppError unavailable
     */
    run(exchange: Exchange, work: () => Promise<void>): Promise<void> {
      // one timer for all, since most requests are answered before their first check
      sweepTimer ??= setInterval(sweep, SWEEP_EVERY).unref();
      return new Promise((resolve, reject) => {
        const started = performance.now();
        const checkAt = started + CHECK_EVERY;
        inFlight.set(exchange, { started, queryingSince: started, lostAt: undefined, checkAt, reject });
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

function databaseDown(shard?: string): AppError {
  return new AppError('unavailable', NOT_RESPONDING, { reason: 'away', ...(shard !== undefined && { shard }) });
}

function tooMany(detail: string): AppError {
  return new AppError('unavailable', detail, { reason: 'shed' });
}
