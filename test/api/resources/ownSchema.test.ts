// before everything that reads the schema
import '../../support/ownPatch';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mongo } from 'mongoose';
import { indexesOf } from '../../../src/mongo/indexes';
import { recordKinds, resourceOf } from '../../../src/resources';
import { storeSample } from '../../../src/resources/sample';
import type { ImportRecord } from '../../../src/stored/records';
import { operator, TOKENS } from '../../admin/operator/operator';
import type { Client, Json } from '../../support/client';
import { callerOf, makeOrganisation, makeStored, northwind } from '../../support/factories';
import { late, served, withGateway } from '../../support/gateway';
import { faultsOfImport } from '../../support/importFaults';

/* The folder that `scopegate schema init` writes: invoices, and a status and a project code of quotes. Its references to
 * customers are in ownReferences.test.ts. */

const [first, second] = northwind('quotes');
const PROJECT: Json = {
  ...first!,
  status: 'negotiating',
  project_code: 'P-7',
  sent_at: first!.created_at,
  decided_at: null,
};

const gateway = served(TOKENS);
const organisation = late(() => makeStored(gateway, { quotes: [PROJECT as ImportRecord, second!] }));
const caller = late(() => callerOf(gateway, organisation));

const numbersOf = async (path: string, query: Json): Promise<string[]> => {
  const { body } = await caller.get(path, query);
  return body.data.map(({ number }: Json) => number);
};

test.each([
  [{ project_code: 'P-7' }],
  [{ status: 'negotiating' }],
  [{ q: 'p-7' }],
  [{ status: ['negotiating', 'draft'], project_code: 'P-7' }],
])('quotes with %j are the one with the members of the folder', async (query) => {
  expect(await numbersOf('/quotes', query)).toEqual([PROJECT.number]);
});

test('a quote from before a member was added has null there, in each API', async () => {
  const { id } = second!;
  expect((await caller.get(`/quotes/${id}`)).body.project_code).toBeNull();
  const { body } = await caller.graphql('query($id: ID!) { quote(id: $id) { project_code } }', { id });
  expect(body).toEqual({ data: { quote: { project_code: null } } });
  const { body: totals } = await caller.graphql(
    '{ quote_totals(group_by: [STATUS], status: [negotiating]) { data { status count } } }',
  );
  expect(totals.data.quote_totals.data).toEqual([{ status: 'negotiating', count: 1 }]);
});

test('the index of a filter on a member follows', () => {
  const names = indexesOf(resourceOf('quotes')).map(({ name }) => name);
  expect(names).toContain('project_code_1_created_at_-1__id_-1');
  expect(indexesOf(resourceOf('invoices')).map(({ name }) => name)).toEqual(
    expect.arrayContaining(['number_1', 'newest_and_totals', 'customer_id_1_created_at_-1__id_-1', 'search_1']),
  );
});

const bulk = (invoices: readonly Json[], by: Client = caller): Promise<Json> => by.post('/invoices/bulk', { invoices });

test('elements with an external_ref that another object has fail alone', async () => {
  const [ours, theirs] = [randomUUID(), randomUUID()];
  const invoice = (number: string, external_ref: string): Json => ({ number, external_ref, total_minor: 1 });
  const { body: made } = await bulk([invoice('R-1', theirs), invoice('R-2', ours)]);
  expect(made).toMatchObject({ created: 2 });
  const next = randomUUID();
  const elements = [
    invoice('R-3', theirs),
    invoice('R-4', next),
    // twice in one call
    invoice('R-5', next),
    { number: 'R-2', total_minor: 2 },
    invoice('R-1', theirs),
    // é of one code point, and of two
    invoice('R-6', `\u00e9${next}`),
    invoice('R-7', `e\u0301${next}`),
  ];
  const { status, body } = await bulk(elements);
  expect([status, body.results?.map(({ outcome }: Json) => outcome as string)]).toEqual([
    200,
    ['failed', 'created', 'failed', 'updated', 'unchanged', 'created', 'failed'],
  ]);
  const [taken, , repeated] = body.results;
  const detail = 'belongs to another invoice';
  expect(taken.errors).toEqual([{ pointer: '/invoices/0/external_ref', code: 'conflict', detail }]);
  expect(repeated.errors).toMatchObject([{ pointer: '/invoices/2/external_ref', code: 'conflict' }]);
});

