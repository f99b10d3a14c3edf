import { client, type Json } from '../../support/client';
import { makeKey, makeOrganisation } from '../../support/factories';
import { served, startGateway } from '../../support/gateway';
import { type Person, signIn } from './people';

jest.mock('../../../src/async/timeout', () => jest.requireActual<object>('../../support/longTimeouts'));

const logOf = (person: Person, variables: object): Promise<Json> =>
  person.call('request_log', { limit: 100, ...variables });

describe('the requests of an organisation', () => {
  const gateway = served();
  let ann: Person;
  let stranger: Person;
  let shop: Awaited<ReturnType<typeof makeKey>>;
  /** The key of somebody on our pages. */
  let explorer: typeof shop;
  const LONG = 'L'.repeat(150);

  beforeAll(async () => {
    const own = await makeOrganisation(gateway);
    ann = await signIn(gateway, own);
    [shop, explorer] = [await makeKey(gateway, own), await makeKey(gateway, own)];
    stranger = await signIn(gateway, await makeOrganisation(gateway));
    // one that stops writes at once what it has gathered
    const other = await startGateway();
    const caller = client(other, shop.key);
    await caller.get('/quotes', { limit: 1 }, { 'X-Request-Id': 'my.own-id' });
    await caller.get('/quotes/689defbf-4477-4b15-966e-4830b650ded3');
    await caller.send('HEAD', `/customers/${'9'.repeat(250)}`);
    await caller.send('POST', '/quotes', { headers: { 'X-Request-Id': 'b4d0bd4f-86aa-4d6d-a0a8-ae1e2b9b3a1f' } });
    await caller.graphql('query SalesByMonth { quotes { has_more } again: quotes { has_more } me { key { id } } }');
    await caller.graphql(
      `mutation ${LONG} { update_request(id: "689defbf-4477-4b15-966e-4830b650ded3", status: open) { id } }`,
    );
    await caller.graphql('{ me { key { id } } }');
    await caller.mcp('tools/call', { name: 'quotes' });
    await caller.get('/orders', {}, { 'X-Request-Id': 'end' });
    const page = client(other, explorer.key);
    const mark = { 'Scopegate-Purpose': 'page' };
    await page.get('/me', {}, mark);
    await page.graphql('{ __schema { queryType { name } } }', {}, mark);
    await page.get('/me', { limit: 1 }, mark);
    await page.get('/quotes', {}, mark);
    await page.get('/me');
    await other.stop();
  });

  test('has the type of a GraphQL operation, and its name up to 100 characters', async () => {
    const { data } = await logOf(ann, { key_id: shop.id, face: 'graphql' });
    expect(data.map(({ operation_type: type, operation_name: name }: Json) => [type, name])).toEqual([
      ['query', null],
      ['mutation', 'L'.repeat(100)],
      ['query', 'SalesByMonth'],
    ]);
  });

  const [LIST, ONE, MADE] = ['GET /api/v1/quotes', /^GET .*ded3$/, 'POST /api/v1/quotes'];
  const LONG_PATH = /^HEAD \/api\/v1\/customers\/9{182}$/;
  test.each([
    ['/quotes', [MADE, ONE, LIST]],
    ['GET /quotes', [ONE, LIST]],
    ['post /api/v1/quotes?limit=1', [MADE]],
    ['/quotes/689defbf', [ONE]],
    // characters of a regular expression are themselves
    ['/quote.', []],
    ['/(', []],
    ['/mcp', ['POST /mcp quotes']],
    // as pasted, a segment of a path, an id in one, the beginning of a request id, a method
    ['https://api.example.com/api/v1/quotes/689defbf?x=1', [ONE]],
    ['https://example.com/some/where/api/v1/quotes/689defbf?x=1#y', [ONE]],
    ['689defbf-4477-4b15-966e-4830b650ded3', [ONE]],
    ['689DEFBF-4477-4B15-966E-4830B650DED3', [ONE]],
    ['689DEFBF-44', [ONE]],
    ['quotes/689defbf?x=1', [ONE]],
    ['api/v1/quotes/689defbf?x=1', [ONE]],
    ['head', [LONG_PATH]],
    [`/customers/${'9'.repeat(250)}`, [LONG_PATH]],
    [`https://example.com/api/v1/customers/${'9'.repeat(250)}?limit=1`, [LONG_PATH]],
    ['quotes/689defbf', [ONE]],
    ['graph', []],
    ['b4d0bd4f-86aa', [MADE]],
    ['B4D0BD4F-86AA', [MADE]],
    ['b4d0bd4f-86aa-4d6d-a0a8-ae1e2b9b3a1f', [MADE]],
    ['my.own-id', [LIST]],
    [' not_found ', ['POST /graphql update_request', ONE]],
    ['quotes', ['POST /mcp quotes', 'POST /graphql quotes quotes me', MADE, ONE, LIST]],
    ['me', ['POST /graphql me', 'POST /graphql quotes quotes me']],
    ['quote|me', []],
    ['SalesByMonth', ['POST /graphql quotes quotes me']],
    ['query SalesByMonth', ['POST /graphql quotes quotes me']],
    ['mutation SalesByMonth', []],
    ['constructor', []],
  ] as const)('a search for %j finds what it names', async (search, expected) => {
    const { data } = await logOf(ann, { key_id: shop.id, search });
    expect(
      data.map(({ method, path, operation, face }: Json) =>
        [method, path, ...(face === 'rest' ? [] : [operation])].join(' '),
      ),
    ).toEqual(expected.map((one) => (typeof one === 'string' ? one : expect.stringMatching(one))));
  });

  test('a search can be narrowed, also within two periods and with a status of GraphQL', async () => {
    const found = async (variables: object): Promise<number> =>
      (await logOf(ann, { key_id: shop.id, ...variables })).data.length;
    expect(await found({ search: 'not_found', face: 'graphql', status: '4xx' })).toBe(1);
    expect(await found({ search: 'not_found', failed: false })).toBe(0);
    const pages = await logOf(ann, { key_id: shop.id, search: '/quotes', failed: true, limit: 1 });
    expect(await found({ search: '/quotes', failed: true, limit: 1, cursor: pages.next_cursor })).toBe(1);
    expect(await logOf(ann, { search: '/quote', failed: true, cursor: pages.next_cursor })).toMatchObject({
      code: 'invalid_request',
    });
    for (const search of ['', 'x'.repeat(2001)])
      expect((await logOf(ann, { search })).errors).toMatchObject([{ parameter: 'search' }]);
  });

  test('each is read by its id in its own organisation, and is not found in another', async () => {
    const [first] = (await logOf(ann, { request_id: 'my.own-id' })).data;
    expect(await ann.call('logged_request', { id: first.id })).toEqual(first);
    const nobody = '689defbf-4477-4b15-966e-4830b650ded3';
    for (const [person, id] of [
      [stranger, first.id],
      [ann, nobody],
    ] as const)
      expect(await person.call('logged_request', { id })).toMatchObject({ code: 'not_found' });
  });

  test('are counted by time, as they are filtered', async () => {
    const count = async (variables: object = {}): Promise<Json> => {
      const { interval_seconds, intervals } = await ann.call('request_histogram', { key_id: shop.id, ...variables });
      const sum = (kind: string): number =>
        intervals.reduce((total: number, one: Json) => total + Number(one[kind]), 0);
      return { interval_seconds, length: intervals.length, successful: sum('successful'), failed: sum('failed') };
    };
    const hour = new Date(Date.now() - 3_600_000).toISOString();
    expect(await count()).toMatchObject({ interval_seconds: 10_800, successful: 5, failed: 4 });
    expect(await count({ since: hour })).toMatchObject({ interval_seconds: 60, successful: 5, failed: 4 });
    expect(await count({ since: hour, failed: true, face: 'rest' })).toMatchObject({ successful: 0, failed: 3 });
    expect(await count({ search: 'SalesByMonth' })).toMatchObject({ successful: 1, failed: 0 });
    expect(await count({ since: hour, until: hour })).toMatchObject({ successful: 0, failed: 0 });
    const none = { length: 0, successful: 0, failed: 0 };
    expect(await count({ until: '2020-01-01T00:00:00Z' })).toMatchObject(none);
    expect(await count({ since: '9020-01-01T00:00:00Z' })).toMatchObject(none);
    const { intervals } = await ann.call('request_histogram', { since: '2020-01-01T00:00:00Z' });
    const starts: number[] = intervals.map(({ start }: Json) => Date.parse(start));
    expect([56, 57]).toContain(starts.length);
    expect(starts).toEqual(starts.map((_, at) => starts[0]! + at * 10_800_000));
  });

  test('what our own pages ask by themselves is neither logged nor counted, unless it fails or is more than that', async () => {
    const { data } = await logOf(ann, { key_id: explorer.id });
    expect(data.map(({ path, status }: Json) => [status, path].join(' '))).toEqual([
      '200 /api/v1/me',
      '200 /api/v1/quotes',
      '400 /api/v1/me',
    ]);
    expect(await ann.call('usage', { key_id: explorer.id })).toMatchObject({ requests: 3, errors: 1 });
  });
});
