import { allScopes, type Scope } from '../../../src/auth/scopes';
import type { Client, Json } from '../../support/client';
import { callerOf, makeStored, northwind } from '../../support/factories';
import { late, served } from '../../support/gateway';

/* What applies to all rows is checked and reported once, and an answer has a bounded number of errors. */

const CUSTOMERS = northwind('customers').slice(0, 20);
const ALIASES = 10;
/** The first two runs use graphql-js, the others are compiled. */
const RUNS = 4;

const gateway = served();
const organisation = late(() => makeStored(gateway, { customers: CUSTOMERS }));

async function callerWith(scopes: readonly Scope[]): Promise<Client> {
  return callerOf(gateway, organisation, { scopes });
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
