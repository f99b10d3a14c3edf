import createClient, { type Client, type Middleware } from 'openapi-fetch';
import type { paths } from './scopegate';

export interface ClientOptions {
  /** http://127.0.0.1:4000 */
  readonly url: string;
  readonly key: string;
  /** Maximum number of retries. Default 5. */
  readonly retries?: number;
}

/** A typed client that honours Retry-After and retries so that a write takes effect at most once. */
export function scopegate({ url, key, retries = 5 }: ClientOptions): Client<paths> {
  const client = createClient<paths>({
    baseUrl: `${url}/api/v1`,
    fetch: (request) => patiently(request, retries),
    // multiple values of a filter are sent as ?status=a&status=b
    querySerializer: { array: { style: 'form', explode: true } },
  });
  const authorise: Middleware = {
    onRequest({ request }) {
      request.headers.set('Authorization', `Bearer ${key}`);
      // the same key for all attempts, so that the write takes effect only once
      if (request.method === 'POST') request.headers.set('Idempotency-Key', crypto.randomUUID());
      return request;
    },
  };
  client.use(authorise);
  return client;
}

/**
 * Statuses worth retrying (guide for integrators, "Retrying"): both kinds of 409, 429, 503; and 500, since writes have an
 * Idempotency-Key.
 */
const RETRIED = [409, 429, 500, 503];
/** Timeout of a request, in milliseconds. */
const PATIENCE = 60_000;

async function patiently(request: Request, retries: number): Promise<Response> {
  for (let attempt = 0; ; attempt += 1) {
    const isLast = attempt === retries;
    try {
      const response = await fetch(request.clone(), { signal: AbortSignal.timeout(PATIENCE) });
      if (!RETRIED.includes(response.status) || isLast) return response;
      await pause(secondsToWait(response, attempt));
    } catch (error) {
      if (isLast) throw error;
      await pause(2 ** attempt / 4);
    }
  }
}

/** Retry-After in seconds; without it, half a second, doubled for each attempt. */
function secondsToWait(response: Response, attempt: number): number {
  const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN);
  return Number.isNaN(retryAfter) ? 2 ** attempt / 2 : retryAfter;
}

function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}
