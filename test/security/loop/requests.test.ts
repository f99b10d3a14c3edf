import { operator, TOKENS } from '../../admin/operator/operator';
import { cookieOf, person, sendLink } from '../../admin/settings/people';
import { head, openWire } from '../../operations/wire';
import { late } from '../../support/gateway';
import { post, watch, watchedGateway } from '../../support/watchdog';

/* What a request may have that takes longest to read, prepare or check: beside it others are served. */

const gateway = watchedGateway(TOKENS);

const times = (count: number, make: (at: number) => string): string =>
  Array.from({ length: count }, (_none, at) => make(at)).join(' ');

describe('60 requests at once, as long as their heads may be, hold up nobody:', () => {
  const LENGTH = 15_000;
  const repeated = (text: string): string => text.repeat(LENGTH / text.length);

  test.each([
    ['a condition of spaces between its tags', '/api/v1/openapi.json', `"a"${repeated(' ')},"b"`, 200],
    ['a condition of tags', '/api/v1/openapi.json', repeated('"a",'), 200],
    ['a condition of opening quotes', '/api/v1/openapi.json', repeated('W/"'), 200],
    // in which keys are looked for before it is logged
    ['a path of parts of a key', `/${repeated(`${'a'.repeat(39)}_`)}_`, '*', 404],
    ['a path of ids of keys', `/${repeated(`${'a'.repeat(21)}_`)}_`, '*', 404],
  ])('%s', async (what, path, condition, status) => {
    const ask = async (): Promise<void> => {
      const wire = await openWire(gateway.url);
      wire.send(`${head(`GET ${path}`, `If-None-Match: ${condition}`, 'Connection: close')}\r\n`);
      expect((await wire.whole()).slice(0, 12)).toBe(`HTTP/1.1 ${String(status)}`);
    };
    await watch(gateway, what, () => Promise.all(Array.from({ length: 60 }, ask)));
  });
});

describe('bulk calls whose texts cost most to prepare for search, created and changed:', () => {
  const many = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_none, at) => make(at));
  /** Distinct words of two letters or digits, the shortest length with enough of them. */
  const WORDS = times(1200, (at) => (at + 36).toString(36));
  const products = (count: number, description: string) => ({
    products: many(count, (at) => ({ sku: `A${String(at)}`, name: 'A', description })),
  });

  test.each<[string, string, (round: number) => object]>([
    // NFKC makes it 18 times as long
    [
      'texts that grow when they are normalised',
      'products',
      (round) => products(170, '\ufdfa'.repeat(4990) + String(round)),
    ],
    ['elements full of words', 'products', (round) => products(100, `${String(round)} ${WORDS}`)],
    [
      'customers with 100 contacts',
      'customers',
      (round) => ({
        customers: many(250, (at) => ({
          external_ref: `A${String(at)}`,
          name: 'A',
          contacts: many(100, (one) => ({ name: `é${String(one)} ${String(at)} ${String(round)}` })),
        })),
      }),
    ],
  ])('%s', async (name, path, make) => {
    await watch(gateway, name, async () => {
      for (const round of [1, 2]) expect((await post(gateway, `/api/v1/${path}/bulk`, make(round))).status).toBe(200);
    });
  });
});

