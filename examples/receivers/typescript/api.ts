/** What happened to an object (docs/guides/receivers.md). */
export interface ScopegateEvent {
  readonly id: string;
  readonly type: string;
  /** Null for feed.gap. */
  readonly object: { readonly type: string; readonly id: string } | null;
}

export interface Row {
  readonly id: string;
  readonly [member: string]: unknown;
}

export interface Feed {
  readonly data: readonly ScopegateEvent[];
  readonly has_more: boolean;
  readonly next_cursor: string;
}

interface List {
  readonly data: readonly Row[];
  readonly next_cursor: string | null;
}

/** An error returned by the API: handle it by `code`. */
export class Problem extends Error {
  constructor(
    readonly code: string,
    detail: string,
  ) {
    super(`${code}: ${detail}`);
  }
}

/** Timeout of a request, in milliseconds. */
const PATIENCE = 60_000;
/** The longest delay before a request is repeated, in seconds. */
const LONGEST_DELAY = 30;

export type Api = ReturnType<typeof createApi>;

/** Reads from Scopegate. Whatever passes (429, 5xx, no answer or one of a proxy) is repeated until it has. `url` is http://127.0.0.1:4000 */
export function createApi(url: string, key: string) {
  const trouble = createTrouble();

  /** Undefined if there is no such object. @throws Problem for what does not pass */
  async function get<T>(path: string): Promise<T | undefined> {
    for (let attempt = 0; ; attempt += 1) {
      let delay = Math.min(2 ** attempt / 2, LONGEST_DELAY);
      try {
        const response = await fetch(`${url}/api/v1${path}`, {
          headers: { authorization: `Bearer ${key}` },
          signal: AbortSignal.timeout(PATIENCE),
        });
        const { status } = response;
        const found = response.ok ? ((await response.json()) as T) : undefined;
        const problem = response.ok ? undefined : await problemOf(response);
        // a 404 of anything else, such as a proxy, says nothing of the object
        if (response.ok || (status === 404 && problem?.code === 'not_found')) {
          trouble.is(undefined);
          return found;
        }
        if (problem && status !== 404 && status !== 429 && status < 500) throw problem;
        trouble.is(`${url} answered ${String(status)}, ${problem?.code ?? 'which is no answer of Scopegate'}`);
        // a proxy may send a date instead
        const after = response.headers.get('retry-after') ?? '';
        if (/^\d{1,3}$/.test(after)) delay = Number(after);
      } catch (error) {
        if (error instanceof Problem) throw error;
        trouble.is(`cannot reach ${url}: ${reasonOf(error)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, delay * 1000));
    }
  }

  return {
    /** One object as it is now. */
    read: (path: string, id: string): Promise<Row | undefined> => get(`${path}/${id}`),

    /** All rows of a list, page by page. */
    async *list(path: string, query: string): AsyncGenerator<Row> {
      for (let cursor: string | null = ''; cursor !== null;) {
        const page: List | undefined = await get(`${path}?${query}${cursor && `&cursor=${cursor}`}`);
        if (!page) throw new Error(`${path} is not there; is ${url} the address of Scopegate?`);
        yield* page.data;
        cursor = page.next_cursor;
      }
    },

    /** The events after a cursor, or with `now` a cursor for what happens from now on. */
    async events(after: string): Promise<Feed> {
      const feed = await get<Feed>(`/events?limit=100&after=${after}`);
      if (!feed) throw new Error(`there are no events; is ${url} the address of Scopegate?`);
      return feed;
    },
  };
}

/** Undefined if the answer is not one of Scopegate, but of something in between. */
async function problemOf(response: Response): Promise<Problem | undefined> {
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json');
  const text = await response.text();
  if (!isProblem) return undefined;
  const { code, detail = '' } = JSON.parse(text) as { code?: string; detail?: string };
  return code === undefined ? undefined : new Problem(code, detail);
}

/** `fetch` has it as the cause of its error. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message;
}

/** Prints what is wrong once, and when it is over. */
function createTrouble() {
  let told: string | undefined;
  return {
    is(what: string | undefined): void {
      if (what !== told) console.error(what === undefined ? 'going on' : `${what}; asking until that changes`);
      told = what;
    },
  };
}
