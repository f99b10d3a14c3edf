import { randomUUID } from 'node:crypto';
import type { mongo } from 'mongoose';
import { type Fault, type Source, sync, type SyncOptions } from '../../../clients/sync/src';
import { newRef, operator, SECRET } from '../../admin/operator/operator';
import { QUOTE } from '../../admin/operator/writing';
import type { Json } from '../../support/client';
import type { TestGateway } from '../../support/gateway';

/* An app with collections of its own, and what becomes of them in a gateway. */

/** How documents of the app become quotes and customers. */
export const SOURCES: readonly Source[] = [
  {
    collection: 'people',
    type: 'customer',
    organisation: ({ account }) => account as string,
    map: ({ name, code }) => ({ name: name as string, ...(code && { external_ref: code as string }) }),
  },
  {
    collection: 'offers',
    type: 'quote',
    organisation: ({ account }) => account as string,
    map: ({ _id, title, state, person }) => {
      if (state === 'broken') throw new Error('no such state');
      if (state === 'hidden') return null;
      return { ...QUOTE, number: (title ?? String(_id)) as string, customer_ref: person ? String(person) : null };
    },
  },
];

export async function syncScene(gateway: TestGateway, bare: mongo.MongoClient) {
  const database = bare.db(`scopegate_app_${randomUUID().slice(0, 8)}`);
  const caller = operator(gateway);
  const newAccount = async () => {
    const ref = newRef();
    const { body } = await caller.post('/organisations', { name: 'Acme', external_ref: ref });
    return { ref, id: body.id as string };
  };
  const account = await newAccount();
  const faults: Fault[] = [];
  const retries: unknown[] = [];
  const syncs: ReturnType<typeof sync>[] = [];
  return {
    database,
    caller,
    account,
    newAccount,
    faults,
    retries,
    people: database.collection<Json>('people'),
    offers: database.collection<Json>('offers'),
    positions: database.collection<Json>('scopegate_sync'),
    sentOffers: database.collection<Json>('scopegate_sync.offers'),
    /** A sync, which is stopped with the scene. */
    open(more: Partial<SyncOptions> = {}) {
      const opened = sync({
        // that of the app may be another version of the same package
        database: database as unknown as SyncOptions['database'],
        sources: SOURCES,
        gateway: { url: gateway.url, token: SECRET },
        onFault: (fault) => void faults.push(fault),
        onRetry: (error) => void retries.push(error),
        ...more,
      });
      syncs.push(opened);
      return opened;
    },
    /** What an organisation has, in the order of its external_ref. */
    rows: (collection: string, { id } = account): Promise<Json[]> =>
      gateway.databases
        .organisationData({ id })
        .database.collection(collection)
        .find()
        .sort({ external_ref: 1 })
        .toArray(),
    async stop(): Promise<void> {
      for (const sync of syncs) await sync.stop();
      await database.dropDatabase();
    },
  };
}
