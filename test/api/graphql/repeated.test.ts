import { allScopes, type Scope } from '../../../src/auth/scopes';
import type { Client, Json } from '../../support/client';
import { callerOf, makeOrganisation, makeStored } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { variedNorthwind } from '../../support/resources';

/* From the third time on, an operation is answered from the database's bytes if it can be (graphql/fastRead.ts); the answers must be identical, errors included. */

const TIMES = 5;
const records = variedNorthwind();

const gateway = served();
const organisation = late(() => makeStored(gateway, records));
const all = late(() => callerOf(gateway, organisation));
const few = late(() => callerOf(gateway, organisation, { scopes: ['quotes:read'] }));

/** An answer without the request id. */
function lasting({ errors, ...rest }: Json): Json {
  return {
    ...rest,
    ...(errors && {
      errors: errors.map(({ extensions: { request_id: _id, ...extensions }, ...error }: Json) => ({
        ...error,
        extensions,
      })),
    }),
  };
}

const ID = records.quotes[0]!.id;
const MISSING = '00000000-0000-4000-8000-000000000000';

test.each<[string, string, Json]>([
  [
    'a whole object',
    'query($id: ID!) { quote(id: $id) { id number status sent_at valid_until total_minor lines { id qty description } } }',
    { id: ID },
  ],
  ['an unknown object', 'query($id: ID!) { quote(id: $id) { id number } }', { id: MISSING }],
  [
    'an unknown object that is selected twice',
    'query($id: ID!) { quote(id: $id) { id } quote(id: $id) { number } }',
    { id: MISSING },
  ],
  ['an invalid id', 'query($id: ID!) { quote(id: $id) { id } }', { id: 'x' }],
  [
    'aliased objects',
    'query($id: ID!, $other: ID!) { one: quote(id: $id) { id } none: quote(id: $other) { id } }',
    { id: ID, other: MISSING },
  ],
  [
    'a relation',
    'query($id: ID!) { quote(id: $id) { customer { name quotes(limit: 2) { data { number lines { position } } has_more } } } }',
    { id: ID },
  ],
  [
    'fragments',
    'query($id: ID!) { quote(id: $id) { ...a ... on Quote { status } } } fragment a on Quote { number lines { ...b } } fragment b on QuoteLine { qty }',
    { id: ID },
  ],
  [
    'a field selected twice',
    'query($id: ID!) { quote(id: $id) { lines { qty } lines { uom } __typename } }',
    { id: ID },
  ],
  [
    'a list',
    'query($n: Int, $s: [QuoteStatus!]) { quotes(limit: $n, status: $s) { data { number created_at } has_more next_cursor } }',
    { n: 3, s: ['sent', 'accepted'] },
  ],
  ['arguments with defaults', 'query($n: Int = 2) { quotes(limit: $n) { data { number } } }', {}],
  ['an invalid argument next to a valid field', '{ me { key { name } } quotes(limit: 500) { has_more } }', {}],
  ['an ill-typed variable', 'query($n: Int) { quotes(limit: $n) { has_more } }', { n: 'ten' }],
  ['a missing variable', 'query($id: ID!) { quote(id: $id) { id } }', {}],
  [
    'conditions',
    'query($id: ID!, $yes: Boolean!) { quote(id: $id) { id number @include(if: $yes) lines @skip(if: $yes) { id } } }',
    { id: ID, yes: true },
  ],
  [
    'a document with several operations',
    'query A { me { key { name } } } query B { quotes(limit: 1) { has_more } }',
    {},
  ],
  ['a write that fails', 'mutation { open_request(text: "") { id } }', {}],
])('%s: answers are the same each time', async (_title, query, variables) => {
  for (const caller of [all, few]) {
    const answers: Json[] = [];
    for (let time = 0; time < TIMES; time += 1) {
      const { status, body } = await caller.graphql(query, variables);
      answers.push({ status, body: lasting(body) });
    }
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  }
});

test('an operation returns the data of the calling key each time, within its scopes', async () => {
  const query = '{ me { organisation { id } } quotes(limit: 1) { data { id customer { name } } } }';
  const other = await makeOrganisation(gateway);
  const foreign = await callerOf(gateway, other);
  for (let time = 0; time < TIMES; time += 1) {
    const [mine, theirs, limited] = await Promise.all([all.graphql(query), foreign.graphql(query), few.graphql(query)]);
    expect(mine.body.data.me.organisation.id).toBe(organisation.id);
    expect(mine.body.data.quotes.data).toHaveLength(1);
    expect(theirs.body.data).toEqual({ me: { organisation: { id: other.id } }, quotes: { data: [] } });
    expect(limited.body.errors[0].extensions).toMatchObject({
      code: 'insufficient_scope',
      required_scope: 'customers:read',
    });
    expect(limited.body.data.quotes.data[0].customer).toBeNull();
  }
});

