import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { NoAnswerError, within } from '../async/timeout';
import type { Plan } from '../auth/plans';
import { SECOND } from '../units';
import { createRateLimiter, type KeyBudgets, type RateLimiter, type RateStore, WINDOW_SECONDS } from './rateLimit';

type KeyPoints = Pick<Plan, 'points_per_minute' | 'organisation_points_per_minute'>;

/** The limiters of a gateway: in memory, or shared through Redis. */
export interface Limiters {
  /** Requests of each user and each operator's token, which have no plan. */
  readonly usersAndTokens: RateLimiter;
  /** The budgets of keys and their organisations with these points per window. In a shared store, what was spent stays spent if the points change. */
  readonly withPoints: (points: KeyPoints) => KeyBudgets;
  /** Failed authentications of each address. */
  readonly failures: RateLimiter;
  /** Public introspection of each address. */
  readonly introspection: RateLimiter;
  /** Asks whether the shared store counts; memory is always ok. Never rejects. */
  health(): Promise<'ok' | 'degraded'>;
  close(): void;
}

export interface LimitersOptions {
  /** Points per window, for each user, token and address. */
  readonly limit: number;
  readonly redisUrl?: string | undefined;
  /** How many gateways share the store; each allows its share while the store is down. */
  readonly instances: number;
  /** Called when the shared store goes down, when it then answers with an error, and when it recovers. */
  readonly onChange: (state: 'ok' | 'degraded', reason?: string) => void;
}

/** Maximum time a request waits for Redis before it falls back to memory, in milliseconds: a multiple of an answer in a local network, and no wait that a caller notices. */
const REDIS_TIMEOUT = 40;
/** The same for the ping that follows a request without an answer: no request waits for it, and a busy machine gets the time to read the answer. */
const RETRY_TIMEOUT = 5 * REDIS_TIMEOUT;
/** After this many late answers in a row, each followed by the answer to a ping, Redis is too slow to count. */
const MOST_LATE = 10;
/** Timeout of a Redis command, and of connecting, in milliseconds; its request has fallen back to memory long before. */
const COMMAND_TIMEOUT = 1000;
/** How long Redis is skipped after a failure, in milliseconds: 40 of each 540 have requests that wait, below a tenth, and it is soon used again once it recovers. */
const PAUSE_AFTER_FAILURE = 500;
/** How long it waits before it connects again, times the attempts so far, and at most, in milliseconds. */
const RECONNECT_PAUSE = 50;
const LONGEST_RECONNECT_PAUSE = 1000;

/** Opens the limiters; with `redisUrl`, even if Redis does not respond, since they count in memory until it does. */
export async function openLimiters(options: LimitersOptions): Promise<Limiters> {
  const { redisUrl } = options;
  if (redisUrl !== undefined) return createSharedLimiters(options, await connect(redisUrl));
  return {
    ...budgets(options, (_name, points) => memoryStore(points)),
    health: () => Promise.resolve('ok'),
    close: () => undefined,
  };
}

/** Creates the limiters, each with a store of its own, by name. */
function budgets(
  { limit }: LimitersOptions,
  createStore: (name: string, points: number) => RateStore,
): Omit<Limiters, 'health' | 'close'> {
  // one for each name and number, so that plans with the same points share what was spent in memory, too. Users and tokens are under `key`, whose
  // ids differ from theirs: the name must stay, since gateways of other versions share its counters
  const made = new Map<string, RateLimiter>();
  const budget = (name: string, points: number): RateLimiter => {
    const id = `${name} ${String(points)}`;
    const limiter = made.get(id) ?? createRateLimiter(points, createStore(name, points));
    made.set(id, limiter);
    return limiter;
  };
  return {
    usersAndTokens: budget('key', limit),
    withPoints: ({ points_per_minute, organisation_points_per_minute }) => ({
      keys: budget('key', points_per_minute),
      organisations: budget('organisation', organisation_points_per_minute),
    }),
    failures: budget('address', limit),
    introspection: budget('introspection', limit),
  };
}

function memoryStore(points: number): RateLimiterMemory {
  return new RateLimiterMemory({ points, duration: WINDOW_SECONDS });
}

