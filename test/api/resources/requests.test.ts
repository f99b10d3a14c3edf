import { randomUUID } from 'node:crypto';
import type { Organisation } from '../../../src/auth/principal';
import type { Json } from '../../support/client';
import { ask, askAll, askPages, call, FACES, REST, refusal } from '../../support/faces';
import { callerOf, makeOrganisation, makeStored, northwind, store } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { threadRecord } from '../../support/threads';

const customers = northwind('customers').slice(0, 2);

const gateway = served();
const organisation = late(() => makeStored(gateway, { customers }));
const caller = late(() => callerOf(gateway, organisation));

const collection = (of: Organisation, name: string) => gateway.databases.organisationData(of).database.collection(name);

describe.each(FACES)('open_request in $name', (face) => {
  const open = (args: Json): Promise<Json> => ask(face, caller, 'open_request', args);
  const messagesOf = (id: string): Promise<Json[]> => askAll(face, caller, 'request_messages', { id });

  test('opens a thread that reads back identically, with the text as its only message', async () => {
    const from = Date.now();
    const thread = await open({ text: 'Do you deliver to Leeds?\nBy Friday?' });
    expect(thread).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      subject: 'Do you deliver to Leeds?',
      status: 'open',
      customer_id: null,
      external_ref: null,
      contact: null,
      message_count: 1,
      last_message_at: thread.created_at,
      created_at: expect.stringMatching(/Z$/),
      updated_at: thread.created_at,
      metadata: {},
      attachments: [],
    });
    expect(Date.parse(thread.created_at)).toBeGreaterThanOrEqual(from);
    expect(await ask(face, caller, 'request', { id: thread.id })).toEqual(thread);
    expect((await ask(face, caller, 'requests', { limit: 1 })).data).toEqual([thread]);
    expect(await messagesOf(thread.id)).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        request_id: thread.id,
        author: 'customer',
        author_name: null,
        external_ref: null,
        body: 'Do you deliver to Leeds?\nBy Friday?',
        created_at: thread.created_at,
      },
    ]);
  });

  test.each([
    ['the given one', { text: 'A text', subject: 'Delivery' }, 'Delivery'],
    ['the given one, trimmed', { text: 'A text', subject: '  Delivery \n' }, 'Delivery'],
    ['the first line of the text if omitted', { text: 'First\nSecond' }, 'First'],
    ['the first line if null', { text: 'First\r\nSecond', subject: null }, 'First'],
    ['the first line if blank', { text: 'First\r\nSecond', subject: ' \t' }, 'First'],
    ['the first line that is not blank', { text: '\n\n  First  \nSecond' }, 'First'],
    ['a first line of 200 characters unchanged', { text: `${'😀'.repeat(200)}\nx` }, '😀'.repeat(200)],
    ['a longer first line cut to 200 characters', { text: '😀'.repeat(201) }, `${'😀'.repeat(199)}…`],
  ])('uses %s as the subject', async (_title, args, subject) => {
    const thread = await open(args);
    expect(thread.subject).toBe(subject);
    expect((await messagesOf(thread.id))[0].body).toBe(args.text);
  });

  test('stores a text of 20,000 characters unchanged', async () => {
    const text = ` ${'é😀'.repeat(9999)} `;
    expect(Array.from(text)).toHaveLength(20_000);
    const { id } = await open({ text });
    expect((await messagesOf(id))[0].body).toBe(text);
  });

  test.each([
    ['a blank text', { text: ' \n\t\u00a0' }, '/text'],
    ['20,001 characters', { text: 'x'.repeat(20_001) }, '/text'],
    ['a text with a lone surrogate', { text: 'x\ud800' }, '/text'],
    ['a control character', { text: 'a', subject: 'a\u0007b' }, '/subject'],
  ])('rejects %s and stores nothing', async (_title, args, pointer) => {
    const before = await collection(organisation, 'requests').countDocuments();
    const problem = await refusal(face, caller, 'open_request', args);
    expect(problem).toMatchObject({ status: 422, code: 'validation_failed', errors: [{ pointer }] });
    expect(await collection(organisation, 'requests').countDocuments()).toBe(before);
  });

  test('accepts a customer id in any case, and uses its name as the author', async () => {
    const [customer] = customers;
    const thread = await open({ text: 'Hello', customer_id: customer!.id.toUpperCase() });
    expect(thread.customer_id).toBe(customer!.id);
    expect((await messagesOf(thread.id))[0].author_name).toBe(customer!.name);
    expect((await askAll(face, caller, 'requests', { customer_id: customer!.id }))[0]).toEqual(thread);
  });

  test('stores the contact, with null for omitted members, and uses its name as the author', async () => {
    const thread = await open({ text: 'Hello', customer_id: customers[0]!.id, contact: { name: 'Ann', phone: '1' } });
    expect(thread.contact).toEqual({ name: 'Ann', email: null, phone: '1' });
    expect((await messagesOf(thread.id))[0].author_name).toBe('Ann');
    const other = await open({ text: 'Hello', contact: { name: 'Bob', email: 'bob@mill.example', phone: null } });
    expect(other.contact).toEqual({ name: 'Bob', email: 'bob@mill.example', phone: null });
  });

  test('opens a thread that is immediately found by the words of its subject and text', async () => {
    const word = `w${randomUUID().slice(0, 8)}`;
    const thread = await open({ text: `Please quote\n12 x ${word}`, subject: 'Hinges' });
    for (const q of [word, word.slice(0, 7), `hinges ${word}`, `HINGES please`]) {
      expect((await askAll(face, caller, 'requests', { q })).map(({ id }) => id)).toContain(thread.id);
    }
    expect(await askAll(face, caller, 'requests', { q: `${word}x` })).toEqual([]);
  });

  test('stores no thread if its message cannot be stored', async () => {
    const own = await makeOrganisation(gateway);
    const writer = await callerOf(gateway, own);
    const first = await ask(face, writer, 'open_request', { text: 'First' });
    // the database now rejects a second message of the same author, after its thread is written
    const index = await collection(own, 'messages').createIndex({ author: 1 }, { unique: true }, {});
    const { problem } = await call(face, writer, 'open_request', { text: 'Second' });
    expect(problem).toMatchObject({ status: 500, code: 'internal' });
    expect(await askAll(face, writer, 'requests')).toEqual([first]);
    expect(await collection(own, 'messages').countDocuments()).toBe(1);
    await collection(own, 'messages').dropIndex(index);
    await ask(face, writer, 'open_request', { text: 'Third' });
    expect(await askAll(face, writer, 'requests')).toHaveLength(2);
  });
});

