import { errorOf, LONGEST, noAnswer, type OnRetry, parse, ScopegateError, waitAfter } from './error.js';
import type { paths } from './openapi.js';
import { RefusedVersions } from './refusals.js';
import type { Last, ListPath, Path, Reading, Result, Row, WriteOptions, Writing } from './routes.js';
import { eventIn, type EventsOptions, framesOf, QUERY, type StreamEvent } from './stream.js';

export interface ScopegateOptions {
  /** The API key. Default: the environment variable SCOPEGATE_KEY. */
  readonly key?: string | undefined;
  /** URL of the gateway, without /api/v1. Default: SCOPEGATE_URL, or the demo's, http://127.0.0.1:4000. */
  readonly url?: string | undefined;
  /** Maximum retries per request. Default 5, which takes some 20 seconds. */
  readonly retries?: number;
  /** Seconds that one attempt may take. Default 60. */
  readonly timeout?: number;
  /** Called before each wait, with the error and the seconds. */
  readonly onRetry?: OnRetry;
}

export interface ReadResult<T> {
  readonly data: T;
  /** To pass as `ifMatch` of a change. Lists and reads with `include` have none. */
  readonly etag: string | undefined;
}

/** The options of any call; the types of the methods narrow them to those that a route takes. */
type Call = WriteOptions & { readonly path?: unknown; readonly query?: unknown; readonly body?: unknown };

/**
 * Calls a gateway with a key. Waits and retries as the API asks, so that a write takes effect at most once.
 * Methods reject with a ScopegateError. `T` are the types of the paths, if the gateway's schema is its own: `new Scopegate<paths>()`.
 */
export class Scopegate<T extends object = paths> {
  readonly #url: string;
  readonly #timeout: number;
  readonly #retries: number;
  readonly #onRetry: OnRetry;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #refused = new RefusedVersions();

