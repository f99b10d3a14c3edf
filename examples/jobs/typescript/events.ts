/* Keeps a folder of orders equal to Scopegate's, live: npx tsx events.ts */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { Scopegate, ScopegateError } from '@scopegate/client';

const api = new Scopegate();
const FOLDER = 'orders';
await mkdir(FOLDER, { recursive: true });

/** Writes a file so that a crash leaves the old or the new one. */
async function save(name: string, text: string): Promise<void> {
  await writeFile(`${FOLDER}/.part`, text);
  await rename(`${FOLDER}/.part`, `${FOLDER}/${name}`);
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
  await save('cursor', next_cursor);
  console.log('copied everything');
}

/** An order as it is now. The event may be older, which does no harm: its next event then changes nothing. */
async function refresh(id: string): Promise<void> {
  try {
    await save(`${id}.json`, JSON.stringify(await api.get('/orders/{id}', { path: { id } })));
  } catch (error) {
    if (!(error instanceof ScopegateError && error.code === 'not_found')) throw error;
    await rm(`${FOLDER}/${id}.json`, { force: true });
  }
}

for (;;) {
  if (!existsSync(`${FOLDER}/cursor`)) await copy();
  try {
    const after = await readFile(`${FOLDER}/cursor`, 'utf8');
    // the client opens the stream again whenever it breaks
    for await (const { type, object, cursor } of api.events({ after })) {
      // deletions may be missing, and only a copy shows those
      if (type === 'feed.gap') await copy();
      else if (object?.type === 'order') await refresh(object.id);
      // only now: after a crash the event comes again
      await save('cursor', cursor);
    }
  } catch (error) {
    // away for longer than events are kept
    if (!(error instanceof ScopegateError && error.code === 'cursor_expired')) throw error;
    await copy();
  }
}