test('invoices are created with defaults, found, summed, changed in one version, and checked by the rules', async () => {
  const number = `INV-${randomUUID().slice(0, 8)}`;
  const given = { number, total_minor: 12_345, due_on: '2999-12-24' };
  const { body } = await bulk([given, { number: 'LATE', total_minor: 1, due_on: '1999-01-01' }, { number: 'NONE' }]);
  expect(body).toMatchObject({ created: 1, failed: 2 });
  expect(body.results.map(({ errors }: Json) => errors.map(({ pointer, code }: Json) => [pointer, code]))).toEqual([
    [],
    [['/invoices/1/due_on', 'invalid']],
    [['/invoices/2/total_minor', 'required']],
  ]);
  expect((await bulk([given])).body.unchanged).toBe(1);
  expect(await numbersOf('/invoices', { due_before: '2999-12-25', q: number })).toEqual([number]);
  expect(await numbersOf('/invoices', { due_before: '2999-12-24', q: number })).toEqual([]);
  const { id } = body.results[0];
  const { body: invoice, headers } = await caller.get(`/invoices/${String(id)}`);
  expect(invoice).toMatchObject({ ...given, status: 'open', currency: 'USD', customer_id: null });
  const patch = (members: Json, etag: string) => caller.patch(`/invoices/${String(id)}`, members, { 'if-match': etag });
  expect(await patch({ due_on: '1999-01-01' }, headers.get('etag')!)).toMatchObject({ status: 422 });
  expect(await patch({ status: 'paid' }, headers.get('etag')!)).toMatchObject({
    status: 200,
    body: { status: 'paid' },
  });
  expect(await patch({ status: 'void' }, headers.get('etag')!)).toMatchObject({ status: 412 });
  const undated = await bulk([{ number: `${number}-2`, total_minor: 5, paid_minor: 3 }]);
  const { body: other } = await caller.get(`/invoices/${String(undated.body.results[0].id)}`);
  const since = String(invoice.created_at);
  const asked = `{ invoice_totals(group_by: [MONTH], from: "${since}") { data { month count total_minor paid_minor currency } } }`;
  const months = new Set([since, String(other.created_at)].map((time) => time.slice(0, 7)));
  const { body: totals } = await caller.graphql(asked);
  const rows: Json[] = totals.data.invoice_totals.data;
  expect(rows.map(({ month }) => month)).toEqual([...months]);
  const sum = (of: string): number => rows.reduce<number>((total, row) => total + Number(row[of]), 0);
  // null, and what is missing in a row from before, counts as 0
  expect([sum('total_minor'), sum('paid_minor')]).toEqual([12_350, 3]);
  const stored = gateway.databases.organisationData(organisation).collection(resourceOf('invoices'));
  await stored.updateOne(
    { _id: undated.body.results[0].id },
    { $set: { paid_minor: 0.5 } },
    { bypassDocumentValidation: true },
  );
  const { data, extensions } = (await caller.graphql(asked)).body;
  expect(data.invoice_totals.data).toMatchObject([{ count: 1, total_minor: 12_345, paid_minor: 0 }]);
  expect(extensions).toEqual({ omitted: 1 });
});

test.each(['weight', '-weight', 'urgent', '-urgent'])(
  'pages sorted by %s have each task once, in its order, whatever types another program stored',
  async (sort) => {
    const own = await makeOrganisation(gateway);
    const rows = gateway.databases.organisationData(own).database.collection('tasks');
    const at = new Date();
    const direction = sort.startsWith('-') ? -1 : 1;
    const member = sort.replace('-', '');
    const odd = [null, 'text', at, mongo.Decimal128.fromString('5'), new mongo.ObjectId()];
    const values = [
      ...[0.1, 5, 5, -3, 5, 1e20, 5e-324, 2 ** 40].map((weight, index) => ({ weight, urgent: index % 2 === 0 })),
      ...[...odd, NaN, Infinity].map((weight) => ({ weight, urgent: true })),
      ...odd.map((urgent) => ({ weight: 7, urgent })),
    ];
    const tasks = values.map((one) => ({ _id: randomUUID(), state: 'open', ...one, created_at: at, updated_at: at }));
    await rows.insertMany(tasks as never);
    const sound = await rows
      .find({ weight: { $type: 'number', $nin: [NaN, Infinity] }, urgent: { $type: 'bool' } } as never)
      .sort({ [member]: direction, _id: direction })
      .toArray();
    const ids = sound.filter(({ weight }) => typeof weight === 'number').map(({ _id }) => String(_id));
    const reader = await callerOf(gateway, own);
    const query =
      'query ($s: String, $c: String) { tasks(sort: $s, limit: 1, cursor: $c) { data { id weight urgent } next_cursor } }';
    for (const read of [
      async (cursor?: string) => (await reader.get('/tasks', { sort, limit: 1, ...(cursor && { cursor }) })).body,
      async (c?: string) => (await reader.graphql(query, { s: sort, c })).body.data.tasks,
    ]) {
      const found: string[] = [];
      for (let page = await read(), pages = 0; pages < 30; page = await read(page.next_cursor as string), pages += 1) {
        found.push(...page.data.map(({ id }: Json) => String(id)));
        if (page.next_cursor === null) break;
      }
      expect(found).toEqual(ids);
    }
    const forged = await reader.get('/tasks', { sort, cursor: 'WyJhIiwiIiwiIl0' });
    expect(forged.status).toBe(400);
  },
);

