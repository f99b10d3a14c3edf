import mongoose from 'mongoose';
import { toEvent } from '../../../src/events/tail/changes';
import { resourceOf } from '../../../src/resources';
import { published } from '../../../src/schema/model';
import { idText } from '../../../src/units';
import { AS_PDF, PDF } from '../../support/attachments';
import type { Answer, Client, Json } from '../../support/client';
import { ask, FACES, refusal, REST } from '../../support/faces';
import { callerOf, makeOrganisation, northwind, store } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { goodQuote as good, type Members, MISTAKES } from '../../support/mistakes';

const quotes = resourceOf('quotes');

/* Rows that another program stored with its own driver: one that cannot be served spoils nothing else (docs/decisions/invalid-rows.md). */

const { Decimal128, Long } = mongoose.mongo;

// as an organisation whose rows are older than their validators
const gateway = served({ STORED_VALIDATION: 'off' });

const OF_LINES = '/lines';
const FIELDS = published.stored.get('Quote')!.members.flatMap(({ name }) => (name === 'lines' ? [] : [name]));

async function withRow(spoil: (row: Members) => void) {
  const organisation = await makeOrganisation(gateway);
  const data = gateway.databases.organisationData(organisation);
  await data.prepare([quotes]);
  const [first, row] = [good('G1'), good('B1')];
  spoil(row);
  await data.collection(quotes).insertMany([first, row] as never);
  return { caller: await callerOf(gateway, organisation), sound: String(first._id), row, organisation };
}

const omittedOf = (answer: { headers: Headers }): number => Number(answer.headers.get('scopegate-omitted') ?? 0);

test('a row with an id in upper case, which nobody could read, is left out of lists', async () => {
  const { caller, sound, row } = await withRow((own) => (own._id = String(own._id).toUpperCase()));
  for (const query of [{}, { include: 'lines' }]) {
    const list = await caller.get('/quotes', query);
    expect([list.body.data.map(({ id }: Json) => id as string), omittedOf(list)]).toEqual([[sound], 1]);
  }
  expect((await caller.get(`/quotes/${String(row._id)}`)).status).toBe(404);
});

test('a row with an attachment whose id is no UUID, by which its file could not be found, is left out of lists and refused', async () => {
  const organisation = await makeOrganisation(gateway);
  const caller = await callerOf(gateway, organisation);
  const { body: sound } = await caller.post('/requests', { text: 'Hello' });
  const { body: row } = await caller.post('/requests', { text: 'Hello' });
  const attached = await caller.send('POST', `/requests/${String(row.id)}/attachments`, { body: PDF, headers: AS_PDF });
  expect(attached.status).toBe(201);
  const data = gateway.databases.organisationData(organisation);
  await data.collection(resourceOf('requests')).updateOne({ _id: row.id }, { $set: { 'attachments.0.id': '../x' } });
  const list = await caller.get('/requests');
  expect([list.body.data.map(({ id }: Json) => id as string), omittedOf(list)]).toEqual([[sound.id], 1]);
  const one = await caller.get(`/requests/${String(row.id)}`);
  expect([one.status, one.body.code]).toEqual([500, 'stored_object_invalid']);
  expect(one.body.errors).toMatchObject([{ pointer: '/attachments/0/id', code: 'format' }]);
});

test('an id may even be an object with a member toString', async () => {
  const { caller, row } = await withRow((own) => (own._id = { toString: 1 }));
  expect(omittedOf(await caller.get('/quotes'))).toBe(1);
  // as doctor and events name it
  expect(idText(row._id)).toBe('{"toString":1}');
});

/** Numbers that JSON, clients or amounts cannot have, and how an error shows them; a validator of the database lets some through. */
const NUMBERS: readonly [...(typeof MISTAKES)[number], shown: string][] = [
  ['NaN as a quantity', (row) => (row.lines[0].qty = NaN), '/lines/0/qty', 'NaN'],
  ['Infinity as a quantity', (row) => (row.lines[0].qty = Infinity), '/lines/0/qty', 'Infinity'],
  [
    'an amount over 2^53',
    (row) => (row.total_minor = Long.fromString('9007199254740993')),
    '/total_minor',
    '9007199254740993',
  ],
  ['null as an amount', (row) => (row.discount_minor = null), '/discount_minor', 'null'],
  ['a position over 2^31', (row) => (row.lines[0].position = 2 ** 31), '/lines/0/position', '2147483648'],
];
const ALL: readonly [...(typeof MISTAKES)[number], shown?: string][] = [...MISTAKES, ...NUMBERS];

