import { collections, recordKinds, resolvers } from '../../src/resources';
import written from '../../tools/openapi/examples.json';
import { SCOPES } from '../../src/auth/scopes';
import { FAULT_CODES } from '../../tools/openapi/faultCodes';
import { publishedSchemas } from '../../src/published';
import { componentSchemas, constraintOf, rootFields } from '../../src/schema/jsonSchema';
import { typesOfCustomer } from '../../src/schema/personal';
import { allFieldNodes, directiveOf, enumValuesOf, loadDocument } from '../../src/schema/sdl';
import { storedTypes } from '../../src/schema/storedTypes';
import { upsertsOf } from '../../src/schema/upserts';
import { EVENT_TYPES } from '../../src/events/types';
import { broken, gapsOf } from '../support/brokenSchema';

/* Tables of the code beside the published schema: what is in one and not in the other stops the start, or fails here. */

test.each<[string, string | RegExp, string, string]>([
  [
    'a scope that the code lacks',
    /(enum Scope \{)/,
    '$1 INVOICES_READ',
    'enum Scope has INVOICES_READ, which src/auth/scopes.ts lacks: add it there, or remove it',
  ],
  [
    'a scope that the schema lacks',
    /(enum Scope \{[^}]*)QUOTES_WRITE/,
    '$1',
    'src/auth/scopes.ts has QUOTES_WRITE, which enum Scope lacks: add it there, or remove it',
  ],
  [
    'a role that the code lacks',
    /(enum Role \{)/,
    '$1 OWNER',
    'enum Role has OWNER, which src/auth/roles.ts lacks: add it there, or remove it',
  ],
  [
    'a role of members that the schema lacks',
    /(enum MemberRole \{[^}]*)admin/,
    '$1',
    'src/auth/roles.ts has admin, which enum MemberRole lacks: add it there, or remove it',
  ],
  [
    'a plan that the schema lacks',
    /(enum Plan \{[^}]*)enterprise/,
    '$1',
    'src/auth/plans.ts has enterprise, which enum Plan lacks: add it there, or remove it',
  ],
  [
    'an access of assistants that the code lacks',
    /(enum McpAccess \{)/,
    '$1 admin',
    'enum McpAccess has admin, which src/auth/mcpAccess.ts lacks: add it there, or remove it',
  ],
  [
    'a group of totals that the code lacks',
    /(enum TotalsGroup \{)/,
    '$1 WEEK',
    'enum TotalsGroup has WEEK, which src/schema/gaps/totalsGaps.ts lacks: add it there, or remove it',
  ],
  [
    'an outcome of elements that the schema lacks',
    /(enum UpsertOutcome \{[^}]*)unchanged/,
    '$1',
    'src/schema/upserts.ts has unchanged, which enum UpsertOutcome lacks: add it there, or remove it',
  ],
  [
    'a scope whose description begins with another',
    /(enum Scope \{\s*)PRODUCTS_READ/,
    '$1"products:eat: Eat products." PRODUCTS_READ',
    'the description of PRODUCTS_READ in enum Scope does not begin with its scope: write "products:read: " and what it allows',
  ],
  [
    'a text about a customer that erasing would leave',
    /(type Order @stored[^{]*\{)/,
    '$1 note: String',
    'Order.note takes any text about a customer: add @personal, so that erasing the customer erases it, or @personal(erased: false) to keep it',
  ],
  [
    'an object with texts about a customer that erasing would leave',
    /(type Order @stored[^]*?delivery_address: Address) @personal/,
    '$1',
    'Order.delivery_address takes any text about a customer: add @personal',
  ],
  [
    'a text in a part of what refers to a customer',
    /(type Message @stored[^}]*author_name: String @constraint\([^)]*\) @untrusted) @personal/,
    '$1',
    'Message.author_name takes any text about a customer: add @personal',
  ],
  [
    'a personal member that cannot be replaced',
    /(type Order @stored[^]*?placed_at: DateTime!)/,
    '$1 @personal',
    'Order.placed_at is @personal but can be neither null nor a text, so it cannot be erased: make it nullable',
  ],
  [
    'a personal member of what no customer has',
    /(type Product @stored[^}]*name: String!)/,
    '$1 @personal',
    'Product.name is @personal, but is no member of a stored type that refers to a customer: remove it',
  ],
])('%s is reported', (_title, from, to, sentence) => {
  expect(gapsOf(broken(from, to))).toContain(sentence);
});

test('texts that a customer did not write freely need no mark', () => {
  const sdl = broken(
    /(type Order @stored[^{]*\{)/,
    '$1 code: String @constraint(pattern: "^[A-Z]+$") channel: String @constraint(one_of: ["shop", "phone"]) weight: Int',
  );
  expect(gapsOf(sdl)).toBe('none');
});

const document = loadDocument();

test('the types of events and the scopes to hear of them are those of the stored types', () => {
  const { graphql, operations } = publishedSchemas();
  const types = [graphql.getQueryType(), graphql.getSubscriptionType()].map((root) => {
    const argument = root!.getFields().events!.args.find(({ name }) => name === 'types')!;
    return constraintOf(argument).one_of;
  });
  const names = EVENT_TYPES.map(({ name }) => name);
  expect(types).toEqual([names, names]);
  const heard = new Set(EVENT_TYPES.flatMap(({ scope }) => scope ?? []));
  const { anyOf } = operations.find(({ name }) => name === 'events')!;
  expect([...anyOf!].sort()).toEqual([...heard].sort());
});

test('a scope that nothing needs is reserved, and says so', () => {
  const used = new Set(
    allFieldNodes(document).flatMap(({ field }) => {
      const { scope, any_of: anyOf = [] } = directiveOf(field, 'access') ?? {};
      return [scope, ...anyOf];
    }),
  );
  const reserved = enumValuesOf(document, 'Scope').filter(({ description }) => description?.value.includes('Reserved'));
  expect(Object.keys(SCOPES).filter((scope) => !used.has(scope))).toEqual(reserved.map(({ name }) => name.value));
});

test('every collection is in a record of import and export', () => {
  const names = new Set(recordKinds.flatMap(({ writes }) => writes.map(({ name }) => name)));
  expect(collections.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([]);
});

test('every bulk call is merged by a resource', () => {
  for (const { operation } of upsertsOf(document)) expect(resolvers.Mutation![operation]!.merge).toBeDefined();
});

test('the written examples are of operations and parameters that exist', () => {
  const { rest } = publishedSchemas();
  const fields = rootFields(rest);
  const names = fields.map(({ name }) => name);
  const args = fields.flatMap((field) => field.args.flatMap(({ name }) => [name, `${field.name}.${name}`]));
  expect(Object.keys(written.parameters).filter((name) => !args.includes(name))).toEqual([]);
  for (const part of [written.requests, written.responses])
    expect(Object.keys(part).filter((name) => !names.includes(name))).toEqual([]);
});

test('the codes of errors in elements that the schema names are codes of faults', () => {
  const { description } = (
    componentSchemas(publishedSchemas().rest, { elementBounds: true, closed: true }).ElementError!.properties as Record<
      string,
      { description: string }
    >
  ).code!;
  const [list = ''] = /(?<=: )[a-z_, ]+(?=;)/.exec(description) ?? [];
  const codes = list.split(/, | or /);
  expect(codes.length).toBeGreaterThan(5);
  expect(codes.filter((code) => !Object.hasOwn(FAULT_CODES, code))).toEqual([]);
});

test('customers are the first that are erased, before all that refers to them and its parts', () => {
  const found = typesOfCustomer(storedTypes(document)).map(({ stored, by, parts }) => [
    stored.type,
    by,
    parts.map(({ type }) => type),
  ]);
  expect(found[0]).toEqual(['Customer', ['id'], []]);
  expect(found).toContainEqual(['Request', ['customer_id'], ['Message']]);
  expect(found).toContainEqual(['Order', ['customer_id'], []]);
});
