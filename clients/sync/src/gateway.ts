import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './source.js';

export interface GatewayOptions {
  /** URL of the operator API, such as http://gateway:4000 (with ADMIN_PORT, that port). */
  readonly url: string;
  /** The secret of an operator's token, without its name. */
  readonly token: string;
}

/** Called before each wait. The `cause` of an error of an organisation that cannot be written now is the fault of the first element that waits. */
export type OnRetry = (error: unknown, seconds: number) => void;

/** An answer other than 2xx. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  constructor(
    readonly status: number,
    readonly retryAfter: number,
    text: string,
  ) {
    super(`The gateway answered ${String(status)}: ${text.slice(0, 1000)}`);
  }
}

export interface Result {
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'deleted' | 'stale' | 'failed';
  readonly errors: Fault['errors'];
}

/** How long an answer may take, in milliseconds, and the longest wait of our own, in seconds. */
const [PATIENCE, LONGEST] = [60_000, 30];

export const secondsAfter = (failures: number): number =>
  Math.min(LONGEST, 2 ** (failures - 2)) * (1 + Math.random() / 4);

export type Gateway = ReturnType<typeof openGateway>;

export function openGateway({ url, token }: GatewayOptions, onRetry: OnRetry, signal: AbortSignal) {
  const [base, secret] = [url.trim().replace(/\/+$/, ''), token.trim()];
  async function send(path: string, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(`${base}/operator/v1${path}`, {
      ...init,
      headers: { 'Content-Type': 'application/x-ndjson', Authorization: `Bearer ${secret}` },
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]),
    });
    if (response.ok) return response;
    throw new GatewayError(response.status, Number(response.headers.get('Retry-After')) || 0, await response.text());
  }

  return {
    signal,
    onRetry,
    get: async (path: string): Promise<unknown> => (await send(path)).json(),

    /** Writes elements. Returns the results that came, which may be fewer. @throws if there is none */
    async write(lines: readonly string[]): Promise<Result[]> {
      const text = await (await send('/writes', { method: 'POST', body: lines.join('\n') })).text();
      if (text === '') throw new Error('The gateway ended its answer before the first result.');
      return text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Result);
    },

    /** Repeats work until it succeeds. @throws an answer that waiting does not change */
    async retrying<T>(work: () => Promise<T>): Promise<T> {
      for (let failures = 1; ; failures += 1) {
        try {
          return await work();
        } catch (error) {
          signal.throwIfAborted();
          const isAnswer = error instanceof GatewayError;
          if (isAnswer && error.status < 500 && ![408, 409, 429].includes(error.status)) throw error;
          const seconds = Math.max(secondsAfter(failures), isAnswer ? error.retryAfter : 0);
          onRetry(error, seconds);
          await sleep(seconds * 1000, undefined, { signal });
        }
      }
    },
  };
}
