import { randomUUID } from 'node:crypto';
import { requests } from '../../../src/resources/requests/requests';
import { correctionsOf } from '../../../src/stored/corrections';
import { served } from '../../support/gateway';
import { TOKENS } from './operator';
import { patch, put, remove, writing } from './writing';

/* Writes of messages, and of the threads that sum them up. */

const gateway = served({ ...TOKENS, RATE_LIMIT_PER_MINUTE: '1000000' });
const start = () => writing(gateway);

test('a message belongs to its thread, which counts it and is found by its words', async () => {
  const { outcomes, row, rows, database } = await start();
  const message = { external_ref: 'm-1', request_ref: 't-1', author: 'organisation', body: 'Gladly, zebra' };
  const at = '2026-01-02T03:04:05.000Z';
  expect(
    await outcomes(
      put('request', { external_ref: 't-1', subject: 'Hello' }),
      put('message', { ...message, created_at: at }),
      put('message', { ...message, external_ref: 'm-2', body: 'giraffe' }),
    ),
  ).toEqual(['created', 'created', 'created']);
  const thread = await row('requests', 't-1');
  expect(thread).toMatchObject({ message_count: 2, status: 'open' });
  expect(thread.search).toEqual(expect.arrayContaining(['HELLO', 'ZEBRA', 'GIRAFFE']));
  expect((await row('messages', 'm-1')).created_at).toEqual(new Date(at));
  expect(await outcomes(remove('message', { external_ref: 'm-2' }))).toEqual(['deleted']);
  const after = await row('requests', 't-1');
  expect([after.message_count, after.last_message_at]).toEqual([1, new Date(at)]);
  expect(after.search).not.toContain('GIRAFFE');
  expect(await outcomes(patch('message', { external_ref: 'm-1', body: 'lion' }))).toEqual(['updated']);
  expect((await row('requests', 't-1')).search.sort()).toEqual(['HELLO', 'LION']);
  expect(await outcomes(put('message', message), remove('request', { external_ref: 't-1' }))).toEqual([
    'updated',
    'deleted',
  ]);
  expect([await rows('requests'), await rows('messages')]).toEqual([[], []]);
  // what a deleted thread leaves free may be taken in the same call
  const again = { ...message, id: randomUUID() };
  await outcomes(put('request', { external_ref: 't-1', subject: 'Hello' }), put('message', message));
  expect(
    await outcomes(
      patch('message', { external_ref: 'm-1', body: 'tiger' }),
      remove('request', { external_ref: 't-1' }),
      put('request', { external_ref: 't-1', subject: 'Hello' }),
      put('message', again),
    ),
  ).toEqual(['updated', 'deleted', 'created', 'created']);
  await outcomes(remove('request', { external_ref: 't-1' }));
  expect(await database.collection('write_versions').countDocuments()).toBe(0);
});

test('once a message changed, its thread is still found by an earlier subject and by all other messages, as doctor --rows has it', async () => {
  const { organisation, outcomes, row, database } = await start();
  const data = gateway.databases.organisationData(organisation);
  const derived = async (): Promise<string[]> => {
    const corrections = await correctionsOf(data, requests, [await row('requests', 't-1')], { converts: organisation });
    return corrections.flatMap(({ members }) => members);
  };
  const message = (at: number, body: string) =>
    put('message', {
      external_ref: `m-${String(at)}`,
      request_ref: 't-1',
      author: 'customer',
      body,
      created_at: new Date(Date.UTC(2030, 0, 1, 0, 0, at)).toISOString(),
    });
  const thread = { external_ref: 't-1', subject: 'Hello' };
  await outcomes(put('request', thread), put('request', { ...thread, subject: 'Goodbye' }));
  const others = Array.from({ length: 100 }, (_none, at) => message(at + 1, 'lion'));
  await outcomes(message(0, 'zebra lion'), ...others, message(101, 'giraffe'));
  await outcomes(patch('message', { external_ref: 'm-0', body: 'tiger' }));
  const { search } = await row('requests', 't-1');
  expect(search.sort()).toEqual(['GIRAFFE', 'GOODBYE', 'HELLO', 'LION', 'TIGER']);
  expect(await derived()).toEqual([]);

  await outcomes(...Array.from({ length: 102 }, (_none, at) => remove('message', { external_ref: `m-${String(at)}` })));
  const { created_at: created, ...empty } = await row('requests', 't-1');
  expect(empty).toMatchObject({ message_count: 0, last_message_at: created });
  expect(await derived()).toEqual([]);
  await database.collection('requests').updateOne({}, { $set: { last_message_at: new Date(0) } });
  expect(await derived()).toEqual(['last_message_at']);
  // of another program, which leaves the counters to the gateway that records events
  await database.collection('requests').updateOne({}, { $unset: { message_count: '', last_message_at: '' } });
  expect(await outcomes(message(0, 'zebra'))).toEqual(['created']);
  expect(await derived()).toEqual(['message_count', 'last_message_at']);
});

test('messages whose body, and threads whose search words another program stored as something else are written and summed up', async () => {
  const { outcomes, row, database } = await start();
  const message = { external_ref: 'm-1', request_ref: 't-1', author: 'customer', body: 'zebra' };
  const thread = { external_ref: 't-1', subject: 'Hello' };
  await outcomes(put('request', thread), put('message', message), put('message', { ...message, external_ref: 'm-2' }));
  const spoil = (collection: string, members: object) =>
    database.collection(collection).updateMany({}, { $set: members }, { bypassDocumentValidation: true });
  await spoil('messages', { body: 7 });
  expect(await outcomes(patch('message', { external_ref: 'm-1', body: 'lion' }))).toEqual(['updated']);
  expect(await outcomes(remove('message', { external_ref: 'm-2' }))).toEqual(['deleted']);
  for (const search of [null, 7, 'HELLO']) {
    await spoil('requests', { search });
    const subject = `Goodbye ${String(search)}`;
    expect(await outcomes(put('request', { ...thread, subject }))).toEqual(['updated']);
    await spoil('requests', { search });
    expect(await outcomes(put('message', { ...message, external_ref: `m-${String(search)}` }))).toEqual(['created']);
    expect((await row('requests', 't-1')).search).toEqual(['ZEBRA']);
  }
});

test('a write of a thread whose counters another program left out counts its messages', async () => {
  const { outcomes, row, database } = await start();
  const at = '2026-01-02T03:04:05.000Z';
  const thread = { external_ref: 't-1', subject: 'Hello', created_at: '2026-01-01T00:00:00.000Z' };
  const message = { external_ref: 'm-1', request_ref: 't-1', author: 'customer', body: 'zebra', created_at: at };
  await outcomes(put('request', thread), put('message', message));
  const counters = { message_count: 1, last_message_at: new Date(at) };
  const subjects = ['Goodbye', 'Hello again'];
  for (const write of [
    put('request', { ...thread, subject: subjects[0] }),
    patch('request', { external_ref: 't-1', subject: subjects[1] }),
  ]) {
    await database.collection('requests').updateOne({}, { $unset: { message_count: '', last_message_at: '' } });
    expect(await outcomes(write)).toEqual(['updated']);
    expect(await row('requests', 't-1')).toMatchObject(counters);
  }
  await database.collection('requests').updateOne({}, { $unset: { message_count: '' } });
  const others = [
    patch('request', { external_ref: 't-1', subject: 'Bye' }),
    put('message', { ...message, external_ref: 'm-2' }),
  ];
  expect(await outcomes(...others)).toEqual(['updated', 'created']);
  expect(await row('requests', 't-1')).toMatchObject({ ...counters, message_count: 2 });
});