describe('what applies to all rows is checked and reported once:', () => {
  const CUSTOMERS = records.customers.slice(0, 20);
  const ALIASES = 10;
  /** Two, and those that may be answered from bytes. */
  const RUNS = 4;

  const owner = late(() => makeStored(gateway, { customers: CUSTOMERS }));

  async function callerWith(scopes: readonly Scope[]): Promise<Client> {
    return callerOf(gateway, owner, { scopes });
  }

  const names = Array.from({ length: ALIASES }, (_, at) => `a${String(at)}`);
  const inRows = (field: string): string =>
    `{ customers(limit: 20) { data { name ${names.map((name) => `${name}: ${field}`).join(' ')} } } }`;
  const pathsOf = (body: Json): unknown[] => body.errors.map(({ path }: Json) => path);
  const places = names.map((name) => ['customers', 'data', name]);
  const rows = CUSTOMERS.map(() => ({
    name: expect.any(String),
    ...Object.fromEntries(names.map((name) => [name, null])),
  }));

  test('a relation without its scope is one error for each place in the document', async () => {
    const caller = await callerWith(['customers:read']);
    for (let run = 0; run < RUNS; run += 1) {
      const { body, status } = await caller.graphql(inRows('orders { has_more }'));
      expect(status).toBe(200);
      expect(body.data.customers.data).toEqual(rows);
      expect(pathsOf(body)).toEqual(places);
      for (const { extensions } of body.errors)
        expect(extensions).toMatchObject({ code: 'insufficient_scope', required_scope: 'orders:read' });
    }
  });

  test('the same relation in two places through one fragment is two errors', async () => {
    const caller = await callerWith(['customers:read', 'quotes:read']);
    const document = `{ one: customers { data { ...F } } other: customers { data { ...F } } }
      fragment F on Customer { orders { has_more } }`;
    for (let run = 0; run < RUNS; run += 1)
      // the places are read at once, so either may come first
      expect(pathsOf((await caller.graphql(document)).body).sort()).toEqual(
        ['one', 'other'].map((root) => [root, 'data', 'orders']),
      );
  });

  test('arguments that are wrong in all rows are one error for each place', async () => {
    const caller = await callerWith(allScopes());
    for (let run = 0; run < RUNS; run += 1) {
      const { body } = await caller.graphql(inRows('orders(limit: 0) { has_more }'));
      expect(body.data.customers.data).toEqual(rows);
      expect(pathsOf(body)).toEqual(places);
      expect(body.errors[0].extensions).toMatchObject({ code: 'invalid_request', errors: [{ parameter: 'limit' }] });
    }
  });

  test('an answer has the first 100 errors and says how many more there are', async () => {
    const caller = await callerWith(allScopes());
    for (let run = 0; run < RUNS; run += 1) {
      const { body } = await caller.graphql(inRows('orders(cursor: "made-up") { has_more }'));
      expect(body.data.customers.data).toEqual(rows);
      expect(body.errors).toHaveLength(100);
      expect(body.errors[0].path).toEqual(['customers', 'data', 0, 'a0']);
      expect(body.extensions).toEqual({ more_errors: CUSTOMERS.length * ALIASES - 100 });
    }
  });
});

/* Operations were compiled to code until texts, aliases and variables of a caller's document changed what that did (docs/decisions/speed.md). */

/** What graphql-jit took for the beginning of code. */
const MARKER = '__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d';

test.each([
  ['a search', (text: string) => `{ customers(q: ${text}) { data { id } } }`],
  ['a default', (text: string) => `query($q: String = ${text}) { customers(q: $q) { data { id } } }`],
  [
    'a value in an input',
    (text: string) =>
      `mutation { upsert_customers(customers: [{ external_ref: "E", name: ${text} }]) { results { outcome } } }`,
  ],
])('a literal text in %s is no code', async (_where, document) => {
  for (let time = 0; time < TIMES; time += 1)
    await all.graphql(document(JSON.stringify(`${MARKER}globalThis.ran = true`)));
  expect(globalThis).not.toHaveProperty('ran');
});

test('a variable inside a literal that is not sent leaves the member as it was', async () => {
  const upsert = `mutation($ref: String, $phone: String) {
    upsert_customers(customers: [{ external_ref: $ref, name: "Ada", phone: $phone }]) { results { outcome } }
  }`;
  await all.graphql(upsert, { ref: 'V', phone: '+351 1' });
  for (let time = 0; time < TIMES; time += 1) await all.graphql(upsert, { ref: 'V' });
  const { body } = await all.get('/customers', { external_ref: 'V' });
  expect(body.data).toMatchObject([{ phone: '+351 1' }]);
});

test('aliases that resemble paths change neither checks nor selections', async () => {
  const requests = 'requests(limit: 1000) { data { id } }';
  const tooMany = `query($id: ID!) {
    y_z: customer(id: $id) { q: requests(limit: 1) { data { id } } }
    z: customer(id: $id) { q_y: ${requests} }
  }`;
  const projected = `query($id: ID!) {
    customer_quote: customers(limit: 2) { data { id name } }
    quote(id: $id) { customer { name } }
  }`;
  const customer = records.customers[0]!.id;
  for (let time = 0; time < TIMES; time += 1) {
    const { body } = await all.graphql(tooMany, { id: customer });
    expect(body.errors).toMatchObject([{ path: ['z', 'q_y'], extensions: { code: 'invalid_request' } }]);
    expect((await all.graphql(projected, { id: ID })).body.errors).toBeUndefined();
  }
});