test('a rule for threads holds when one is opened, changed, or written by an operator', async () => {
  const fault = { pointer: '/subject', code: 'invalid', detail: 'must be another' };
  const opened = await caller.post('/requests', { text: 'Hello', subject: 'Ruled' });
  expect([opened.status, opened.body.errors]).toEqual([422, [fault]]);
  const { body: thread } = await caller.post('/requests', { text: 'Hello', subject: 'Free' });
  expect(thread.priority).toBe('normal');
  const changed = await caller.patch(`/requests/${String(thread.id)}`, { subject: 'Ruled' });
  expect([changed.status, changed.body.errors]).toEqual([422, [fault]]);
  const writes = ['Ruled', 'Free'].map((subject) => ({ type: 'request', put: { external_ref: subject, subject } }));
  const { body } = await operator(gateway).post(`/organisations/${organisation.id}/writes`, { writes });
  expect(body.results.map(({ outcome }: Json) => outcome)).toEqual(['failed', 'created']);
  expect(body.results[0].errors).toEqual([{ ...fault, pointer: '/writes/0/put/subject' }]);
});

test('parts of an invoice have different ids in their list, at any depth, in bulk calls and changes', async () => {
  const number = `INV-${randomUUID().slice(0, 8)}`;
  const [one, two] = [randomUUID(), randomUUID()];
  const lines = [{ id: one, marks: [{ id: one }, {}] }, { id: two, marks: [{ id: one }] }, { marks: null }];
  const { body } = await bulk([{ number, total_minor: 1, lines }]);
  expect(body).toMatchObject({ created: 1 });
  const twice = [{ id: one }, { id: two, marks: [{ id: two }, { id: two }] }, { id: one.toUpperCase() }];
  const faultsAt = (at: string) => [
    { pointer: `${at}/lines/1/marks/1/id`, code: 'duplicate', detail: 'is that of an earlier invoice mark' },
    { pointer: `${at}/lines/2/id`, code: 'duplicate', detail: 'is that of an earlier invoice line' },
  ];
  const { body: refused } = await bulk([{ number, lines: twice }]);
  expect(refused.results[0].errors).toEqual(faultsAt('/invoices/0'));
  const change = await caller.patch(`/invoices/${String(body.results[0].id)}`, { lines: twice });
  expect(change).toMatchObject({ status: 422, body: { errors: faultsAt('') } });
});

test("the sample is Northwind without what the folder's rules refuse, and an example of each type of the folder", async () => {
  const data = gateway.databases.organisationData(await makeOrganisation(gateway));
  const products = northwind('products').filter(({ category }) => category !== 'Beverages');
  await storeSample(data, 'operator');
  const [left] = northwind('customers').filter(({ name }) => name === 'Alfreds Futterkiste');
  const kept = (name: string): number =>
    northwind(name).filter((record) => record.customer_id !== left!.id && record.id !== left!.id).length;
  const count = (name: string) => data.database.collection(name).countDocuments();
  expect([await count('products'), await count('invoices'), await count('tasks')]).toEqual([products.length, 1, 1]);
  for (const name of ['customers', 'quotes', 'orders', 'requests'])
    expect([name, await count(name)]).toEqual([name, kept(name)]);
});

test('a member that the folder adds to contacts is stored by bulk calls and changes, and told apart by', async () => {
  const external_ref = randomUUID();
  const customer = (contacts: Json[]) => ({ external_ref, name: 'Mill', contacts });
  const ann = (title: string): Json => ({ name: 'Ann', title });
  const created = await caller.post('/customers/bulk', { customers: [customer([ann('Dr'), ann('Ms')])] });
  const path = `/customers/${String(created.body.results[0].id)}`;
  const { contacts: before } = (await caller.get(path)).body;
  expect(before).toMatchObject([ann('Dr'), ann('Ms')]);
  const { body: changed } = await caller.patch(path, { contacts: [ann('Ms'), ann('Dr')] });
  expect(changed.contacts).toEqual(before.toReversed());
});

