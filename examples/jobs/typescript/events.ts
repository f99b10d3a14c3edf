/* Keeps a folder of orders equal to Scopegate's, live: npx tsx events.ts */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { Scopegate, ScopegateError } from '@scopegate/client';

// it runs for months, so it waits for a gateway that is away
const api = new Scopegate({ retries: Infinity, onRetry: ({ message }) => console.error(message) });
const FOLDER = 'orders';
await mkdir(FOLDER, { recursive: true });
const { organisation } = await api.get('/me');

/** Writes a file so that a crash leaves the old or the new one. */
async function save(name: string, text: string): Promise<void> {
  await writeFile(`${FOLDER}/.part`, text);
  await rename(`${FOLDER}/.part`, `${FOLDER}/${name}`);
}

/** How far the feed was read; undefined without a copy, or with that of another organisation. */
async function cursor(): Promise<string | undefined> {
  const [owner, noted] = (await readFile(`${FOLDER}/cursor`, 'utf8').catch(() => '')).split(' ');
  if (owner === organisation.id) return noted;
  if (owner)
    console.log(`${FOLDER} is a copy of organisation ${owner}, and the key of ${organisation.id}: starting over`);
  return undefined;
}

/** Copies everything. The cursor is noted before, so that nothing that changes meanwhile is missed. */
async function copy(): Promise<void> {
  const { next_cursor } = await api.get('/events', { query: { after: 'now' } });
  const old = new Set(await readdir(FOLDER));
  for await (const order of api.list('/orders', { query: { include: ['lines'] } })) {
    await save(`${order.id}.json`, JSON.stringify(order));
    old.delete(`${order.id}.json`);
  }
  for (const name of old) await rm(`${FOLDER}/${name}`, { force: true });
  await save('cursor', `${organisation.id} ${next_cursor}`);
  console.log('copied everything');
}

/** Stores orders as they are now. Events may be older, which does no harm: the next ones then change nothing. */
async function refresh(ids: Set<string>): Promise<void> {
  if (ids.size > 0)
    for await (const order of api.list('/orders', { query: { id: [...ids], include: ['lines'] } })) {
      await save(`${order.id}.json`, JSON.stringify(order));
      ids.delete(order.id);
    }
  // what the list no longer has was deleted
  for (const id of ids) await rm(`${FOLDER}/${id}.json`, { force: true });
}

for (;;) {
  try {
    const after = await cursor();
    if (after === undefined) {
      await copy();
      continue;
    }
    // up to 100 events, as soon as there is one
    const page = await api.get('/events', { query: { after, limit: 100, wait: 20 } });
    // deletions may be missing, and only a copy shows those
    if (page.data.some(({ type }) => type === 'feed.gap')) await copy();
    else await refresh(new Set(page.data.flatMap(({ object }) => (object?.type === 'order' ? object.id : []))));
    // only now: after a crash the events come again
    await save('cursor', `${organisation.id} ${page.next_cursor}`);
  } catch (error) {
    // away for longer than events are kept
    if (!(error instanceof ScopegateError && error.code === 'cursor_expired')) throw error;
    await copy();
  }
}