describe('GraphQL documents that take long to parse and validate', () => {
  /** How many are sent at once. */
  const COUNT = 120;
  /** In a window of a minute: a key has 600 points, and each of them costs at least 9, one of which is for its root field. */
  const MOST_VALIDATED = 66;

  /** Documents of nearly 2,000 tokens, which differ by `name`. */
  const DOCUMENTS = {
    'fragments in each other': (name: string) =>
      `{ me { key { ...${name}0 } } } ${times(190, (at) => `fragment ${name}${String(at)} on MeKey { id ${at < 189 ? `...${name}${String(at + 1)}` : 'name'} }`)}`,
    'fragments beside each other': (name: string) =>
      `{ me { key { ${times(190, (at) => `...${name}${String(at)}`)} } } } ${times(190, (at) => `fragment ${name}${String(at)} on MeKey { id }`)}`,
    'unknown fields': (name: string) =>
      `{ me { key { ${times(190, (at) => `...${name}${String(at)}`)} } } } ${times(190, (at) => `fragment ${name}${String(at)} on MeKey { x }`)}`,
  };

  /** Sends documents at once with a new key. Resolves with the statuses of their answers, and how many of the key's windows that took. */
  async function sendAll(document: (name: string) => string): Promise<{ statuses: number[]; windows: number }> {
    const key = { authorization: `Bearer ${await gateway.makeKey()}` };
    const bodies = Array.from({ length: COUNT }, (_, at) => JSON.stringify({ query: document(`F${String(at)}_`) }));
    const started = performance.now();
    const answers = await Promise.all(bodies.map((body) => post(gateway, '/graphql', body, key)));
    const windows = 1 + Math.floor((performance.now() - started) / 60_000);
    return { statuses: answers.map(({ status }) => status), windows };
  }

  // loading and compiling at first are not measured
  beforeAll(() => sendAll((name) => `{ ${name}: __typename }`));

  test.each(Object.entries(DOCUMENTS))(
    `are not noticed, ${String(COUNT)} of a key at once, with %s`,
    async (title, document) => {
      let sent: Awaited<ReturnType<typeof sendAll>> | undefined;
      await watch(gateway, title, async () => (sent = await sendAll(document)));
      // the others are over the rate limit, or too many at once
      const { statuses, windows } = sent!;
      const validated = statuses.filter((status) => status === 200 || status === 400).length;
      expect(validated).toBeGreaterThan(0);
      expect(validated).toBeLessThanOrEqual(MOST_VALIDATED * windows);
    },
  );
});

describe('a text of 1 MB in a variable, which a short document names in many places, is refused before it is looked at:', () => {
  const TEXT = 'a'.repeat(1_000_000);
  const AT_ONCE = 6;
  const ID = '00000000-0000-4000-8000-000000000000';
  const roots = (count: number, field: string): string => times(count, (at) => `a${String(at)}: ${field}`);
  const list = (count: number): string => `[${'$m '.repeat(count)}]`;

  type Send = (query: string) => ReturnType<typeof post>;
  const sending =
    (path: string, headers: () => Record<string, string>): Send =>
    (query) =>
      post(gateway, path, { query, variables: { m: TEXT } }, headers());
  const asKey = sending('/graphql', () => ({}));
  const token = TOKENS.OPERATOR_TOKENS.split('=')[1]!;
  const asOperator = sending('/operator/graphql', () => ({ authorization: `Bearer ${token}` }));
  const user = late(async () => {
    const link = { user: { id: 'ann', name: 'Ann' }, role: 'admin' };
    const made = await operator(gateway).post(`/organisations/${gateway.organisation}/sign-in-links`, link);
    return person(gateway, cookieOf(await sendLink(gateway, new URL(String(made.body.url)).searchParams.get('link')!)));
  });
  const asUser = sending('/settings/graphql', () => ({ cookie: user.cookie, 'x-csrf-token': user.csrf }));

  const CONTACTS = `contacts: [${'{ name: $m role: $m email: $m phone: $m }'.repeat(100)}]`;
  const NEW_KEY = `name: $m, scopes: ${list(20)}, allowed_ranges: ${list(50)}`;

  test.each<[string, Send, string]>([
    ['skus of 20 lists', asKey, `query ($m: String!) { ${roots(20, `products(sku: ${list(20)}) { has_more }`)} }`],
    ['members of contacts', asKey, `mutation ($m: String!) { update_customer(id: "${ID}", ${CONTACTS}) { id } }`],
    [
      'cursors of lists in rows',
      asKey,
      `query ($m: String!) { customers { data { ${roots(30, 'quotes(cursor: $m) { has_more }')} } } }`,
    ],
    [
      'elements of a bulk call',
      asKey,
      `mutation ($m: String!) { upsert_products(products: [${'{ sku: $m }'.repeat(300)}]) { results { sku } } }`,
    ],
    [
      'ranges of new keys, by a user',
      asUser,
      `mutation ($m: String!) { ${roots(12, `create_key(${NEW_KEY}) { key }`)} }`,
    ],
    [
      'ranges of new keys, by an operator',
      asOperator,
      `mutation ($m: String!) { ${roots(12, `create_key(id: "${ID}", ${NEW_KEY}) { key }`)} }`,
    ],
  ])('%s', async (name, send, query) => {
    const answers: Awaited<ReturnType<Send>>[] = [];
    await send('{ __typename }');
    await watch(gateway, `1 MB in ${name}`, async () => {
      await Promise.all(Array.from({ length: AT_ONCE }, async () => answers.push(await send(query))));
    });
    for (const { status, text } of answers)
      expect([status, text]).toEqual([400, expect.stringContaining('more than 1,048,576 characters')]);
  });
});
