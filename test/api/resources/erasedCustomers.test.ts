import { recordKinds } from '../../../src/resources';
import { eraseCustomer } from '../../../src/resources/eraseCustomer';
import { requests } from '../../../src/resources/requests/requests';
import { type ImportRecord, storeRecords } from '../../../src/stored/records';
import { restoreAttachment } from '../../../src/stored/attachments';
import { attaching } from '../../support/attachments';
import { callerOf, makeStored, northwind } from '../../support/factories';
import { served } from '../../support/gateway';
import { threadRecord } from '../../support/threads';
import type { Json } from '../../support/client';
import { operator, TOKENS } from '../../admin/operator/operator';
import { patch, put } from '../../admin/operator/writing';

/* What an erasure removed is brought back by nothing that is written afterwards, for the customer's orders and threads. */

const gateway = served({ ...TOKENS, RATE_LIMIT_PER_MINUTE: '1000000' });
const [customer] = northwind('customers') as unknown as readonly [{ readonly id: string; readonly name: string }];
const order = northwind('orders').find(({ customer_id: id }) => id === customer.id)!;
const thread = threadRecord(['Regards, Jane'], { customer_id: customer.id, subject: 'For Jane', external_ref: 't-1' });
const by = 'operator';
const kindOf = (file: string) => recordKinds.find((kind) => kind.file === file)!;

/** An organisation whose customer was erased, and how to import records into it. */
async function erased() {
  const records = { customers: northwind('customers'), orders: [order], requests: [thread] };
  const organisation = await makeStored(gateway, records);
  const data = gateway.databases.organisationData(organisation);
  await eraseCustomer(data, customer.id, { by, signal: new AbortController().signal });
  /** Outcome, code and pointer for each record. */
  const imported = async (file: string, ...some: ImportRecord[]): Promise<unknown[]> => {
    const results = await storeRecords(kindOf(file), data, some, { by });
    return results.map(({ outcome, errors: [fault] }) => (fault ? `${fault.code} ${String(fault.pointer)}` : outcome));
  };
  const exported = async (file: string): Promise<ImportRecord[]> => {
    const found: ImportRecord[] = [];
    for await (const record of kindOf(file).read(data)) found.push(JSON.parse(JSON.stringify(record)) as ImportRecord);
    return found;
  };
  return { organisation, data, imported, exported, caller: await callerOf(gateway, organisation) };
}

test('an import of an older export fails for orders and threads with personal data', async () => {
  const { imported, exported } = await erased();
  const [orders, threads] = [await exported('orders'), await exported('requests')];
  expect(JSON.stringify([orders, threads])).not.toContain('Jane');
  const refused = ['erased /customer_id'];
  expect(await imported('orders', order)).toEqual(refused);
  expect(await imported('requests', thread)).toEqual(refused);
  const [{ id: _id, ...message }] = thread.messages as [Json];
  const [of] = threads as [ImportRecord];
  expect(await imported('requests', { ...of, messages: [{ ...message, id: thread.id }] })).toEqual(refused);
  // from before it was known whose they are
  expect(await imported('requests', { ...thread, customer_id: null })).toEqual(refused);
  // a new object of the customer
  const id = northwind('customers')[1]!.id;
  expect(await imported('orders', { ...order, id, number: 'New' })).toEqual(refused);
  expect([await exported('orders'), await exported('requests')]).toEqual([orders, threads]);
  expect(await imported('orders', { ...orders[0]!, status: 'cancelled' })).toEqual(['updated']);
  expect(await imported('requests', { ...of, status: 'closed' })).toEqual(['updated']);
  expect(await imported('orders', ...(await exported('orders')))).toEqual(['unchanged']);
});

test('a change, a message and a file of an erased customer fail, though they do not name it', async () => {
  const { data, caller, exported } = await erased();
  const before = await exported('requests');
  const path = `/requests/${thread.id}`;
  const faults = ({ status, body }: { status: number; body: Json }): unknown[] => [
    status,
    ...(body.errors ?? []).map(({ code, pointer }: Json) => `${String(code)} ${String(pointer)}`),
  ];
  expect(faults(await caller.patch(path, { subject: 'Jane again' }))).toEqual([422, 'erased /customer_id']);
  expect(faults(await caller.patch(path, { metadata: { name: 'Jane' } }))).toEqual([422, 'erased /customer_id']);
  const message = { text: 'Dear Jane', author: 'organisation' };
  expect(faults(await caller.post(`${path}/messages`, message))).toEqual([422, 'erased /id']);
  const { attach } = attaching(caller, () => data);
  expect(faults(await attach(path))).toEqual([422, 'erased /customer_id']);
  const attachment = {
    id: thread.id,
    file_name: 'Jane.pdf',
    content_type: 'a/b',
    size: 1,
    sha256: '',
    created_at: new Date(),
  };
  const restored = { objectId: thread.id, attachment, bytes: Buffer.from('J'), changed: undefined, by } as const;
  expect(await restoreAttachment(data, requests, restored)).toMatchObject({ code: 'erased' });
  expect(await exported('requests')).toEqual(before);
  expect(faults(await caller.patch(path, { status: 'closed' }))).toEqual([200]);
  expect(faults(await caller.patch(path, { customer_id: null }))).toEqual([200]);
  expect(faults(await caller.post(`${path}/messages`, message))).toEqual([201]);
});

test('writes of an operator bring nothing back, alone or after others in a call', async () => {
  const { organisation, exported } = await erased();
  const before = [await exported('orders'), await exported('requests')];
  const write = async (...writes: Json[]): Promise<unknown[]> => {
    const path = `/organisations/${organisation.id}/writes`;
    const { body } = await operator(gateway).post(path, { writes });
    return body.results.map(({ outcome, errors: [fault] }: Json) =>
      fault ? `${String(fault.code)} ${String(fault.pointer)}` : outcome,
    );
  };
  const message = { request_ref: 't-1', author: 'organisation', body: 'Dear Jane' };
  expect(
    await write(
      patch('request', { external_ref: 't-1', subject: 'For Jane' }),
      put('message', { external_ref: 'm-1', ...message }),
      patch('message', { id: (thread.messages as Json)[0].id, body: 'Jane' }),
      patch('order', { id: order.id, customer_reference: 'PO-Jane' }),
    ),
  ).toEqual([
    'erased /writes/0/patch/customer_id',
    'erased /writes/1/put/request_id',
    'erased /writes/2/patch/request_id',
    'erased /writes/3/patch/customer_id',
  ]);
  expect([await exported('orders'), await exported('requests')]).toEqual(before);
  const allowed = [
    patch('order', { id: order.id, status: 'cancelled' }),
    patch('request', { external_ref: 't-1', customer_id: null, subject: 'Anybody' }),
    put('message', { external_ref: 'm-1', ...message }),
  ];
  expect(await write(...allowed)).toEqual(['updated', 'updated', 'created']);
});
