import { callerOf, makeNorthwind } from '../../support/factories';
import { late, served } from '../../support/gateway';

const gateway = served();
const organisation = late(() => makeNorthwind(gateway, 120));
const caller = late(() => callerOf(gateway, organisation));

describe.each(['quotes', 'orders'] as const)('%s with include=lines', (list) => {
  test('have the same bytes per row as reading each separately', async () => {
    const { status, text, body } = await caller.get(`/${list}`, { include: 'lines', limit: 5, sort: 'number' });
    expect(status).toBe(200);
    const alone: string[] = [];
    for (const { id } of body.data) alone.push((await caller.get(`/${list}/${String(id)}`)).text);
    expect(text.startsWith(`{"data":[${alone.join(',')}],`)).toBe(true);
    expect(body.data[0].lines.length).toBeGreaterThan(0);
  });

  test('have the same pages and cursors as without, and a Link that keeps it', async () => {
    const args = { limit: 50, sort: 'number' };
    const [plain, whole] = [
      await caller.get(`/${list}`, args),
      await caller.get(`/${list}`, { ...args, include: 'lines' }),
    ];
    expect(whole.body.next_cursor).toBe(plain.body.next_cursor);
    expect(whole.headers.get('link')).toContain('include=lines');
    const next = { ...args, cursor: whole.body.next_cursor, include: 'lines' };
    const [{ body: second }, { body: plainSecond }] = [
      await caller.get(`/${list}`, next),
      await caller.get(`/${list}`, { ...args, cursor: whole.body.next_cursor }),
    ];
    const ids = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);
    expect(ids(second.data)).toEqual(ids(plainSecond.data));
    expect(second.data[0].lines).toBeDefined();
    expect(plainSecond.data[0].lines).toBeUndefined();
  });

  test('accept filters', async () => {
    const { body } = await caller.get(`/${list}`, { include: 'lines' });
    const { number } = body.data[3];
    expect((await caller.get(`/${list}`, { include: 'lines', number })).body.data).toEqual([body.data[3]]);
  });

  test.each([
    [
      { include: 'lines', limit: 51 },
      { parameter: 'limit', code: 'range', detail: 'must be <= 50 with include=lines' },
    ],
    [
      { include: 'lines', limit: 51, sort: 'nothing' },
      { parameter: 'sort', code: 'not_allowed' },
      { parameter: 'limit', code: 'range' },
    ],
    [{ include: 'quote' }, { parameter: 'include', code: 'not_allowed' }],
    [{ include: '' }, { parameter: 'include', code: 'not_allowed' }],
    [{ include: ['lines', 'lines', 'lines', 'nothing'] }, { parameter: 'include', code: 'not_allowed' }],
  ])('get 400 with %j', async (args, ...errors) => {
    const { status, body } = await caller.get(`/${list}`, args);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'invalid_request', errors });
  });
});

test('other lists reject include', async () => {
  const { body } = await caller.get('/products', { include: 'lines' });
  expect(body.errors).toEqual([expect.objectContaining({ parameter: 'include', code: 'unknown' })]);
});

describe.each(['quotes', 'orders', 'requests'] as const)('%s with include=customer', (list) => {
  test('have the customer as its own read, in lists and alone', async () => {
    const { body: plain } = await caller.get(`/${list}`, { limit: 60 });
    const { status, body } = await caller.get(`/${list}`, { limit: 60, include: 'customer' });
    expect(status).toBe(200);
    const [first] = body.data;
    const { body: customer } = await caller.get(`/customers/${String(first.customer_id)}`);
    expect(body.data).toEqual(
      plain.data.map((row: object, at: number) => ({ ...row, customer: body.data[at].customer as object })),
    );
    expect([first.customer, plain.data[0].customer]).toEqual([customer, undefined]);
    const alone = await caller.get(`/${list}/${String(first.id)}`, { include: 'customer' });
    expect([alone.body.customer, alone.headers.has('etag')]).toEqual([customer, false]);
    expect((await caller.get(`/${list}/${String(first.id)}`)).body.customer).toBeUndefined();
  });

  test('need customers:read too', async () => {
    const stranger = await callerOf(gateway, organisation, { scopes: [`${list}:read`] });
    expect(await stranger.get(`/${list}`, { include: 'customer' })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope', required_scope: 'customers:read' },
    });
  });
});

test.each(['quotes', 'orders', 'requests'] as const)(
  '%s: a field that is included more than once is there once',
  async (list) => {
    const once = await caller.get(`/${list}`, { include: 'customer', limit: 2 });
    expect((await caller.get(`/${list}`, { include: ['customer', 'customer', 'customer'], limit: 2 })).body).toEqual(
      once.body,
    );
  },
);

test('several are included together', async () => {
  const { body } = await caller.get('/orders', { include: ['lines', 'customer'], limit: 2 });
  for (const { lines, customer } of body.data)
    expect([lines.length > 0, typeof customer.name]).toEqual([true, 'string']);
});