test('a scope of the folder guards its operations, and an organisation sees its own invoices only', async () => {
  const reader = await callerOf(gateway, organisation, { scopes: ['invoices:read'] });
  expect((await reader.get('/invoices')).status).toBe(200);
  expect(await bulk([{ number: 'X', total_minor: 1 }], reader)).toMatchObject({ status: 403 });
  const other = await callerOf(gateway, organisation, { scopes: ['quotes:read'] });
  expect((await other.get('/invoices')).status).toBe(403);
  const stranger = await callerOf(gateway, makeOrganisation(gateway));
  const { body } = await bulk([{ number: 'MINE', total_minor: 1 }]);
  expect((await stranger.get(`/invoices/${String(body.results[0].id)}`)).status).toBe(404);
  expect((await stranger.get('/invoices')).body.data).toEqual([]);
});

test('files from before a member was added are imported, and invoices with them', async () => {
  const example = JSON.parse(await readFile(join(process.env.SCHEMA_DIR!, 'examples', 'invoices.json'), 'utf8'));
  const early = { ...example, id: randomUUID(), number: 'EARLY', due_on: '1990-01-01' };
  const into = await makeOrganisation(gateway);
  const faults = await faultsOfImport(gateway, into, { quotes: [second!], invoices: [example, early] });
  expect(faults).toMatchObject([{ line: 2, pointer: '/due_on', code: 'invalid' }]);
  const reader = await callerOf(gateway, into);
  expect((await reader.get(`/invoices/${String(example.id)}`)).body).toEqual({
    ...example,
    ...{ external_ref: null, lines: null, paid_minor: null, items: null, address: null, billing_customer_id: null },
  });
  expect((await reader.get(`/quotes/${second!.id}`)).status).toBe(200);
});

test('products and customers are imported first, and what refers to others after those', () => {
  expect(recordKinds.map(({ file }) => file)).toEqual([
    ...['products', 'customers', 'quotes', 'orders', 'invoices', 'tasks', 'requests'],
  ]);
});

test('a gateway with BRAND_DESCRIPTION says it wherever it says what the API is for, begins with a list of the folder, and names the resources of a key to models', async () => {
  const sentence = 'Projects & <tasks> of builders.';
  await withGateway({ BRAND_NAME: 'Acme API', BRAND_DESCRIPTION: sentence.slice(0, -1) }, async (branded) => {
    const read = async (path: string): Promise<string> => {
      const text = await (await fetch(`${branded.url}${path}`, { headers: { accept: 'text/html,*/*' } })).text();
      expect(text).not.toMatch(/quotes, products, orders/i);
      return text;
    };
    const escaped = sentence.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;');
    const landing = await read('/');
    expect(landing).toContain(`<meta name="description" content="${escaped}"`);
    expect(landing).toContain(`<p class="lead">${escaped}</p>`);
    const shown = landing
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'");
    expect(shown).toContain('/api/v1/invoices?limit=1"');
    expect(shown).toContain("api.get('/invoices', { query: { limit: 1 } })");
    expect(shown).toContain('api.get("/invoices", limit=1)');
    expect(shown).toContain('"number": "INV-10248"');
    expect(shown).not.toMatch(/chai/i);
    expect(await read('/llms.txt')).toContain(
      `# Acme API\n\n> ${sentence} REST, GraphQL and MCP have the same operations`,
    );
    expect(await read('/api/v1/docs')).toContain(`${escaped} Fields are snake_case`);
    const { info } = JSON.parse(await read('/api/v1/openapi.json'));
    expect(info.description).toMatch(/^Projects & <tasks> of builders\. Fields are snake_case/);
    const scopes = ['invoices:read', 'invoices:write', 'products:read'] as const;
    const { body } = await (await callerOf(branded, organisation, { scopes })).mcp('server/discover');
    expect(body.result.instructions).toMatch(
      /^Projects & <tasks> of builders\. This key has scopes for: invoices, products\. Amounts end in _minor/,
    );
  });
});

test('without BRAND_DESCRIPTION the words are ours, and the first request is to the folder all the same', async () => {
  const landing = await (await fetch(gateway.url, { headers: { accept: 'text/html' } })).text();
  expect(landing).toContain('An organisation’s quotes, products, orders, customers and request threads over REST');
  expect(landing).toContain('/invoices?limit=1');
  const { body } = await caller.mcp('server/discover');
  expect(body.result.instructions).toMatch(/^Quotes, products, orders, customers and request threads of one org/);
});