describe.each(FACES)("a thread's messages in $name", (face) => {
  const bodies = Array.from({ length: 45 }, (_none, at) => `Message ${String(at)}`);
  const thread = threadRecord(bodies);
  const another = threadRecord(['One', 'Two']);
  beforeAll(() => store(gateway, organisation, { requests: [thread, another] }));

  test('are listed oldest first, in pages of 20 or as many as asked for, each exactly once', async () => {
    expect((await ask(face, caller, 'request_messages', { id: thread.id })).data).toHaveLength(20);
    for (const limit of [7, 20, 45, 100]) {
      const pages = await askPages(face, caller, 'request_messages', { id: thread.id, limit });
      expect(pages).toHaveLength(Math.ceil(45 / limit));
      expect(pages.flatMap(({ data }) => data.map(({ body }: Json) => body))).toEqual(bodies);
    }
  });

  test("reject the cursor of another thread's", async () => {
    const { next_cursor: cursor } = await ask(face, caller, 'request_messages', { id: another.id, limit: 1 });
    expect((await ask(face, caller, 'request_messages', { id: another.id, cursor })).data).toHaveLength(1);
    expect(await refusal(face, caller, 'request_messages', { id: thread.id, cursor })).toMatchObject({
      errors: [{ parameter: 'cursor', code: 'cursor' }],
    });
  });

  test('have exactly the members of the contract', async () => {
    const [message] = await askAll(face, caller, 'request_messages', { id: thread.id.toUpperCase() });
    expect(Object.keys(message).sort()).toEqual([
      ...['author', 'author_name', 'body', 'created_at', 'external_ref', 'id', 'request_id'],
    ]);
    expect(message.request_id).toBe(thread.id);
  });

  test('are counted in their thread, which has the time of the latest one', async () => {
    const row = await ask(face, caller, 'request', { id: thread.id });
    const messages = await askAll(face, caller, 'request_messages', { id: thread.id });
    expect([row.message_count, row.last_message_at]).toEqual([45, messages.at(-1).created_at]);
  });

  test('of an unknown thread are a 404, not an empty list', async () => {
    expect(await refusal(face, caller, 'request_messages', { id: randomUUID() })).toEqual({
      status: 404,
      code: 'not_found',
    });
  });
});

test('POST /requests returns 201 with the Location of the thread', async () => {
  const { answer, data } = await call(REST, caller, 'open_request', { text: 'Hello' });
  expect(answer.status).toBe(201);
  expect(answer.headers.get('location')).toBe(`/api/v1/requests/${String(data.id)}`);
  const read = await caller.send('GET', answer.headers.get('location')!.slice('/api/v1'.length));
  expect(read.body).toEqual(data);
});

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

  test('a message is added to a thread whose counters another program left out', async () => {
    const { id } = await open();
    const counters = { message_count: '', last_message_at: '' };
    await collection(organisation, 'requests').updateOne({ _id: id }, { $unset: counters });
    const message = await add(id);
    expect(await read(id)).toMatchObject({ message_count: 2, last_message_at: message.created_at });
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
