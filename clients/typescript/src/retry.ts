import { ScopegateError } from './error.js';

/** Seconds that a wait grows to by itself, and at most, since a proxy's date may be wrong. */
export const LONGEST = 30;
const LONGEST_SAID = 600;

export interface RetryOptions {
  /** Most retries of a request. Default 5, which is some 20 seconds. */
  readonly retries: number;
  /** Called before each wait, with its seconds. */
  readonly onRetry?: ((error: ScopegateError, seconds: number) => void) | undefined;
}

/** Repeats what may succeed later. @throws the error of the last attempt, or the reason of `signal` */
export async function retrying<T>(work: () => Promise<T>, options: RetryOptions, signal?: AbortSignal): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ScopegateError) || !error.isRetryable || failures > options.retries) throw error;
      await waitAfter(failures, error, options, signal);
    }
  }
}

/**
 * Waits as long as the answer says, and longer the more attempts have failed: 0.5, 1, 2, … 30 seconds, and up to a quarter more, so that
 * clients that failed together do not return together.
 */
export function waitAfter(
  failures: number,
  error: ScopegateError,
  { onRetry }: RetryOptions,
  signal?: AbortSignal,
): Promise<void> {
  const growing = Math.min(LONGEST, 2 ** (failures - 2)) * (1 + Math.random() / 4);
  const seconds = Math.max(growing, Math.min(error.retryAfter ?? 0, LONGEST_SAID));
  onRetry?.(error, seconds);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, seconds * 1000);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve();
    }
    signal?.addEventListener('abort', done);
  });
}
