import { resourceOf } from '../../../src/resources';
import type { Json } from '../../support/client';
import { callerOf, makeOrganisation } from '../../support/factories';
import { served } from '../../support/gateway';
import { goodQuote } from '../../support/mistakes';

/* Rows in which another program stored a list as the member to sort by: MongoDB sorts each by its least or greatest element. */

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
    const caller = await callerOf(gateway, organisation);
    const query =
      'query ($sort: String, $limit: Int, $cursor: String) { quotes(sort: $sort, limit: $limit, cursor: $cursor) { data { id } next_cursor } }';
    for (const lists of [...LISTS.map((list) => [list]), LISTS.slice(0, 1).concat(LISTS.slice(3, 6))]) {
      await data.collection(quotes).deleteMany({});
      const wrong = lists.map((list, at) => ({
        ...goodQuote(`w${String(at)}`),
        created_at: new Date(3),
        [member]: list,
      }));
      await data.collection(quotes).insertMany([...sound, ...wrong] as never);
      for (const limit of [1, 2]) {
        const read = {
          REST: async (cursor: string | null): Promise<Json> =>
            (await caller.get('/quotes', { sort, limit, ...(cursor !== null && { cursor }) })).body,
          GraphQL: async (cursor: string | null): Promise<Json> =>
            (await caller.graphql(query, { sort, limit, cursor })).body.data.quotes,
        };
        for (const pageAfter of Object.values(read)) {
          const found: string[] = [];
          let [cursor, pages] = [null as string | null, 0];
          do {
            const page = await pageAfter(cursor);
            found.push(...(page.data as Json[]).map(({ id }) => String(id)).filter((id) => ids.includes(id)));
            cursor = page.next_cursor;
            pages += 1;
          } while (cursor !== null && pages < 20);
          expect([lists, limit, found]).toEqual([lists, limit, ids]);
        }
      }
    }
  },
);