  constructor({ key = env('KEY'), url = env('URL'), retries = 5, timeout = 60, onRetry }: ScopegateOptions = {}) {
    // a file often ends with a newline
    const trimmed = key?.trim() ?? '';
    if (!/^[\x21-\x7e]+$/.test(trimmed))
      throw new TypeError('The API key is missing or has invalid characters: pass `key`, or set SCOPEGATE_KEY.');
    this.#url = (url ?? 'http://127.0.0.1:4000').trim().replace(/\/+$/, '');
    // error messages contain the URL, so it must not contain a password
    if (!/^https?:\/\/[^\s@?#\\]+$/i.test(this.#url) || !URL.canParse(this.#url))
      throw new TypeError('The URL of the gateway must look like https://api.example.com, without user or query.');
    [this.#timeout, this.#retries, this.#onRetry] = [timeout, retries, onRetry];
    this.#headers = { Authorization: `Bearer ${trimmed}`, 'Content-Type': 'application/json' };
  }

  /** Reads an object, or a page of a list: `get('/orders/{id}', { path: { id } })`. */
  async get<P extends Path<'get', T>>(path: P, ...[options]: Last<Reading<P, T>>): Promise<Result<'get', P, T>> {
    return (await this.#rest<Result<'get', P, T>>('GET', path, options)).data;
  }

  /** Reads an object with its ETag. */
  read<P extends Path<'get', T>>(path: P, ...[options]: Last<Reading<P, T>>): Promise<ReadResult<Result<'get', P, T>>> {
    return this.#rest('GET', path, options);
  }

  /** Writes. A bulk call succeeds even if some elements fail: check `failed`. */
  async post<P extends Path<'post', T>>(path: P, options: Writing<'post', P, T>): Promise<Result<'post', P, T>> {
    return (await this.#rest<Result<'post', P, T>>('POST', path, options)).data;
  }

  /**
   * Changes the members in `body`; null clears one. With `ifMatch` rejects with `precondition_failed` if the object has changed, and with
   * `etag_refused` the third time if each read between returned that same version.
   */
  async patch<P extends Path<'patch', T>>(path: P, options: Writing<'patch', P, T>): Promise<Result<'patch', P, T>> {
    return (await this.#rest<Result<'patch', P, T>>('PATCH', path, options)).data;
  }

  /**
   * All objects of a list, page by page. One that is not changed meanwhile comes exactly once, whatever happens to others; by default (newest
   * first) one that is changed, too.
   */
  async *list<P extends ListPath<T>>(path: P, ...[options]: Last<Reading<P, T>>): AsyncGenerator<Row<P, T>, void> {
    const query = (options?.query ?? {}) as { readonly include?: readonly string[] };
    const limit = query.include?.includes('lines') ? 50 : 100;
    for (let cursor: string | null | undefined; cursor !== null;) {
      const call = { ...options, query: { limit, ...query, cursor } };
      const { data: page } = await this.#rest<{ data: Row<P, T>[]; next_cursor: string | null }>('GET', path, call);
      yield* page.data;
      cursor = page.next_cursor;
    }
  }

  /** Events as they happen, from now or after a cursor, until you leave the loop. Resumes after interruptions. */
  async *events(options: EventsOptions = {}): AsyncGenerator<StreamEvent, void> {
    const { types, silence = 45, signal } = options;
    const url = `${this.#url}/graphql`;
    const headers = { ...this.#headers, Accept: 'text/event-stream' };
    let { after } = options;
    for (let [wasOpen, failures] = [false, 0]; ;) {
      let opened = Infinity;
      let error = new ScopegateError({ status: 0, code: 'no_answer', detail: 'The stream ended.' });
      const body = JSON.stringify({ query: QUERY, variables: { after, types } });
      const connection = new AbortController();
      const either = anyOf(connection.signal, signal);
      const connect = (): Promise<Response> => send(url, { method: 'POST', headers, body, signal: either });
      try {
        for await (const { id, data } of framesOf(connect, silence, connection)) {
          opened = Math.min(opened, performance.now());
          // throws for malformed data before `after` moves, so that the frame is sent again
          const found = data ? eventIn(data) : undefined;
          after = id ?? after;
          if (found instanceof ScopegateError) throw found;
          if (found) yield found;
          wasOpen = true;
        }
      } catch (thrown) {
        signal?.throwIfAborted();
        error = thrown instanceof ScopegateError ? thrown : noAnswer(url, thrown);
      } finally {
        connection.abort();
      }
      // pauses grow until a stream stays open, whatever it sends
      failures = performance.now() - opened < LONGEST * 1000 ? failures + 1 : 1;
      // an address that never worked may be wrong; one that worked will again
      if (!error.isRetryable || (!wasOpen && failures > this.#retries)) throw error;
      await waitAfter(failures, error, this.#onRetry, signal);
    }
  }

  /**
   * Runs a query, or a mutation of one field, and returns `data`. Rejects on any error, even if there is data, too.
   * Pass values as variables: a document that the gateway already knows costs fewer points.
   */
  async graphql<T = Record<string, unknown>>(document: string, variables = {}, options: WriteOptions = {}): Promise<T> {
    const call = { ...options, body: { query: document, variables } };
    return (await this.#call<{ data: T }>('POST', '/graphql', call)).data.data;
  }

  async #rest<T>(method: string, path: string, call: Call = {}): Promise<ReadResult<T>> {
    const route = target(path, call);
    const [object = ''] = route.split('?', 1);
    try {
      const result = await this.#call<T>(method, `/api/v1${route}`, call);
      if (result.etag !== undefined) this.#refused.noteRead(object, result.etag);
      return result;
    } catch (error) {
      const isRefused = error instanceof ScopegateError && error.code === 'precondition_failed';
      if (!isRefused || call.ifMatch === undefined) throw error;
      throw this.#refused.noteRefusal(object, call.ifMatch, error);
    }
  }

  async #call<T>(method: string, path: string, call: Call): Promise<ReadResult<T>> {
    const url = this.#url + path;
    const headers = new Headers(this.#headers);
    // the same for all attempts, so that the write takes effect only once
    if (method !== 'GET') headers.set('Idempotency-Key', call.idempotencyKey ?? crypto.randomUUID());
    if (call.ifMatch !== undefined) headers.set('If-Match', call.ifMatch);
    const body = JSON.stringify(call.body);
    for (let failures = 1; ; failures += 1) {
      let error: ScopegateError;
      try {
        const signal = anyOf(AbortSignal.timeout(this.#timeout * 1000), call.signal);
        const response = await send(url, { method, headers, body, signal });
        const text = await response.text();
        const answer = response.ok ? parse(text) : undefined;
        // GraphQL errors come with 200
        if (typeof answer === 'object' && answer !== null && !('errors' in answer))
          return { data: answer as T, etag: response.headers.get('ETag') ?? undefined };
        error = errorOf(response, text);
      } catch (cause) {
        call.signal?.throwIfAborted();
        error = noAnswer(url, cause);
      }
      if (!error.isRetryable || failures > this.#retries) throw error;
      await waitAfter(failures, error, this.#onRetry, call.signal);
    }
  }
}

/** Follows no redirects: a POST would become a GET, and the key could reach another host. */
const send = (url: string, init: RequestInit): Promise<Response> => fetch(url, { ...init, redirect: 'manual' });

const anyOf = (own: AbortSignal, given?: AbortSignal): AbortSignal => (given ? AbortSignal.any([own, given]) : own);

type Value = string | number | boolean | undefined;

/** The path with its values, and the query. */
function target(path: string, { path: values = {}, query = {} }: Call): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const value = (values as Readonly<Record<string, string>>)[name] ?? '';
    // would lead to another route
    if (['', '.', '..'].includes(value)) throw new TypeError(`${path} needs a value for ${name}.`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query as Readonly<Record<string, Value | Value[]>>))
    for (const one of [value].flat()) if (one !== undefined) search.append(name, String(one));
  return search.size === 0 ? filled : `${filled}?${search.toString()}`;
}

/** There is no process in a browser. */
function env(name: string): string | undefined {
  const value = typeof process === 'undefined' ? '' : process.env[`SCOPEGATE_${name}`];
  return value === '' ? undefined : value;
}
