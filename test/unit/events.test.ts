import mongoose from 'mongoose';
import { endOf, eventId, millisecondsOf, POSITION, positionOf, timeDigits } from '../../src/events/position';
import { type Change, stagesFor, toEvent } from '../../src/events/tail/changes';
import { published } from '../../src/schema/model';
import { EVENTS_KEPT_FOR, UUID } from '../../src/units';

const { Timestamp } = mongoose.mongo;
const DATABASE = `org_${'0'.repeat(32)}`;
const ID = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
const AT = new Date('2026-11-21T09:00:00.000Z');

function change(operationType: string, coll: string, more: Partial<Change> = {}): Change {
  const clusterTime = new Timestamp({ t: 1_800_000_000, i: 1 });
  const given = { ns: { db: DATABASE, coll }, documentKey: { _id: ID }, clusterTime, wallTime: AT };
  return { _id: {}, operationType, ...given, ...more };
}

const UNKNOWN = { before: undefined, now: null };

describe('an event', () => {
  test('of each type needs the read scope of its object; a gap concerns everyone', () => {
    for (const { name, scope } of published.eventTypes) {
      expect(scope).toBe(name === 'feed.gap' ? undefined : `${name.split('.')[0]!}s:read`);
    }
  });

  test.each([...published.collections.values()].filter(({ part }) => !part))(
    'of $collection is made for each public member, and for no other',
    ({ collection, object, members, hasStatus }) => {
      for (const member of members) {
        const found = toEvent(change('update', collection, { paths: [`${member}.0.inner`] }), UNKNOWN);
        const isStatus = hasStatus && member === 'status';
        expect(found).toMatchObject({
          type: `${object}.${isStatus ? 'status_changed' : 'updated'}`,
          changes: [member],
        });
      }
      for (const path of ['search', 'search.3', 'holds', '_id', 'id', 'statusx'])
        expect(toEvent(change('update', collection, { paths: [path] }), UNKNOWN)).toBeUndefined();
    },
  );

  test('names members that were set, removed or truncated once each, in the order of the type', () => {
    const paths = ['lines.0.qty', 'lines.1', 'status', 'search', 'customer_id', 'lines'];
    const found = change('update', 'quotes', { paths, status: 'sent' });
    expect(toEvent(found, UNKNOWN)).toEqual({
      type: 'quote.status_changed',
      at: AT,
      object: { type: 'quote', id: ID },
      changes: ['status', 'customer_id', 'lines'],
      status: 'sent',
    });
  });

  test('of a creation has the status, of a deletion none, and neither names changes', () => {
    expect(toEvent(change('insert', 'orders', { status: 'placed' }), UNKNOWN)).toMatchObject({
      type: 'order.created',
      changes: [],
      status: 'placed',
    });
    expect(toEvent(change('delete', 'orders'), UNKNOWN)).toMatchObject({
      type: 'order.deleted',
      changes: [],
      status: null,
    });
  });

  test('of a customer says that its data were erased, and not that it was readmitted', () => {
    expect(
      toEvent(change('update', 'customers', { paths: ['name', 'erased_at'], erased_at: AT }), UNKNOWN),
    ).toMatchObject({ type: 'customer.erased', changes: ['name', 'erased_at'] });
    expect(toEvent(change('update', 'customers', { paths: ['erased_at'] }), UNKNOWN)).toMatchObject({
      type: 'customer.updated',
      changes: ['erased_at'],
    });
  });

  test('of a replacement names everything, but not a status that stayed', () => {
    const replaced = change('replace', 'quotes', { status: 'sent' });
    expect(toEvent(replaced, { before: 'sent', now: null })?.type).toBe('quote.updated');
    expect(toEvent(replaced, { before: 'draft', now: null })?.type).toBe('quote.status_changed');
    expect(toEvent(replaced, UNKNOWN)?.changes).toEqual([...published.collections.get('quotes')!.members]);
  });

  test('of a message belongs to its request, or is omitted if the log does not name it', () => {
    const fullDocument = { request_id: ID };
    const of = { object: { type: 'request', id: ID }, status: null, related: { type: 'message', id: ID } };
    const added = toEvent(change('insert', 'messages', { fullDocument }), { ...UNKNOWN, now: 'open' });
    expect(added).toMatchObject({ ...of, type: 'request.message_added', changes: [], status: 'open' });
    const changed = { ...of, type: 'request.updated', changes: ['messages'] };
    expect(toEvent(change('replace', 'messages', { fullDocument }), UNKNOWN)).toMatchObject(changed);
    const known = { ...UNKNOWN, owner: ID };
    expect(toEvent(change('update', 'messages', { paths: ['body'] }), known)).toMatchObject(changed);
    expect(toEvent(change('update', 'messages', { paths: ['search'] }), known)).toBeUndefined();
    expect(toEvent(change('update', 'messages', { paths: ['body'] }), UNKNOWN)).toBeUndefined();
    expect(toEvent(change('delete', 'messages'), UNKNOWN)).toBeUndefined();
  });

  test.each([5, 'a', undefined, new mongoose.mongo.ObjectId()])(
    'does not exist for the id %s, which nobody can read',
    (id) => {
      const documentKey = { _id: id };
      for (const kind of ['insert', 'update', 'replace', 'delete'])
        expect(toEvent(change(kind, 'products', { documentKey, paths: ['name'] }), UNKNOWN)).toBeUndefined();
      for (const kind of ['insert', 'replace'])
        expect(toEvent(change(kind, 'messages', { fullDocument: { request_id: id } }), UNKNOWN)).toBeUndefined();
    },
  );

  test('does not exist for internal collections, and is a gap for a collection that is dropped or replaced', () => {
    for (const collection of ['events', 'open_writes', 'idempotency_records'])
      expect(toEvent(change('insert', collection), UNKNOWN)).toBeUndefined();
    expect(toEvent(change('drop', 'quotes'), UNKNOWN)).toMatchObject({ type: 'feed.gap', gap: { from: AT, to: AT } });
    const renamed = (from: string, to: string): Change => change('rename', from, { to: { db: DATABASE, coll: to } });
    for (const one of [renamed('quotes', 'old'), renamed('made', 'quotes')])
      expect(toEvent(one, UNKNOWN)).toMatchObject({ type: 'feed.gap', gap: { from: AT, to: AT } });
    expect(toEvent(renamed('made', 'other'), UNKNOWN)).toBeUndefined();
  });

  test('is made from names alone: the server sends no values but the status, the parent of a part and the customer', () => {
    const [, { $project: sent }] = stagesFor('control') as [object, { $project: Record<string, unknown> }];
    const { paths, ...others } = sent;
    const values = JSON.stringify(others).match(/(fullDocument|updatedFields)\.\w+/g);
    expect(values?.sort()).toEqual([
      'fullDocument.customer_id',
      'fullDocument.request_id',
      'fullDocument.status',
      'updatedFields.by',
      'updatedFields.customer_id',
      'updatedFields.erased_at',
      'updatedFields.status',
    ]);
    expect(JSON.stringify(paths)).not.toMatch(/\.v"/);
  });
});

describe('a position', () => {
  const time = (t: number, i: number): string => timeDigits(new Timestamp({ t, i }));

  test('sorts by epoch, then cluster time, then ordinal', () => {
    const sorted = [
      positionOf(0, time(1, 2 ** 32 - 1), 2),
      positionOf(0, time(2, 0), 1),
      positionOf(0, time(2, 9), 15),
      positionOf(0, time(2, 9), 16),
      endOf(time(2, 9), positionOf(0, time(1, 1), 1)),
      positionOf(0, time(2, 10), 0),
      positionOf(0, time(4_000_000_000, 1), 1),
      positionOf(1, time(1, 1), 1),
      positionOf(16, time(1, 1), 1),
    ];
    expect([...sorted].sort()).toEqual(sorted);
    expect(sorted.every((position) => POSITION.test(position))).toBe(true);
  });

  test('has a time in whole seconds', () => {
    expect(millisecondsOf(positionOf(7, time(1_800_000_000, 5), 3))).toBe(1_800_000_000_000);
    expect(EVENTS_KEPT_FOR).toBe(30 * 24 * 3_600_000);
  });

  test('determines the id of an event, together with its organisation', () => {
    const [one, other] = [positionOf(0, time(1, 1), 1), positionOf(0, time(1, 1), 2)];
    expect(eventId('a', one)).toMatch(UUID);
    expect(eventId('a', one)).toMatch(/^.{14}8.{4}[89ab]/);
    expect(new Set([eventId('a', one), eventId('a', other), eventId('b', one), eventId('a', one)]).size).toBe(3);
  });
});
