import type * as Limits from '../../../src/limits';
import { DOCUMENTS } from '../../../src/settings/documents';
import { callerOf, makeOrganisation, makeStored, northwind } from '../../support/factories';
import { IDS } from '../../support/fixtures/contract';
import { late, servedBy, withGateway } from '../../support/gateway';
import type { Json } from '../../support/client';
import { argumentsOf, documentOf, operations } from '../../support/operations';
import { startRecordedGateway } from '../../security/commands';
import { type Person, signIn } from './people';

/* Insights: what signed-in users read of their organisation's data. */

jest.mock('../../../src/limits', () => {
  const actual = jest.requireActual<typeof Limits>('../../../src/limits');
  return { ...actual, LARGE_REQUESTS_WAITING: { ...actual.LARGE_REQUESTS_WAITING, query: 3 } };
});

const gateway = servedBy(startRecordedGateway);
const ROWS = 91;
const orders = northwind('orders').slice(0, ROWS) as Json[];
const organisation = late(() =>
  makeStored(gateway, {
    customers: northwind('customers'),
    orders: orders as never,
    quotes: northwind('quotes').slice(0, ROWS),
  }),
);
const admin = late(() => signIn(gateway, organisation, 'admin', 'Ada'));
const member = late(() => signIn(gateway, organisation, 'member', 'Max'));

const BY_CUSTOMER = 'order_totals(group_by: [CUSTOMER], sort: "-total_minor", limit: 10)';
const figuresOf = (who: Person, variables: object = {}) =>
  who.graphql(DOCUMENTS.figures, { currency: 'USD', ...variables });

/** The operations that a person is not refused; every refusal is the same, and comes before anything is read. */
async function allowedTo(who: Person): Promise<string[]> {
  const allowed: string[] = [];
  for (const operation of operations) {
    const { name } = operation;
    const { body } = await who.graphql(documentOf(operation), argumentsOf(operation, IDS));
    const [error] = (body.errors ?? []) as Json[];
    if (!error) allowed.push(name);
    else expect({ name, ...error.extensions }).toMatchObject({ name, code: 'forbidden', status: 403 });
    if (error) expect(body.data?.[name] ?? null).toBeNull();
  }
  return allowed;
}

/** Commands that read rows; a look at what indexes there are, or a measurement of an organisation, may run beside. */
const READS = ['find', 'aggregate', 'count', 'distinct', 'getMore'];

/** Which collections of organisations were read. */
const read = (): string[] =>
  gateway.commands
    .filter(({ database, name }) => database !== 'scopegate_test' && READS.includes(name))
    .map(({ collection }) => collection);

test('by default, members and admins see the figures of their organisation, and names of customers', async () => {
  const [byKey, byMember, byAdmin] = await Promise.all([
    (await callerOf(gateway, organisation)).graphql(DOCUMENTS.figures, { currency: 'USD' }),
    figuresOf(member),
    figuresOf(admin),
  ]);
  expect(byKey.body.errors).toBeUndefined();
  expect([byMember.body, byAdmin.body]).toEqual([byKey.body, byKey.body]);
  const { orders: statuses, order_months: months, customers } = byMember.body.data;
  expect(statuses.data).toMatchObject([{ status: 'completed', currency: 'USD', count: ROWS }]);
  expect(months.data).toHaveLength(new Set(orders.map(({ placed_at: at }) => at.slice(0, 7))).size);
  const names = new Map((northwind('customers') as Json[]).map(({ id, name }) => [id, name]));
  expect(customers.data.map(({ customer }: Json) => customer.name)).toEqual(
    customers.data.map(({ customer_id: id }: Json) => names.get(id)),
  );
});

test('no operation but figures can be called with a session, and nothing is read for another', async () => {
  const figures = operations.flatMap(({ name, isFigure }) => (isFigure ? [name] : []));
  expect(figures).toEqual(expect.arrayContaining(['quote_totals', 'order_totals', 'product_sales']));
  expect(operations.length).toBeGreaterThan(figures.length + 15);
  for (const who of [member, admin]) expect(await allowedTo(who)).toEqual(figures);
  expect(await admin.graphql('subscription { events { id } }')).toMatchObject({ status: 406, body: { errors: [{}] } });
  gateway.commands.length = 0;
  for (const text of [
    '{ quotes { data { id } } }',
    `{ order(id: "${IDS.order}") { id } }`,
    '{ me { organisation { id } } }',
  ])
    await admin.graphql(text);
  expect(read()).toEqual([]);
});