describe.each(ALL)('%s, stored by another program', (title, spoil, pointer, shown = '') => {
  const scene = late(() => withRow(spoil));
  const isOmitted = (inLists: boolean): boolean => pointer !== undefined && (inLists || !pointer.startsWith(OF_LINES));
  const expected = (inLists: boolean): { rows: number; omitted: number } => {
    return isOmitted(inLists) ? { rows: 1, omitted: 1 } : { rows: 2, omitted: 0 };
  };

  test.each([
    ['lists', {}, false],
    ['lists with lines', { include: 'lines' }, true],
  ] as const)('is left out of %s if it cannot be served, and counted', async (_what, query, withLines) => {
    const answer = await scene.caller.get('/quotes', query);
    expect([answer.status, answer.body.code]).toEqual([200, undefined]);
    expect({ rows: answer.body.data.length, omitted: omittedOf(answer) }).toEqual(expected(withLines));
  });

  test('is left out in GraphQL, which says so in its extensions', async () => {
    const { caller } = scene;
    const members =
      'id number status total_minor vat_minor discount_minor currency valid_until sent_at customer_id created_at updated_at lines { id qty discount_pct position }';
    // the third is written from bytes
    for (let run = 0; run < 3; run += 1) {
      const { body } = await caller.graphql(`{ quotes { data { ${members} } } }`);
      const { rows, omitted } = expected(true);
      expect(body.errors).toBeUndefined();
      expect([body.data.quotes.data.length, body.extensions?.omitted ?? 0]).toEqual([rows, omitted]);
    }
  });

  test('is 500 if it is read by its id, and nothing else is', async () => {
    const { caller, row, sound } = scene;
    expect(await ask(REST, caller, 'quote', { id: sound })).toMatchObject({ id: sound });
    if (typeof row._id !== 'string' || row._id.length < 36) return;
    if (pointer === undefined) {
      for (const face of FACES)
        expect(await ask(face, caller, 'quote', { id: row._id })).toMatchObject({ id: row._id });
      return;
    }
    const refused = {
      status: 500,
      code: 'stored_object_invalid',
      errors: [
        { pointer, code: expect.any(String), detail: expect.stringMatching(`^is (missing$|stored as .*${shown})`) },
      ],
    };
    for (const face of FACES) expect(await refusal(face, caller, 'quote', { id: row._id })).toEqual(refused);
    const { body } = await caller.get(`/quotes/${String(row._id)}`);
    const isMissing = /: \S+ is missing\. /.test(body.detail);
    expect(body.detail).toContain(isMissing ? 'It was stored before that was added' : 'Another program stored it');
    expect(isMissing).toBe(/^(no|a line without) /.test(title));
  });

  test('counts in totals if the members that they depend on can be shown', async () => {
    const { caller, row } = scene;
    const isOfTotals = pointer !== undefined && /_minor$|^.currency$/.test(pointer);
    const hasTime = row.created_at instanceof Date;
    const isCounted = hasTime && !isOfTotals;
    const groups: readonly [string, boolean][] = [
      ['', isCounted],
      ['(group_by: [STATUS])', isCounted && pointer !== '/status'],
      ['(group_by: [MONTH, CUSTOMER])', isCounted && pointer !== '/customer_id'],
    ];
    for (const [group, counts] of groups) {
      const { body } = await caller.graphql(`{ quote_totals${group} { data { currency count total_minor } } }`);
      expect(body.errors).toBeUndefined();
      const found = body.data.quote_totals.data as { count: number; total_minor: number }[];
      const sum = (of: 'count' | 'total_minor'): number => found.reduce((total, one) => total + one[of], 0);
      expect([group, sum('count'), sum('total_minor')]).toEqual([
        group,
        counts ? 2 : 1,
        counts ? 100 + Number(row.total_minor) : 100,
      ]);
      expect(body.extensions?.omitted).toBe(hasTime && !counts ? 1 : undefined);
    }
  });

  test('is left out of an answer over MCP, which says so', async () => {
    const { body } = await scene.caller.mcp('tools/call', { name: 'quotes', arguments: { fields: FIELDS } });
    const [text, ...notes] = (body.result.content as { text: string }[]).map((one) => one.text);
    const { rows, omitted } = expected(false);
    expect((JSON.parse(text!) as { data: object[] }).data).toHaveLength(rows);
    expect(notes.filter((note) => note.includes('cannot be shown'))).toHaveLength(omitted);
  });

  test('has an event if its id is one of ours, whatever else is wrong', () => {
    const { row } = scene;
    const change = {
      operationType: 'insert',
      wallTime: new Date(),
      clusterTime: new mongoose.mongo.Timestamp(0n),
      ns: { db: 'org_', coll: 'quotes' },
    };
    const own = { ...change, _id: {}, documentKey: { _id: row._id as unknown }, status: row.status as unknown };
    const event = toEvent(own, { before: undefined, now: null });
    if (pointer === '/id') expect(event).toBeUndefined();
    else
      expect(event).toMatchObject({
        type: 'quote.created',
        object: { type: 'quote', id: row._id as unknown },
        status: row.status as unknown,
      });
  });

  test('is logged once an hour with its organisation, id and member if it cannot be served', async () => {
    const { caller, organisation, row } = scene;
    await caller.get('/quotes', { include: 'lines' });
    const lines = gateway.logs.filter(
      ({ msg, organisation_id: id }) =>
        String(msg).startsWith('a stored row cannot be served') && id === organisation.id,
    );
    const said = lines.map(({ level, collection, id, pointer: at }) => [level, collection, id, at].join(' '));
    expect(said).toEqual(pointer === undefined ? [] : [`40 quotes ${String(row._id)} ${pointer}`]);
  });
});

