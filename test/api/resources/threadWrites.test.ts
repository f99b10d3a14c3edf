import { randomUUID } from 'node:crypto';
import type { Json } from '../../support/client';
import { ask, askAll, FACES, refusal } from '../../support/faces';
import { callerOf, makeStored, northwind } from '../../support/factories';
import { late, served } from '../../support/gateway';

const customers = northwind('customers').slice(0, 2);

const gateway = served();
const caller = late(() => callerOf(gateway, makeStored(gateway, { customers })));

describe.each(FACES)('a request thread in $name', (face) => {
  const open = (args: Json = {}): Promise<Json> => ask(face, caller, 'open_request', { text: 'Hello', ...args });
  const add = (id: string, args: Json = {}): Promise<Json> =>
    ask(face, caller, 'add_request_message', { id, text: 'More', ...args });
  const update = (id: string, args: Json): Promise<Json> => ask(face, caller, 'update_request', { id, ...args });
  const read = (id: string): Promise<Json> => ask(face, caller, 'request', { id });

  test('a message is added at the end, counted, and found by its words', async () => {
    const thread = await open({ contact: { name: 'Ann' } });
    const message = await add(thread.id, { text: 'Where is my zeppelin?' });
    expect(message).toMatchObject({ request_id: thread.id, author: 'customer', author_name: 'Ann' });
    const listed = await askAll(face, caller, 'request_messages', { id: thread.id });
    expect([listed.length, listed.at(-1)]).toEqual([2, message]);
    expect(await read(thread.id)).toMatchObject({ message_count: 2, last_message_at: message.created_at });
    expect((await ask(face, caller, 'requests', { q: 'zeppelin' })).data).toContainEqual(await read(thread.id));
  });

  test.each([
    ['open', 'customer', 'open'],
    ['answered', 'customer', 'open'],
    ['closed', 'customer', 'open'],
    ['open', 'organisation', 'answered'],
    ['answered', 'organisation', 'answered'],
    ['closed', 'organisation', 'closed'],
  ])('a thread that is %s is, after a message of the %s, %s', async (before, author, after) => {
    const { id } = await open();
    await update(id, { status: before });
    await add(id, { author });
    expect(await read(id)).toMatchObject({ status: after });
  });

  test("an author's name is the given one, or the customer's, and none for the organisation", async () => {
    const [customer] = (await ask(face, caller, 'customers', { limit: 1 })).data as Json[];
    const { id } = await open({ customer_id: customer!.id });
    const names = [];
    for (const args of [{}, { author: 'organisation' }, { author: 'organisation', author_name: 'Sales' }])
      names.push((await add(id, args)).author_name);
    expect(names).toEqual([customer!.name, null, 'Sales']);
  });

  test('a blank message, one without a thread and one of a stranger are refused', async () => {
    const { id } = await open();
    expect(await refusal(face, caller, 'add_request_message', { id, text: ' \n' })).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '/text', code: 'length' }],
    });
    const nowhere = { id: randomUUID(), text: 'x' };
    expect(await refusal(face, caller, 'add_request_message', nowhere)).toMatchObject({ code: 'not_found' });
    const stranger = await callerOf(gateway);
    expect(await refusal(face, stranger, 'add_request_message', { id, text: 'x' })).toMatchObject({
      code: 'not_found',
    });
    expect(await read(id)).toMatchObject({ message_count: 1 });
  });

  test('status, subject, customer and reference change, alone and back', async () => {
    const [customer] = (await ask(face, caller, 'customers', { limit: 1 })).data as Json[];
    const thread = await open();
    const reference = `T-${randomUUID()}`;
    const changes = { status: 'closed', subject: 'Zebra', customer_id: customer!.id, external_ref: reference };
    const changed = await update(thread.id, changes);
    expect(changed).toEqual({ ...thread, ...changes, updated_at: expect.any(String) });
    expect(await read(thread.id)).toEqual(changed);
    expect((await ask(face, caller, 'requests', { external_ref: reference })).data).toEqual([changed]);
    expect((await ask(face, caller, 'requests', { q: 'zebra', id: [thread.id] })).data).toEqual([changed]);
    expect(await update(thread.id, {})).toEqual(changed);
    const cleared = { status: 'open', customer_id: null, external_ref: null };
    expect(await update(thread.id, cleared)).toMatchObject(cleared);
  });

  test('a customer that the organisation does not have is refused', async () => {
    const { id } = await open();
    const refused = await refusal(face, caller, 'update_request', { id, customer_id: randomUUID() });
    expect(refused).toMatchObject({ errors: [{ pointer: '/customer_id', code: 'not_found' }] });
  });

  test('of two threads only one has a reference: the conflict names it', async () => {
    const external_ref = `é-${randomUUID()}`;
    const owner = await open({ external_ref });
    const other = await open();
    const attempts = [
      await refusal(face, caller, 'open_request', { text: 'x', external_ref: external_ref.normalize('NFD') }),
      await refusal(face, caller, 'update_request', { id: other.id, external_ref }),
    ];
    for (const attempt of attempts)
      expect(attempt).toMatchObject({
        code: 'conflict',
        errors: [{ pointer: '/external_ref', detail: `belongs to another request (id ${String(owner.id)})` }],
      });
    await update(owner.id, { external_ref: null });
    expect(await update(other.id, { external_ref })).toMatchObject({ external_ref });
  });
});

test('two messages at the same time are both counted', async () => {
  const { body: thread } = await caller.post('/requests', { text: 'Hello' });
  const path = `/requests/${String(thread.id)}/messages`;
  const answers = await Promise.all(Array.from({ length: 5 }, (_, at) => caller.post(path, { text: String(at) })));
  expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(201));
  expect((await caller.get(`/requests/${String(thread.id)}`)).body.message_count).toBe(6);
  expect(answers[0]!.headers.has('location')).toBe(false);
});
