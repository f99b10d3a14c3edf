/*
 * Brings messages of a help desk to request threads: npx tsx helpdesk.ts inbox.ndjson
 * A line is a message, or closes its ticket:
 * {"id": "m-1", "ticket": "T-17", "author": "customer", "name": "Ann", "email": "ann@example.com", "text": "Where is my order?"}
 * {"id": "m-4", "ticket": "T-17", "close": true}
 */
import { appendFile, readFile } from 'node:fs/promises';
import { Scopegate, ScopegateError } from '@scopegate/client';

interface Message {
  /** Of the form's submission or the e-mail: the same however often it is processed. */
  readonly id: string;
  /** The help desk's own number, as in the subject of its e-mails. */
  readonly ticket: string;
  readonly author?: 'customer' | 'organisation';
  /** Of who wrote it; without one their address stands for it. */
  readonly name?: string;
  readonly email?: string;
  readonly text: string;
  readonly close?: boolean;
}

const api = new Scopegate();
const [file = 'inbox.ndjson'] = process.argv.slice(2);
/** What is wrong with a message, and not with the key or the gateway. */
const FAULTS = ['invalid_request', 'validation_failed', 'not_found', 'payload_too_large'];

/** The thread of a ticket. */
async function threadOf(ticket: string): Promise<string> {
  const { data } = await api.get('/requests', { query: { external_ref: ticket } });
  if (data[0]) return data[0].id;
  throw new ScopegateError({ status: 404, code: 'not_found', detail: `no thread has the external_ref ${ticket}` });
}

/** The customer who has this address, unless there is none or several. */
async function customerOf(email: string | undefined): Promise<string | null> {
  if (!email) return null;
  const { data } = await api.get('/customers', { query: { email, limit: 2 } });
  return data[0] && data.length === 1 ? data[0].id : null;
}

/** Opens a thread for a ticket. Resolves with false if it has one. */
async function open({ id, ticket, name, email, text }: Message): Promise<boolean> {
  // without it, erasing the customer would leave the thread as it is
  const customer_id = await customerOf(email);
  const contact = { name: name || email || '', ...(email && { email }) };
  try {
    const body = { text, external_ref: ticket, contact, customer_id };
    await api.post('/requests', { body, idempotencyKey: `${id}-open` });
    return true;
  } catch (error) {
    if (error instanceof ScopegateError && error.code === 'conflict') return false;
    // it was opened before a crash, when the address belonged to another customer or to none
    if (error instanceof ScopegateError && error.code === 'idempotency_key_reused') return true;
    throw error;
  }
}

async function bring(message: Message): Promise<void> {
  const { id, ticket, author = 'customer', name, email, text, close } = message;
  if (close) {
    await api.patch('/requests/{id}', { path: { id: await threadOf(ticket) }, body: { status: 'closed' } });
  } else if (author === 'organisation' || !(await open(message))) {
    const body = { text, author, author_name: name || email };
    // a key for each write, the same whenever it is tried again: it takes effect once
    await api.post('/requests/{id}/messages', {
      path: { id: await threadOf(ticket) },
      body,
      idempotencyKey: `${id}-add`,
    });
  }
}

const done = new Set((await readFile(`${file}.done`, 'utf8').catch(() => '')).split('\n'));
for (const line of (await readFile(file, 'utf8')).split('\n').filter(Boolean)) {
  const message = JSON.parse(line) as Message;
  if (done.has(message.id)) continue;
  try {
    await bring(message);
    await appendFile(`${file}.done`, `${message.id}\n`);
    console.log(message.id);
  } catch (error) {
    // only this one waits for somebody to correct it
    if (!(error instanceof ScopegateError && FAULTS.includes(error.code))) throw error;
    console.error(`${message.id}: ${error.detail}`);
    process.exitCode = 1;
  }
}