test('a related row that cannot be served is null, and left out of lists of its parent', async () => {
  const organisation = await makeOrganisation(gateway);
  const [customer] = northwind('customers');
  await store(gateway, organisation, { customers: [customer!] });
  const data = gateway.databases.organisationData(organisation);
  await data.prepare([quotes]);
  const rows = ['G1', 'B1', 'B2'].map((number) => ({ ...good(number), customer_id: customer!.id }));
  Object.assign(rows[1] ?? {}, { status: 'mine' });
  Object.assign(rows[2] ?? {}, { created_at: 7 });
  await data.collection(quotes).insertMany(rows as never);
  const caller = await callerOf(gateway, organisation);
  const { body } = await caller.graphql('{ customers { data { quotes { data { number status created_at } } } } }');
  expect(body).toMatchObject({
    data: { customers: { data: [{ quotes: { data: [{ number: 'G1' }] } }] } },
    extensions: { omitted: 2 },
  });
  expect(body.data.customers.data[0].quotes.data).toHaveLength(1);
  await data.database.collection('customers').updateOne({}, { $set: { name: { first: 'A' } } });
  const related = await caller.graphql('{ quotes { data { number customer { name } } } }');
  expect(related.body).toMatchObject({
    data: { quotes: { data: Array(3).fill({ customer: null }) } },
    extensions: { omitted: 1 },
  });
  // a row that is named counts once, and those that are only counted each time
  await data.collection(quotes).updateMany({ number: { $in: ['G1', 'B1'] } }, { $set: { total_minor: 'none' } });
  const asked = '{ a: quote_totals { has_more } b: quote_totals { has_more } }';
  expect((await caller.graphql(asked)).body).toMatchObject({ extensions: { omitted: 3 } });
});

test('sales count an order whose texts are stored as numbers, and say which orders they leave out', async () => {
  const organisation = await makeOrganisation(gateway);
  const placed = northwind('orders').filter(({ status }) => status !== 'cancelled');
  const [odd, ...others] = placed.slice(0, 8);
  await store(gateway, organisation, { orders: [odd!, ...others] });
  const rows = gateway.databases.organisationData(organisation).database.collection<{ _id: string }>('orders');
  const line = { 'lines.0.sku': 'ODD', 'lines.0.qty': 1, 'lines.0.description': 5 };
  await rows.updateOne({ _id: odd!.id }, { $set: line });
  const broken: object[] = [
    { 'lines.0.unit_price_minor': 'dear' },
    { 'lines.0.uom': { of: 'box' } },
    { 'lines.0.uom': null },
    { 'lines.0.uom': ['box'] },
    { 'lines.0.description': { en: 'Chai' } },
    { 'lines.0.description': Decimal128.fromString('1') },
    { 'lines.0.sku': { of: 1 } },
  ];
  for (const [at, { id }] of others.entries())
    await rows.updateOne({ _id: id }, { $set: { 'lines.0.sku': 'BROKEN', ...broken[at] } });
  const caller = await callerOf(gateway, organisation);
  const read = async (): Promise<[string[], number]> => {
    const { body } = await caller.graphql('{ product_sales(limit: 100) { data { sku uom description } } }');
    const sales = body.data.product_sales.data as { sku: string }[];
    return [sales.map(({ sku }) => sku), body.extensions?.omitted as number];
  };
  const [skus, omitted] = await read();
  expect([skus.includes('ODD'), skus.includes('BROKEN'), omitted]).toEqual([true, false, broken.length]);
  await rows.updateMany({ 'lines.0.sku': 'BROKEN' }, { $unset: { 'lines.0.uom': 1 } });
  expect(await read()).toEqual([skus, broken.length]);
});

