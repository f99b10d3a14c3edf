import { randomUUID } from 'node:crypto';
import type { Organisation } from '../../src/access/principal';
import { client, type Client, type Json } from '../support/client';
import { ask, askAll, askPages, call, FACES, REST, refusal } from '../support/faces';
import { makeKey, makeOrganisation, northwind, store } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';
import { threadRecord } from '../support/threads';

const customers = northwind('customers').slice(0, 2);
let gateway: TestGateway;
let organisation: Organisation;
let caller: Client;

beforeAll(async () => {
  gateway = await startGateway();
  organisation = await makeOrganisation(gateway);
  await store(gateway, organisation, { customers });
  caller = client(gateway, (await makeKey(gateway, organisation)).key);
});
afterAll(() => gateway.stop());

const collection = (of: Organisation, name: string) =>
  gateway.databases.organisationData(of).connection.collection(name);

describe.each(FACES)('open_request on $name', (face) => {
  const open = (args: Json): Promise<Json> => ask(face, caller, 'open_request', args);
  const messagesOf = (id: string): Promise<Json[]> => askAll(face, caller, 'request_messages', { id });

  test('opens a thread that reads back as it was answered, with the text as its one message', async () => {
    const from = Date.now();
    const thread = await open({ text: 'Do you deliver to Leeds?\nBy Friday?' });
    expect(thread).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      subject: 'Do you deliver to Leeds?',
      status: 'open',
      customer_id: null,
      contact: null,
      message_count: 1,
      last_message_at: thread.created_at,
      created_at: expect.stringMatching(/Z$/),
      updated_at: thread.created_at,
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
        body: 'Do you deliver to Leeds?\nBy Friday?',
        created_at: thread.created_at,
      },
    ]);
  });

  test.each([
    ['the one given', { text: 'A text', subject: 'Delivery' }, 'Delivery'],
    ['the one given, without the space around it', { text: 'A text', subject: '  Delivery \n' }, 'Delivery'],
    ['the first line of the text where none is given', { text: 'First\nSecond' }, 'First'],
    ['the first line where it is null', { text: 'First\r\nSecond', subject: null }, 'First'],
    ['the first line where it is blank', { text: 'First\r\nSecond', subject: ' \t' }, 'First'],
    ['the first line that says something', { text: '\n\n  First  \nSecond' }, 'First'],
    ['a first line of 200 characters as it is', { text: `${'😀'.repeat(200)}\nx` }, '😀'.repeat(200)],
    ['a longer first line cut to 200 characters', { text: '😀'.repeat(201) }, `${'😀'.repeat(199)}…`],
  ])('takes for a subject %s', async (_title, args, subject) => {
    const thread = await open(args);
    expect(thread.subject).toBe(subject);
    expect((await messagesOf(thread.id))[0].body).toBe(args.text);
  });

  test('keeps the text as it was written, to the last character of 20,000', async () => {
    const text = ` ${'é😀'.repeat(9999)} `;
    expect(Array.from(text)).toHaveLength(20_000);
    const { id } = await open({ text });
    expect((await messagesOf(id))[0].body).toBe(text);
  });

  test.each([
    ['no text', { text: '' }, '/text'],
    ['a blank text', { text: ' \n\t\u00a0' }, '/text'],
    ['20,001 characters', { text: 'x'.repeat(20_001) }, '/text'],
    ['a text that is no Unicode', { text: 'x\ud800' }, '/text'],
    ['a subject of 201 characters', { text: 'x', subject: 's'.repeat(201) }, '/subject'],
    ['a contact with an empty name', { text: 'x', contact: { name: '' } }, '/contact/name'],
    ['a contact with a bad e-mail address', { text: 'x', contact: { name: 'Ann', email: 'ann' } }, '/contact/email'],
    ['a customer_id that is no UUID', { text: 'x', customer_id: 'ALFKI' }, '/customer_id'],
  ])('refuses %s and stores nothing', async (_title, args, pointer) => {
    const before = await collection(organisation, 'requests').countDocuments();
    const problem = await refusal(face, caller, 'open_request', args);
    expect(problem).toMatchObject({ status: 422, code: 'validation_failed', errors: [{ pointer }] });
    expect(await collection(organisation, 'requests').countDocuments()).toBe(before);
  });

  test('names every fault at once', async () => {
    const args = { text: '', subject: 's'.repeat(201), customer_id: 'x', contact: { name: '', phone: '1'.repeat(51) } };
    const { errors } = await refusal(face, caller, 'open_request', args);
    const pointers = errors.map(({ pointer }: Json) => pointer);
    expect(pointers.sort()).toEqual(['/contact/name', '/contact/phone', '/customer_id', '/subject', '/text']);
  });

  test('takes a customer of the organisation, in any case, and names it as the author', async () => {
    const [customer] = customers;
    const thread = await open({ text: 'Hello', customer_id: customer!.id.toUpperCase() });
    expect(thread.customer_id).toBe(customer!.id);
    expect((await messagesOf(thread.id))[0].author_name).toBe(customer!.name);
    expect((await askAll(face, caller, 'requests', { customer_id: customer!.id }))[0]).toEqual(thread);
  });

  test("refuses another organisation's customer as one that never was", async () => {
    const [foreign] = northwind('customers').slice(5);
    await store(gateway, await makeOrganisation(gateway), { customers: [foreign!] });
    const refused = (id: string) => refusal(face, caller, 'open_request', { text: 'Hello', customer_id: id });
    const problem = await refused(foreign!.id);
    expect(problem).toMatchObject({ status: 422, code: 'validation_failed', errors: [{ pointer: '/customer_id' }] });
    expect(await refused(randomUUID())).toEqual(problem);
  });

  test('keeps the contact, what is left out as null, and names it as the author', async () => {
    const thread = await open({ text: 'Hello', customer_id: customers[0]!.id, contact: { name: 'Ann', phone: '1' } });
    expect(thread.contact).toEqual({ name: 'Ann', email: null, phone: '1' });
    expect((await messagesOf(thread.id))[0].author_name).toBe('Ann');
    const other = await open({ text: 'Hello', contact: { name: 'Bob', email: 'bob@mill.example', phone: null } });
    expect(other.contact).toEqual({ name: 'Bob', email: 'bob@mill.example', phone: null });
  });

  test('is found by the words of its subject and its text at once', async () => {
    const word = `w${randomUUID().slice(0, 8)}`;
    const thread = await open({ text: `Please quote\n12 x ${word}`, subject: 'Hinges' });
    for (const q of [word, word.slice(0, 7), `hinges ${word}`, `HINGES please`]) {
      expect((await askAll(face, caller, 'requests', { q })).map(({ id }) => id)).toContain(thread.id);
    }
    expect(await askAll(face, caller, 'requests', { q: `${word}x` })).toEqual([]);
  });

  test('leaves no thread behind where its message cannot be stored', async () => {
    const own = await makeOrganisation(gateway);
    const writer = client(gateway, (await makeKey(gateway, own)).key);
    const first = await ask(face, writer, 'open_request', { text: 'First' });
    // a second message of the same author is now refused by the database, after its thread was written
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

describe.each(FACES)("a thread's messages on $name", (face) => {
  const bodies = Array.from({ length: 45 }, (_none, at) => `Message ${String(at)}`);
  const thread = threadRecord(bodies);
  beforeAll(() => store(gateway, organisation, { requests: [thread, threadRecord(['Another'])] }));

  test('come oldest first, in pages, each once', async () => {
    for (const limit of [7, 20, 45, 100]) {
      const pages = await askPages(face, caller, 'request_messages', { id: thread.id, limit });
      expect(pages).toHaveLength(Math.ceil(45 / limit));
      expect(pages.flatMap(({ data }) => data.map(({ body }: Json) => body))).toEqual(bodies);
    }
  });

  test('come 20 where no limit is given', async () => {
    const { data, has_more: more } = await ask(face, caller, 'request_messages', { id: thread.id });
    expect([data.length, more]).toEqual([20, true]);
  });

  test('have the members of the contract and no others', async () => {
    const [message] = await askAll(face, caller, 'request_messages', { id: thread.id.toUpperCase() });
    expect(Object.keys(message).sort()).toEqual(['author', 'author_name', 'body', 'created_at', 'id', 'request_id']);
    expect(message.request_id).toBe(thread.id);
  });

  test('are counted in their thread, which knows when the last one was written', async () => {
    const row = await ask(face, caller, 'request', { id: thread.id });
    const messages = await askAll(face, caller, 'request_messages', { id: thread.id });
    expect([row.message_count, row.last_message_at]).toEqual([45, messages.at(-1).created_at]);
  });

  test('of a thread that is not there are a 404, not an empty list', async () => {
    expect(await refusal(face, caller, 'request_messages', { id: randomUUID() })).toEqual({
      status: 404,
      code: 'not_found',
    });
  });
});

test('POST /requests answers 201 with the Location of the thread', async () => {
  const { answer, data } = await call(REST, caller, 'open_request', { text: 'Hello' });
  expect(answer.status).toBe(201);
  expect(answer.headers.get('location')).toBe(`/api/v1/requests/${String(data.id)}`);
  const read = await caller.send('GET', answer.headers.get('location')!.slice('/api/v1'.length));
  expect(read.body).toEqual(data);
});
