/*
 * Keeps a folder of customers in step with Scopegate, both ways: npx tsx customers.ts, every few minutes.
 * changes.ndjson is what your users changed, a line each:
 * {"customer_id": "…", "contact_id": "…", "member": "phone", "was": "030-0074321", "is": "030-0074322"}
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { Scopegate, ScopegateError } from '@scopegate/client';

interface Change {
  readonly customer_id: string;
  readonly contact_id: string;
  readonly member: (typeof MEMBERS)[number];
  readonly was: string | null;
  readonly is: string;
}

const MEMBERS = ['name', 'role', 'email', 'phone'] as const;

const api = new Scopegate();
const FOLDER = 'customers';
await mkdir(FOLDER, { recursive: true });

/** Writes a file so that a crash leaves the old or the new one. */
async function save(name: string, text: string): Promise<void> {
  await writeFile(`${FOLDER}/.part`, text);
  await rename(`${FOLDER}/.part`, `${FOLDER}/${name}`);
}

/** Changes one member of one contact, whatever others change meanwhile, and says what came of it. */
async function push({ customer_id: id, contact_id, member, was, is }: Change): Promise<string> {
  if (!MEMBERS.includes(member)) return `refused: a change is of ${MEMBERS.join(', ')}, not of ${member}`;
  for (;;) {
    try {
      const { data: customer, etag } = await api.read('/customers/{id}', { path: { id } });
      const contact = customer.contacts.find((one) => one.id === contact_id);
      if (customer.erased_at) return 'refused: the customer was erased';
      if (!contact) return 'refused: the contact is gone';
      if (contact[member] === is) return 'stored already';
      if (contact[member] !== was) return `refused: somebody else changed it to ${contact[member]}`;
      // without one the change would be unconditional
      if (!etag) throw new Error(`${id}: read without an ETag, which a proxy on the way must have removed`);
      const contacts = customer.contacts.map((one) => (one.id === contact_id ? { ...one, [member]: is } : one));
      await api.patch('/customers/{id}', { path: { id }, body: { contacts }, ifMatch: etag });
      return 'stored';
    } catch (error) {
      if (!(error instanceof ScopegateError)) throw error;
      if (error.code === 'not_found' || error.code === 'validation_failed') return `refused: ${error.detail}`;
      // somebody was faster: read it again, and look whether the change still makes sense. If that is the refused
      // version three times, patch ends with etag_refused
      if (error.code !== 'precondition_failed') throw error;
    }
  }
}

/** Everything anew. The end of the feed is noted before the copy, so that the feed has what changes meanwhile. */
async function copy(): Promise<void> {
  const { next_cursor } = await api.get('/events', { query: { after: 'now' } });
  const old = new Set(await readdir(FOLDER));
  for await (const customer of api.list('/customers')) {
    await save(`${customer.id}.json`, JSON.stringify(customer));
    old.delete(`${customer.id}.json`);
  }
  for (const name of old) await rm(`${FOLDER}/${name}`, { force: true });
  await save('cursor', next_cursor);
}

/** What changed since the last run, page by page. */
async function pull(): Promise<void> {
  const after = await readFile(`${FOLDER}/cursor`, 'utf8').catch(() => undefined);
  if (after === undefined) return copy();
  const page = await api.get('/events', { query: { after, limit: 100 } });
  if (page.data.some(({ type }) => type === 'feed.gap')) return copy();
  const ids = new Set(page.data.flatMap(({ object }) => (object?.type === 'customer' ? object.id : [])));
  if (ids.size > 0)
    for await (const customer of api.list('/customers', { query: { id: [...ids] } })) {
      await save(`${customer.id}.json`, JSON.stringify(customer));
      ids.delete(customer.id);
    }
  // what the list no longer has was deleted
  for (const id of ids) await rm(`${FOLDER}/${id}.json`, { force: true });
  await save('cursor', page.next_cursor);
  if (page.has_more) await pull();
}

// taken, so that your program can go on writing; what a crash left is taken up first, and harmless if it was stored
if (!existsSync('changes.taken') && existsSync('changes.ndjson')) await rename('changes.ndjson', 'changes.taken');
if (existsSync('changes.taken')) {
  const lines = (await readFile('changes.taken', 'utf8')).split('\n').filter(Boolean);
  for (const line of lines) console.log(line, await push(JSON.parse(line) as Change));
  await rm('changes.taken');
}
await pull().catch((error: unknown) => {
  // not run for a month
  if (error instanceof ScopegateError && error.code === 'cursor_expired') return copy();
  throw error;
});
