import { resourceOf } from '../../../src/resources';
import { client, type Json } from '../../support/client';
import { makeKey, makeOrganisation } from '../../support/factories';
import { served } from '../../support/gateway';
import { goodQuote } from '../../support/mistakes';

/*
 * Rows in which another program stored as the member to sort by a list, of which MongoDB sorts each by its least or greatest element, or a
 * text that is too long for a cursor.
 */

const gateway = served({ STORED_VALIDATION: 'off' });
const quotes = resourceOf('quotes');

const SOUND = [1, 3, 5, 7].map((at) => [`n${String(at)}`, new Date(at)] as const);
const LISTS: readonly (readonly unknown[])[] = [
  ['n2'],
  ['n4', 'n8'],
  ['n0', 'n9'],
  [],
  [4, 'n6'],
  [new Date(2)],
  [new Date(0), new Date(4)],
  [new Date(4), new Date(9)],
  [true],
];

test.each(['number', '-number', 'created_at', '-created_at'])(
  'pages by %s have every sound row once, whatever lists are among them',
  async (sort) => {
    const organisation = await makeOrganisation(gateway);
    const data = gateway.databases.organisationData(organisation);
    await data.prepare([quotes]);
    const member = sort.replace('-', '');
    const sound = SOUND.map(([number, created_at]) => ({ ...goodQuote(number), created_at }));
    const ids = sound.map(({ _id }: Json) => String(_id));
    if (sort.startsWith('-')) ids.reverse();
    const readers = readersOf((await makeKey(gateway, organisation)).key, sort);
    for (const lists of [...LISTS.map((list) => [list]), LISTS.slice(0, 1).concat(LISTS.slice(3, 6))]) {
      await data.collection(quotes).deleteMany({});
      const wrong = lists.map((list, at) => ({
        ...goodQuote(`w${String(at)}`),
        created_at: new Date(3),
        [member]: list,
      }));
      await data.collection(quotes).insertMany([...sound, ...wrong] as never);
      for (const limit of [1, 2]) {
        for (const read of readers) {
          const found = (await idsOfPages(read, limit)).filter((id) => ids.includes(id));
          expect([lists, limit, found]).toEqual([lists, limit, ids]);
        }
      }
    }
  },
);

test.each(['number', '-number'])('pages by %s have every row once, however long its text is', async (sort) => {
  const organisation = await makeOrganisation(gateway);
  const data = gateway.databases.organisationData(organisation);
  await data.prepare([quotes]);
  const numbers = ['a', ...['', 'm', 'n'].map((end) => `b${'\u{1}é'.repeat(1000)}${end}`), 'z'];
  const rows = numbers.map((number) => goodQuote(number));
  if (sort.startsWith('-')) rows.reverse();
  await data.collection(quotes).insertMany(rows as never);
  const ids = rows.map(({ _id }: Json) => String(_id));
  const { key } = await makeKey(gateway, organisation);
  for (const read of readersOf(key, sort))
    for (const limit of [1, 2]) expect(await idsOfPages(read, limit)).toEqual(ids);
  // once the object is no longer in the list, nobody may learn where it would be
  const [read] = readersOf(key, sort, { status: 'draft' });
  const { next_cursor: cursor } = await read!(2, null);
  await data.collection(quotes).updateOne({ _id: ids[1]! }, { $set: { status: 'sent' } });
  expect(await read!(2, cursor)).toMatchObject({ code: 'invalid_request', errors: [{ parameter: 'cursor' }] });
});

type ReadPage = (limit: number, cursor: string | null) => Promise<Json>;

/** What reads a page of quotes; REST by hand, since `client` refuses numbers that are not as openapi.json has them. */
function readersOf(key: string, sort: string, filters: Record<string, string> = {}): ReadPage[] {
  const rest =
    (more: Record<string, string>): ReadPage =>
    async (limit, cursor) => {
      const query = new URLSearchParams({ sort, limit: String(limit), ...(cursor !== null && { cursor }), ...more });
      const headers = { authorization: `Bearer ${key}` };
      return (await fetch(`${gateway.url}/api/v1/quotes?${query.toString()}`, { headers })).json();
    };
  const query =
    'query ($sort: String, $limit: Int, $cursor: String) { quotes(sort: $sort, limit: $limit, cursor: $cursor) { data { id } next_cursor } }';
  const graphql: ReadPage = async (limit, cursor) =>
    (await client(gateway, key).graphql(query, { sort, limit, cursor })).body.data.quotes;
  return [rest(filters), rest({ ...filters, include: 'lines' }), graphql];
}

async function idsOfPages(read: ReadPage, limit: number): Promise<string[]> {
  const ids: string[] = [];
  let [cursor, pages] = [null as string | null, 0];
  do {
    const page = await read(limit, cursor);
    ids.push(...(page.data as Json[]).map(({ id }) => String(id)));
    cursor = page.next_cursor;
    pages += 1;
  } while (cursor !== null && pages < 20);
  return ids;
}
