import type { ClientSession } from 'mongoose';
import type { Organisation } from '../../../src/auth/principal';
import { publishedSchemas } from '../../../src/gateway/schemas';
import { stampedWrite } from '../../../src/tenant/openWrites';
import type { OrganisationData } from '../../../src/tenant/organisationData';
import type { DataContext } from '../../../src/operations/context';
import type { Resolver } from '../../../src/operations/run';
import type { UnitOfWork } from '../../../src/tenant/unitOfWork';
import { customers } from '../../../src/resources/customers/customers';
import { eraseCustomer } from '../../../src/resources/eraseCustomer';
import { messages, requests } from '../../../src/resources/requests/requests';
import { addMessage, openRequest, requestResolvers } from '../../../src/resources/requests/service';
import { type ImportRecord, storeRecords } from '../../../src/stored/records';
import { eventually } from '../http/eventually';
import { makeStored, northwind } from '../../support/factories';
import { served } from '../../support/gateway';

/* A customer is erased while its name is copied to a new thread. */

const [customer] = northwind('customers') as unknown as readonly [{ readonly id: string; readonly name: string }];
/** More often than it asks without waiting. */
const ASKED_OFTEN = 20;

let organisation: Organisation;
let data: OrganisationData;
const gateway = served();
beforeEach(async () => {
  organisation = await makeStored(gateway, { customers: northwind('customers') });
  data = gateway.databases.organisationData(organisation);
});

const input = { text: 'Are you open?', customer_id: customer.id };
const open = (write: UnitOfWork) => openRequest(data, input, { write, principal: { organisation } });
const by = 'operator';
const lives = { by, signal: new AbortController().signal } as const;
const names = async (): Promise<unknown[]> =>
  (await data.collection(messages).find().sort({ created_at: 1 }).toArray()).map(({ author_name }) => author_name);

test('a thread whose customer was erased before its write began is neither opened nor assigned', async () => {
  const write: UnitOfWork = (work, how) => stampedWrite(data, work, { ...how, by });
  const { _id: id } = await open(write);
  expect(await names()).toEqual([customer.name]);
  const tooLate: UnitOfWork = async (work, how) => {
    await eraseCustomer(data, customer.id, lives);
    return write(work, how);
  };
  const refusal = { code: 'validation_failed', extras: { errors: [{ pointer: '/customer_id', code: 'erased' }] } };
  await expect(open(tooLate)).rejects.toMatchObject(refusal);
  expect(await names()).toEqual([null]);
  // the thread of another customer, whose erasure left it
  await data.collection(requests).updateOne({ _id: id }, { $set: { customer_id: null } });
  const context = { data, write, principal: { organisation } } as unknown as DataContext;
  const info = { schema: publishedSchemas().rest } as unknown as Parameters<Resolver>[3];
  const assigned = requestResolvers.Mutation.update_request(undefined, { id, customer_id: customer.id }, context, info);
  await expect(assigned).rejects.toMatchObject(refusal);
});

/** Writes, and erases a customer before the commit, until the erasure waits for the write or is over. */
async function writeWhileErased(
  of: OrganisationData,
  id: string,
  work: (write: UnitOfWork) => Promise<unknown>,
  look: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  let asked = 0;
  const signal = { throwIfAborted: () => (asked += 1) } as unknown as AbortSignal;
  let erased: Promise<unknown> | undefined;
  await work((begin, options) =>
    stampedWrite(
      of,
      async (session, now) => {
        const made = await begin(session, now);
        const over = jest.fn();
        erased ??= eraseCustomer(of, id, { by, signal }).finally(over);
        while (over.mock.calls.length === 0 && asked < ASKED_OFTEN) await new Promise(setImmediate);
        await look();
        return made;
      },
      { ...options, by },
    ),
  );
  await erased;
}

test('a thread that copied the name before it was erased is waited for', async () => {
  const look = async (): Promise<void> => {
    expect((await data.collection(customers).findOne({ _id: customer.id }))?.name).toBe('erased');
  };
  await writeWhileErased(data, customer.id, open, look);
  expect(await names()).toEqual([null]);
});

test('a message that is added while its thread is erased keeps no name', async () => {
  const [thread] = northwind('requests') as unknown as readonly [{ id: string; customer_id: string; contact: object }];
  const organisation = await makeStored(gateway, { customers: northwind('customers'), requests: [thread] });
  const own = gateway.databases.organisationData(organisation);
  const input = { id: thread.id, text: 'And today?' };
  await writeWhileErased(own, thread.customer_id, (write) =>
    addMessage(own, input, { write, principal: { organisation, scopes: new Set() } }),
  );
  const found = await own.collection(messages).find({ body: 'And today?' }).toArray();
  const all = await own.collection(messages).find().toArray();
  expect([found.length, all.flatMap(({ author_name: name }) => (name === null ? [] : [name]))]).toEqual([0, []]);
});

test('what a write stores in an object that was erased since it began, is erased as well', async () => {
  const [thread] = northwind('requests') as unknown as readonly [{ id: string; customer_id: string; subject: string }];
  const organisation = await makeStored(gateway, { customers: northwind('customers'), requests: [thread] });
  const own = gateway.databases.organisationData(organisation);
  const rows = own.collection(requests);
  const subject = async (): Promise<unknown> => (await rows.findOne({ _id: thread.id }))?.subject;
  const change = { $set: { subject: 'Jane Doe' } };
  const work = (session: ClientSession) => rows.updateOne({ _id: thread.id }, change, { session });
  const begin = own.slots.begin.bind(own.slots);
  let [begun, written, isBegun] = [0, undefined as Promise<unknown> | undefined, false];
  jest.spyOn(own.slots, 'begin').mockImplementation(async () => {
    const slot = await begin();
    if (isBegun) return slot;
    if (written) {
      // the write has begun, and its transaction comes after the erasure of the row
      isBegun = true;
      await eventually(async () => (await subject()) !== thread.subject);
    } else if ((begun += 1) === 3) {
      // the customer was erased, twice, and its threads are next
      written = stampedWrite(own, work, { writes: [requests], by });
      await eventually(() => isBegun);
    }
    return slot;
  });
  await eraseCustomer(own, thread.customer_id, lives);
  await written;
  expect(await subject()).not.toBe('Jane Doe');
});

test('an import of an erased customer fails, and neither frees its external_ref nor takes another', async () => {
  await eraseCustomer(data, customer.id, lives);
  const [erased, other] = northwind('customers') as unknown as readonly [ImportRecord, ImportRecord];
  const records = [
    { ...erased, external_ref: 'another' },
    { ...other, external_ref: erased.external_ref },
    { ...other, external_ref: 'another' },
  ];
  const results = await storeRecords(customers.records!, data, records, { by });
  expect(results.map(({ outcome, errors }) => [outcome, errors.map(({ code }) => code)])).toEqual([
    ['failed', ['erased']],
    ['failed', ['conflict']],
    ['updated', []],
  ]);
});

test('a write that does not end is waited for only so long', async () => {
  await data.slots.begin();
  let minutes = 0;
  const now = jest.spyOn(performance, 'now').mockImplementation(() => (minutes += 1) * 60_000);
  const erased = eraseCustomer(data, customer.id, lives).finally(now.mockRestore.bind(now));
  await expect(erased).rejects.toThrow('does not end');
});
