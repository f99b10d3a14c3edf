import cluster, { type Worker } from 'node:cluster';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { type RateStore, WINDOW_SECONDS } from './rateLimit';

/*
 * Limits that the workers of one `serve --workers` share through its first process, exact without Redis. A message between
 * processes costs as much as the rest of a limit many times over, so a worker sends what the requests of one turn of its event loop ask in
 * one, and gets one answer.
 */

/** Timeout of an answer of the first process, after its requests fell back to memory, in milliseconds. */
const ANSWER_TIMEOUT = 5000;

/** Which limiter, whose budget, how many points of it, and how many it has per window, the same for all workers. */
type Ask = readonly [name: string, id: string, points: number, limit: number];
/** Whether that was within the budget, what remains of it, milliseconds until the window ends, and points taken in it. */
type Taken = readonly [allowed: boolean, remaining: number, msBeforeNext: number, consumed: number];

interface Question {
  /** Number of the question in its worker. */
  readonly askForLimits: number;
  readonly asks: readonly Ask[];
}

interface Answer {
  readonly limitsAsked: number;
  readonly taken: readonly Taken[];
}

interface Waiting {
  readonly ask: Ask;
  readonly resolve: (taken: RateLimiterRes) => void;
  readonly reject: (reason: unknown) => void;
}

type Channel = Pick<NodeJS.Process, 'send' | 'on'>;

/** Counts for the workers of this process. */
export function shareLimits(): void {
  const limiters = new Map<string, RateLimiterMemory>();
  const take = async ([name, id, points, limit]: Ask): Promise<Taken> => {
    let limiter = limiters.get(name);
    if (!limiter) limiters.set(name, (limiter = new RateLimiterMemory({ points: limit, duration: WINDOW_SECONDS })));
    let allowed = true;
    const result = await limiter.consume(id, points).catch((refusal: unknown) => {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      allowed = false;
      return refusal;
    });
    return [allowed, result.remainingPoints, result.msBeforeNext, result.consumedPoints];
  };
  cluster.on('message', (worker: Worker, message: Partial<Question>) => {
    const { askForLimits, asks } = message;
    if (askForLimits === undefined || asks === undefined) return;
    void Promise.all(asks.map(take)).then((taken) => {
      // one that died meanwhile takes no answer
      if (worker.isConnected()) worker.send({ limitsAsked: askForLimits, taken } satisfies Answer, () => undefined);
    });
  });
}

/** Limiters that count in the process that started this worker, by their names and points per window; `channel` leads there. */
export function limitsOfAllWorkers(channel: Channel = process): (name: string, limit: number) => RateStore {
  const asked = new Map<number, { readonly waiting: readonly Waiting[]; readonly timer: NodeJS.Timeout }>();
  let [number, next] = [0, [] as Waiting[]];

  function settle(question: number, each: (one: Waiting, at: number) => void): void {
    const found = asked.get(question);
    if (!found) return;
    asked.delete(question);
    clearTimeout(found.timer);
    found.waiting.forEach(each);
  }

  function send(): void {
    const [question, waiting] = [(number += 1), next];
    next = [];
    const fail = (reason: Error): void => {
      settle(question, ({ reject }) => {
        reject(reason);
      });
    };
    const timer = setTimeout(() => {
      fail(new Error('the first process does not answer'));
    }, ANSWER_TIMEOUT);
    asked.set(question, { waiting, timer });
    const message: Question = { askForLimits: question, asks: waiting.map(({ ask }) => ask) };
    // a closed channel is told to the callback too
    channel.send?.(message, undefined, undefined, (error) => {
      if (error) fail(error);
    });
  }

  channel.on('message', ({ limitsAsked, taken }: Partial<Answer>) => {
    if (limitsAsked === undefined || taken === undefined) return;
    settle(limitsAsked, ({ resolve, reject }, at) => {
      const [allowed, ...counts] = taken[at] ?? [false, 0, 0, 0];
      (allowed ? resolve : reject)(new RateLimiterRes(...counts));
    });
  });

  return (name, limit) => ({
    consume: (id, points) =>
      new Promise((resolve, reject) => {
        // after all requests that have arrived in this turn
        if (next.length === 0) setImmediate(send);
        next.push({ ask: [name, id, points, limit], resolve, reject });
      }),
  });
}
