import { type ClientSession, trusted } from 'mongoose';
import { idempotencyRecords } from '../database/idempotency';
import { nativeCollection } from '../database/native';
import { stampedWrite } from '../database/openWrites';
import type { OrganisationData } from '../database/organisationData';
import type { Resource, Row } from './common/resource';
import { changedAt, isSameRow, writeRows } from './common/rows';
import { searchWords } from './common/search';
import { customers } from './customers/customers';
import { orders } from './orders/orders';
import { messages, requests } from './requests/requests';

/*
 * One customer's personal data, wherever a copy is (docs/decisions/organisation-life.md). Quotes have none but the
 * customer's id.
 */

/** What replaces a text that must not be empty. */
export const ERASED = 'erased';

/** Rows changed in one transaction. */
const AT_ONCE = 200;

/** Number of rows changed, by collection. */
export type Erased = Record<'customers' | 'orders' | 'requests' | 'messages', number>;

type Change = (row: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;

const NO_PERSON = { email: null, phone: null, vat_number: null, billing_address: null, delivery_address: null };

/**
 * Erases a customer's personal data in all collections. The customer is last, so that one who has been erased has no copies
 * left; running it again changes nothing. `signal` stops it between two transactions.
 */
export async function eraseCustomer(data: OrganisationData, id: string, signal: AbortSignal): Promise<Erased> {
  const ofCustomer = { customer_id: id };
  const [threads, texts] = await eraseThreads(data, ofCustomer, signal);
  return {
    requests: threads,
    messages: texts,
    orders: await eraseRows(data, orders, ofCustomer, signal, () => ({
      delivery_address: null,
      customer_reference: null,
    })),
    customers: await eraseRows(data, customers, { _id: id }, signal, () => ({
      name: ERASED,
      ...NO_PERSON,
      contacts: [],
    })),
  };
}

/** Threads with their messages; answers to retries of the requests that opened them are changed alike. */
async function eraseThreads(
  data: OrganisationData,
  filter: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<[number, number]> {
  const erased = { subject: ERASED, contact: null, search: searchWords(ERASED) };
  let texts = 0;
  for await (const threads of batches(data, requests, filter)) {
    signal.throwIfAborted();
    const ofThreads = { request_id: { $in: threads.map(({ _id }) => _id) } };
    texts += await eraseRows(data, messages, ofThreads, signal, () => ({ body: ERASED, author_name: null }));
  }
  const rows = nativeCollection(data.collection(idempotencyRecords));
  const answers = Object.fromEntries(Object.entries(erased).map(([name, value]) => [`answer.${name}`, value]));
  await rows.updateMany({ 'answer.customer_id': filter.customer_id }, { $set: answers });
  const threads = await eraseRows(data, requests, filter, signal, () => erased);
  return [threads, texts];
}

/** Changes rows in transactions of {@link AT_ONCE}. Resolves with the number of rows that changed. */
async function eraseRows(
  data: OrganisationData,
  resource: Resource,
  filter: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  change: Change,
): Promise<number> {
  let total = 0;
  for await (const batch of batches(data, resource, filter)) {
    signal.throwIfAborted();
    const ids = batch.map(({ _id }) => _id);
    total += await stampedWrite(data, (session, now) => changeRows(data, resource, { ids, change, session, now }), {
      writes: [resource],
    });
  }
  return total;
}

interface RowsToChange {
  readonly ids: readonly string[];
  readonly change: Change;
  readonly session: ClientSession;
  readonly now: Date;
}

async function changeRows(
  data: OrganisationData,
  resource: Resource,
  { ids, change, session, now }: RowsToChange,
): Promise<number> {
  const model = data.collection(resource);
  const rows = (await model.find({ _id: trusted({ $in: ids }) } as object, undefined, { session }).lean()) as Row[];
  const changed = rows.flatMap((row) => {
    const before = row as Row & Readonly<Record<string, unknown>>;
    const after = { ...before, ...change(before) };
    const searched =
      'search' in before && !('search' in change(before)) ? { ...after, search: resource.words(after) } : after;
    if (isSameRow(before, searched)) return [];
    const { updated_at: last } = before as { updated_at?: Date };
    return { row: { ...searched, ...(last && { updated_at: changedAt(last, now) }) }, before: row };
  });
  await writeRows(model, changed, { ordered: false, session });
  return changed.length;
}

/** The ids of rows, by id, a batch at a time. */
async function* batches(
  data: OrganisationData,
  resource: Resource,
  filter: Readonly<Record<string, unknown>>,
): AsyncGenerator<readonly Row[]> {
  const rows = nativeCollection(data.collection(resource));
  let batch: Row[] = [];
  for await (const row of rows.find(filter as object, { projection: { _id: 1 }, batchSize: AT_ONCE })) {
    batch.push({ _id: row._id });
    if (batch.length < AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
