import mongoose from 'mongoose';
import { resourceOf } from '../../../src/resources';
import type { Json } from '../../support/client';
import { callerOf, makeOrganisation } from '../../support/factories';
import { served } from '../../support/gateway';
import { goodQuote as good } from '../../support/mistakes';

const quotes = resourceOf('quotes');

/* Where pages go on after rows that another program stored and that cannot be served (docs/decisions/invalid-rows.md). */

const { Long, ObjectId } = mongoose.mongo;

// as an organisation whose rows are older than their validators
const gateway = served({ STORED_VALIDATION: 'off' });

/** A time that JavaScript cannot have, as the largest of Java's. */
const far = (milliseconds: number): Date => Object.assign(new Date(0), { getTime: () => milliseconds });

test.each(['created_at', '-created_at', 'number', '-number'])(
  'pages by %s pass over no sound row, whatever types the sorted member has in others',
  async (sort) => {
    const organisation = await makeOrganisation(gateway);
    const data = gateway.databases.organisationData(organisation);
    await data.prepare([quotes]);
    const member = sort.replace('-', '');
    const isNumber = member === 'number';
    const { Code, MaxKey, MinKey, Timestamp } = mongoose.mongo;
    const last = [new Timestamp({ t: 7, i: 1 }), /a/, new Code('a'), new MaxKey()];
    const odd = [new MinKey(), 7, Long.fromNumber(8), new ObjectId(), true, { a: 1 }, ...last];
    const sound = Array.from({ length: 6 }, (_, at) => ({ ...good(`Q${String(at)}`), created_at: new Date(7 + at) }));
    const rowsOf = (prefix: string, values: readonly unknown[]) =>
      values.map((value, at) => ({ ...good(`${prefix}${String(at)}`), [member]: value }));
    const wrong = rowsOf('W', [...odd, isNumber ? new Date(7) : 'text']);
    await data.collection(quotes).insertMany([...sound, ...wrong] as never);
    // the default database takes none
    const farRows = isNumber ? [] : rowsOf('F', [far(-(2 ** 62)), far(2 ** 62), far(2 ** 61)]);
    for (const row of farRows)
      await data
        .collection(quotes)
        .insertOne(row as never)
        .catch(() => undefined);
    const caller = await callerOf(gateway, organisation);
    const ids = sound.map(({ _id }) => String(_id)).sort();
    // so that each of the last ends a page
    for (const limit of [1, 2, 3, 4, 5]) {
      // the same document each time, so that it is read from bytes
      const query = `query ($cursor: String) { quotes(sort: "${sort}", limit: ${String(limit)}, cursor: $cursor) { data { id } next_cursor } }`;
      const pageOf = {
        REST: async (cursor: string | null): Promise<Json> =>
          (await caller.get('/quotes', { sort, limit, ...(cursor !== null && { cursor }) })).body,
        GraphQL: async (cursor: string | null): Promise<Json> =>
          (await caller.graphql(query, { cursor })).body.data.quotes,
      };
      for (const read of Object.values(pageOf)) {
        const found: string[] = [];
        let [cursor, pages] = [null as string | null, 0];
        do {
          const page = await read(cursor);
          found.push(...(page.data as { id: string }[]).map(({ id }) => id));
          cursor = page.next_cursor;
          pages += 1;
        } while (cursor !== null && pages < 30);
        expect(found.filter((id) => ids.includes(id)).sort()).toEqual(ids);
      }
    }
  },
);

test('pages that are read from bytes, and end with a text among times, go on with the times', async () => {
  const organisation = await makeOrganisation(gateway);
  const data = gateway.databases.organisationData(organisation);
  await data.prepare([quotes]);
  const rows = ['W1', 'W2', 'W3', 'Q1', 'Q2'].map((number) => ({
    ...good(number),
    created_at: number.startsWith('W') ? '2030-01-01T00:00:00.000Z' : new Date(7),
  }));
  await data.collection(quotes).insertMany(rows as never);
  const caller = await callerOf(gateway, organisation);
  const query =
    'query ($c: String) { quotes(sort: "created_at", limit: 1, cursor: $c) { data { number } next_cursor } }';
  const read = async (c?: string): Promise<Json> => (await caller.graphql(query, { c })).body.data.quotes;
  for (let time = 0; time < 4; time += 1) await read();
  const found: string[] = [];
  let page = await read();
  for (let pages = 0; pages < 9; pages += 1) {
    found.push(String(page.data[0]?.number));
    if (page.next_cursor === null) break;
    page = await read(page.next_cursor);
  }
  expect(found.slice(1).sort()).toEqual(['Q1', 'Q2']);
});

test.each([
  ['created_at', 'REST'],
  ['-created_at', 'REST'],
  ['created_at', 'GraphQL'],
  ['-created_at', 'GraphQL'],
])('pages by %s have every sound row, whatever ids others of the same time have: %s', async (sort, face) => {
  const organisation = await makeOrganisation(gateway);
  const data = gateway.databases.organisationData(organisation);
  await data.prepare([quotes]);
  const at = new Date();
  const sound = ['00000000-0000-4000-8000-000000000000', 'ffffffff-0000-4000-8000-000000000000'];
  // GraphQL reads pages from bytes only as long as no id is of a type that has no JSON
  const ids = [...sound, 7, ...(face === 'REST' ? [new ObjectId()] : [])];
  const rows = ids.map((_id, index) => ({ ...good(`Q${String(index)}`), _id, created_at: at }));
  await data.collection(quotes).insertMany(rows as never);
  const caller = await callerOf(gateway, organisation);
  const query = `query ($c: String) { quotes(sort: "${sort}", limit: 1, cursor: $c) { data { number } next_cursor } }`;
  const read = async (c?: string): Promise<Json> =>
    face === 'REST'
      ? (await caller.get('/quotes', { sort, limit: '1', ...(c !== undefined && { cursor: c }) })).body
      : (await caller.graphql(query, { c })).body.data.quotes;
  // from its third run on, an operation is written from bytes
  for (let time = 0; time < 3; time += 1) await read();
  const found: string[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 10; pages += 1) {
    const page = await read(cursor);
    found.push(...(page.data as Json[]).map(({ number }) => String(number)));
    cursor = (page.next_cursor as string | null) ?? undefined;
    if (cursor === undefined) break;
  }
  // GraphQL shows rows whose id is not selected
  expect(found.filter((number) => ['Q0', 'Q1'].includes(number)).sort()).toEqual(['Q0', 'Q1']);
});