function createSharedLimiters(options: LimitersOptions, redis: Redis): Limiters {
  const { instances, onChange } = options;
  /** What onChange was last told, with Redis' own answer, if it had one. */
  let isReportedDown = false;
  let reportedAnswer: string | undefined;
  /** Until when no request asks Redis, by performance.now(); an answer to `health` ends that at once. */
  let skipUntil = 0;
  let isClosed = false;
  let pinging: Promise<void> | undefined;
  let late = 0;

  function noteFailure(error: unknown): void {
    skipUntil = performance.now() + PAUSE_AFTER_FAILURE;
    const reason = error instanceof Error ? error.message : String(error);
    // reported even if it was down before: what Redis itself answers, such as that the password is wrong, says more
    const answer = error instanceof Error && error.name === 'ReplyError' ? reason : reportedAnswer;
    // closing while connecting is reported as an error, too
    if (isClosed || (isReportedDown && answer === reportedAnswer)) return;
    isReportedDown = true;
    reportedAnswer = answer;
    onChange('degraded', reason);
  }

  function noteAnswer(): void {
    late = 0;
    if (!isReportedDown) return;
    isReportedDown = false;
    reportedAnswer = undefined;
    onChange('ok');
  }

  /** Pings before a missing answer counts as a failure, since this machine may have been busy. An answer to a ping does not end a failure: counts may still be refused. */
  function pingAgain(): Promise<void> {
    pinging ??= within(RETRY_TIMEOUT, redis.ping())
      .then(() => {
        late += 1;
        if (late >= MOST_LATE) noteFailure(new NoAnswerError(`each answer took more than ${String(REDIS_TIMEOUT)} ms`));
      }, noteFailure)
      .finally(() => (pinging = undefined));
    return pinging;
  }

  async function noteNoResult(error: unknown): Promise<void> {
    if (error instanceof NoAnswerError && !isReportedDown) await pingAgain();
    else noteFailure(error);
  }

  // errors that belong to no request
  redis.on('error', noteFailure);

  /** Counts in the shared store, or, while that fails, in memory up to this instance's share, so that a limit always applies. */
  function store(name: string, points: number): RateStore {
    const shared = redisStore(redis, name, points);
    const fallback = memoryStore(Math.ceil(points / instances));
    return {
      async consume(id, points) {
        if (performance.now() < skipUntil) return fallback.consume(id, points);
        try {
          const result = await within(REDIS_TIMEOUT, shared.consume(id, points));
          noteAnswer();
          return result;
        } catch (error) {
          // how the store says that there are not enough points
          if (error instanceof RateLimiterRes) throw error;
          void noteNoResult(error);
          return fallback.consume(id, points);
        }
      },
    };
  }

  const probe = redisStore(redis, 'health', 1);

  return {
    ...budgets(options, store),
    health: async () => {
      try {
        // by the script of all counts: a replica, a full memory and missing rights refuse it, but not a ping
        await within(REDIS_TIMEOUT, probe.consume('gateway', 0));
        skipUntil = 0;
        noteAnswer();
      } catch (error) {
        await noteNoResult(error);
      }
      return isReportedDown ? 'degraded' : 'ok';
    },
    close: () => {
      isClosed = true;
      redis.disconnect();
    },
  };
}

async function connect(url: string): Promise<Redis> {
  // loaded on demand, because loading modules takes most of the startup time
  const { Redis: Client } = await import('ioredis');
  return new Client(url, {
    commandTimeout: COMMAND_TIMEOUT,
    connectTimeout: COMMAND_TIMEOUT,
    // if a command cannot be sent now, fall back to memory instead of queueing it
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * RECONNECT_PAUSE, LONGEST_RECONNECT_PAUSE),
  });
}

function redisStore(redis: Redis, name: string, points: number): RateStore {
  const limiter = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix: `scopegate:${name}`,
    points,
    duration: WINDOW_SECONDS,
    // a key over its limit stays over it until the window ends or points are given back, so Redis is not asked again
    inMemoryBlockOnConsumed: points + 1,
    rejectIfRedisNotReady: true,
  });
  async function take(id: string, points: number): Promise<RateLimiterRes> {
    try {
      return await limiter.consume(id, points);
    } catch (error) {
      if (!(error instanceof RateLimiterRes) || error.msBeforeNext <= WINDOW_SECONDS * SECOND) throw error;
      // no window is as long: the clock, by which keys over their limit are remembered, was set back
      limiter.deleteInMemoryBlockedAll();
      return limiter.consume(id, points);
    }
  }
  return {
    async consume(id, taken) {
      if (taken >= 0) return take(id, taken);
      // `consume` would not tell Redis about a key over its limit
      const result = await limiter.reward(id, -taken);
      limiter.deleteInMemoryBlockedAll();
      return result;
    },
  };
}
