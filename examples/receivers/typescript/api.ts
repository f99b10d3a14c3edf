import { Scopegate, ScopegateError, type Result } from '@scopegate/client';

export interface Row {
  readonly id: string;
}

/** The lists that can be copied. */
export type ListPath = '/products' | '/customers' | '/quotes' | '/orders' | '/requests';

export type Api = ReturnType<typeof createApi>;

/** Reads from Scopegate. Whatever passes (429, 5xx, no answer or one of a proxy) is repeated until it has. */
export function createApi(url: string, key: string) {
  const client = new Scopegate({
    url,
    key,
    retries: Infinity,
    onRetry: ({ message }) => tell(`${message} Asking again.`),
  });

  /** Prints what is wrong once, and when it is over. */
  let told: string | undefined;
  function tell(what: string | undefined): void {
    if (what !== told) console.error(what ?? 'Going on.');
    told = what;
  }

  return {
    /** One object as it is now; undefined if there is none. */
    async read(path: ListPath, id: string): Promise<Row | undefined> {
      const found = await client.get(`${path}/{id}`, { path: { id } }).catch((error: unknown) => {
        // the code of Scopegate: a 404 of anything else, such as a proxy, says nothing of the object
        if (error instanceof ScopegateError && error.code === 'not_found') return undefined;
        throw error;
      });
      tell(undefined);
      return found;
    },

    /** All rows of a list, with what a read of one has. */
    async *list(path: ListPath): AsyncGenerator<Row> {
      yield* client.list(path, { query: path === '/quotes' || path === '/orders' ? { include: ['lines'] } : {} });
      tell(undefined);
    },

    /** The events after a cursor, or with `now` a cursor for what happens from now on. */
    async events(after: string): Promise<Result<'get', '/events'>> {
      const feed = await client.get('/events', { query: { limit: 100, after } });
      tell(undefined);
      return feed;
    },
  };
}