test('a PATCH that cures the row is done, another one is 500 and changes nothing', async () => {
  const organisation = await makeOrganisation(gateway);
  const [customer] = northwind('customers');
  await store(gateway, organisation, { customers: [customer!] });
  const rows = gateway.databases.organisationData(organisation).database.collection('customers');
  await rows.updateOne({}, { $set: { email: { home: 'a@example.com' } } });
  const caller = await callerOf(gateway, organisation);
  const path = `/customers/${customer!.id}`;
  for (const [members, headers] of [[{ name: 'New' }], [{ email: 'a@example.com' }, { 'If-Match': '"x"' }]] as const)
    expect(await caller.patch(path, members, headers)).toMatchObject({
      status: 500,
      body: { code: 'stored_object_invalid', errors: [{ pointer: '/email', code: 'type' }] },
    });
  expect(await rows.findOne({})).toMatchObject({ name: customer!.name, email: { home: 'a@example.com' } });
  expect(await caller.patch(path, { email: 'a@example.com' })).toMatchObject({ status: 200 });
});

test('a thread that cannot be shown gets no messages', async () => {
  const organisation = await makeOrganisation(gateway);
  const caller = await callerOf(gateway, organisation);
  const { body } = await caller.post('/requests', { text: 'Hello' });
  const threads = gateway.databases.organisationData(organisation).collection(resourceOf('requests'));
  for (const member of ['subject', 'updated_at']) {
    const before = await threads.findOneAndUpdate({ _id: body.id }, { $unset: { [member]: '' } } as never);
    const refused = await caller.post(`/requests/${String(body.id)}/messages`, { text: 'More' });
    expect([refused.status, refused.body.errors?.[0].pointer]).toEqual([500, `/${member}`]);
    expect(refused.body.code).toBe('stored_object_invalid');
    await threads.replaceOne({ _id: body.id }, before as never);
  }
  expect((await caller.get(`/requests/${String(body.id)}/messages`)).body.data).toHaveLength(1);
});

test('a key that may only write is not told the stored value', async () => {
  const organisation = await makeOrganisation(gateway);
  const all = await callerOf(gateway, organisation);
  const writer = await callerOf(gateway, organisation, { scopes: ['customers:write', 'requests:write'] });
  const [customer] = northwind('customers');
  await store(gateway, organisation, { customers: [customer!] });
  const { body: thread } = await all.post('/requests', { text: 'Hello' });
  const secret = { $set: { created_at: 'SECRET' } };
  const { database } = gateway.databases.organisationData(organisation);
  for (const name of ['customers', 'requests']) await database.collection(name).updateMany({}, secret);
  const calls: readonly ((caller: Client) => Promise<Answer>)[] = [
    (caller) => caller.patch(`/customers/${customer!.id}`, { name: 'New' }),
    (caller) => caller.patch(`/requests/${String(thread.id)}`, { status: 'closed' }),
    (caller) => caller.post(`/requests/${String(thread.id)}/messages`, { text: 'More' }),
    (caller) => caller.send('POST', `/requests/${String(thread.id)}/attachments`, { body: PDF, headers: AS_PDF }),
  ];
  for (const call of calls) {
    const refused = await call(writer);
    const [fault] = refused.body.errors as Json[];
    expect([refused.status, fault?.pointer, fault?.code]).toEqual([500, '/created_at', 'type']);
    expect(JSON.stringify(refused.body)).not.toContain('SECRET');
    expect(JSON.stringify((await call(all)).body)).toContain('SECRET');
  }
  await database.collection('customers').updateMany({}, { $unset: { created_at: '' } });
  const { body } = await calls[0]!(writer);
  expect(body.detail).toContain('/created_at is missing. It was stored before that was added');
});
