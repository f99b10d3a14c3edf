import { readFile, rename, writeFile } from 'node:fs/promises';
import { type Schemas, ScopegateError } from '@scopegate/client';
import type { Api, ListPath, Row } from './api';

/*
 * A copy of Scopegate's data in a file. Webhooks only say which objects to read again, so neither their order nor a repeated one
 * matters, and none that is lost is missed: the feed of events is read on from where it was when the receiver starts, and every few minutes.
 * One thing is done after another, so that an older answer never replaces a newer one.
 */

/** Where the objects of each type are. Remove what you do not need. */
const PATHS: Readonly<Record<string, ListPath>> = {
  product: '/products',
  customer: '/customers',
  quote: '/quotes',
  order: '/orders',
  request: '/requests',
};

/** The most events that wait; beyond that the feed is read instead. */
const MOST_PENDING = 100;
/** The most events that are remembered as done. */
const MOST_DONE = 10_000;

type Event = Schemas['Event'];
type ObjectName = Schemas['EventObject'];

interface Stored {
  /** Where the feed is read on; undefined until everything was copied once. */
  cursor: string | undefined;
  /** By type and id. */
  objects: Record<string, Record<string, Row>>;
}

export interface MirrorOptions {
  readonly api: Api;
  readonly file: string;
  /** How often the feed is read, in milliseconds. */
  readonly catchUpEvery: number;
}

export type Mirror = Awaited<ReturnType<typeof openMirror>>;

export async function openMirror({ api, file, catchUpEvery }: MirrorOptions) {
  let stored: Stored = await load(file);
  /** What webhooks have named, by id of the event. */
  const pending = new Map<string, ObjectName>();
  /** Ids of events whose objects have been read since. */
  const done = new Set<string>();
  let catchUpAt = 0;
  let wake: () => void = () => undefined;

  /** Reads objects, each once however often it changed, and stores what they are now. */
  async function refresh(changed: ReadonlyMap<string, ObjectName>): Promise<void> {
    const objects = new Map([...changed.values()].map((object) => [`${object.type} ${object.id}`, object]));
    for (const { type, id } of objects.values()) {
      const path = PATHS[type];
      // a type that is not copied, or that came later
      if (!path) continue;
      const row = await api.read(path, id);
      const rows = (stored.objects[type] ??= {});
      if (row) rows[id] = row;
      else delete rows[id];
    }
    for (const id of changed.keys()) done.add(id);
    for (const id of done) if (done.size > MOST_DONE) done.delete(id);
  }

  /** Copies everything. */
  async function copyAnew(): Promise<void> {
    // before the copy, so that the feed has whatever changes while it is made
    const { next_cursor: cursor } = await api.events('now');
    const objects: Stored['objects'] = {};
    for (const [type, path] of Object.entries(PATHS)) {
      const rows: Record<string, Row> = (objects[type] = {});
      for await (const row of api.list(path)) rows[row.id] = row;
    }
    stored = { cursor, objects };
    await save(file, stored);
    console.log('copied everything');
  }

  /** Reads the feed to its end. */
  async function catchUp(): Promise<void> {
    for (let hasMore = true; hasMore && stored.cursor !== undefined;) {
      const page = await api.events(stored.cursor);
      // deletions may be missing too, and only a copy shows those
      if (page.data.some(({ type }) => type === 'feed.gap')) return await copyAnew();
      const changed = new Map<string, ObjectName>();
      for (const { id, object } of page.data) if (object && !done.has(id)) changed.set(id, object);
      await refresh(changed);
      // with the objects in one file, so that the cursor is never ahead of them
      stored.cursor = page.next_cursor;
      await save(file, stored);
      hasMore = page.has_more;
    }
  }

  async function refreshPending(): Promise<void> {
    const changed = new Map(pending);
    // before they are read: what is reported from now on needs another look
    pending.clear();
    await refresh(changed);
    await save(file, stored);
  }

  return {
    /** Notes that an object has changed. Returns at once; the work is done later. */
    changed({ id, type, object }: Event): void {
      if (done.has(id)) return;
      if (type === 'feed.gap' || pending.size >= MOST_PENDING) catchUpAt = 0;
      else if (object) pending.set(id, object);
      wake();
    },

    /** Keeps the copy up to date. @throws ScopegateError if the key may not read it */
    async run(): Promise<never> {
      for (;;) {
        try {
          if (stored.cursor === undefined) await copyAnew();
          else if (Date.now() >= catchUpAt) {
            catchUpAt = Date.now() + catchUpEvery;
            await catchUp();
          } else if (pending.size > 0) await refreshPending();
          else await sleep(catchUpAt - Date.now());
        } catch (error) {
          // away for longer than events are kept
          if (!(error instanceof ScopegateError && error.code === 'cursor_expired')) throw error;
          await copyAnew();
        }
      }
    },
  };

  function sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

async function load(file: string): Promise<Stored> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Stored;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { cursor: undefined, objects: {} };
  }
}

/** Replaces the file, so that a receiver that is killed leaves the old one or the new one. */
async function save(file: string, stored: Stored): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(stored));
  await rename(`${file}.new`, file);
}