test.each([
  ['a member', '{ email }'],
  ['a list inside the object', '{ contacts { name } }'],
  ['another object', '{ orders { data { id } } }'],
  ['a value worked out', '{ etag }'],
  ['a name of another member', '{ name: email }'],
  ['an inline fragment', '{ name ... on Customer { phone } }'],
  ['a fragment', '{ ...More }', 'fragment More on Customer { id vat_number }'],
  ['what is left out by a directive', '{ email @skip(if: true) name }'],
])('of a customer a session reads the name alone, not %s', async (_what, selected, more = '') => {
  const text = `{ ${BY_CUSTOMER} { data { customer ${selected} } } } ${more}`;
  gateway.commands.length = 0;
  for (const who of [member, admin]) {
    const { body } = await who.graphql(text);
    expect(body).toMatchObject({ data: { order_totals: null }, errors: [{ extensions: { code: 'forbidden' } }] });
  }
  expect(read()).toEqual([]);
});

test('nobody sees figures of another organisation, or of what is asked for by an id from there', async () => {
  const elsewhere = await signIn(gateway, await makeOrganisation(gateway));
  const ask = 'query($id: ID) { order_totals(customer_id: $id) { data { count } } }';
  const ids = { id: orders[0].customer_id };
  expect((await member.graphql(ask, ids)).body.data.order_totals.data).toHaveLength(1);
  expect((await elsewhere.graphql(ask, ids)).body.data.order_totals.data).toEqual([]);
  const { body } = await figuresOf(elsewhere);
  expect(Object.values(body.data as object).map(({ data }: Json) => data)).toEqual([[], [], [], [], [], []]);
});

test('figures wait for their turn among the large queries of the organisation', async () => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => figuresOf(member)));
  const refused = answers.filter(({ status }) => status !== 200);
  // one runs and three wait
  expect(answers.length - refused.length).toBeGreaterThanOrEqual(4);
  expect(refused.length).toBeGreaterThan(0);
  for (const { body } of refused) expect(body.errors).toMatchObject([{ extensions: { code: 'unavailable' } }]);
});

test('INSIGHTS=admins refuses members, and off everybody; their pages say so; and figures cost points before they run', async () => {
  const named = 'href="/settings/insights"';
  const page = async (at: { url: string }, { cookie }: Person): Promise<string> =>
    (await fetch(`${at.url}/settings/insights`, { headers: { cookie } })).text();
  expect(await page(gateway, member)).toContain(named);
  await withGateway({ INSIGHTS: 'admins', RATE_LIMIT_PER_MINUTE: '40' }, async (careful) => {
    const max = await signIn(careful, organisation, 'member', 'Max');
    expect(await allowedTo(max)).toEqual([]);
    expect((await figuresOf(max)).body).toMatchObject({
      errors: Array.from({ length: 6 }, () => ({ message: 'Only admins of the organisation see its figures.' })),
    });
    const ada = await signIn(careful, organisation, 'admin', 'Ada');
    expect((await figuresOf(ada)).body.errors).toBeUndefined();
    expect(await page(careful, ada)).toContain(named);
    expect(await page(careful, max)).not.toContain(named);
    expect(await page(careful, max)).toContain('Only admins of the organisation see its figures.');
    // a point for each, as with a key
    const many = Array.from({ length: 20 }, (_, at) => `figure${String(at)}: order_totals { has_more }`);
    const [paid, unpaid] = [await ada.graphql(`{ ${many.join(' ')} }`), await ada.graphql(`{ ${many.join(' ')} }`)];
    expect([paid.status, unpaid.status]).toEqual([200, 429]);
    expect(unpaid.body).toMatchObject({ errors: [{ extensions: { code: 'rate_limited' } }] });
  });
  await withGateway({ INSIGHTS: 'off' }, async (off) => {
    const ada = await signIn(off, organisation, 'admin');
    expect(await allowedTo(ada)).toEqual([]);
    expect(await page(off, ada)).not.toContain(named);
    expect(await page(off, ada)).toContain('Insights are off on this gateway.');
  });
});
