import { parse } from 'graphql';
import { broken, gapsOf, SDL } from '../support/brokenSchema';

/* Gives directives of the published schema values and places that mean nothing, one after another. */

const added = (sdl: string): string => gapsOf(parse(`${SDL}\n${sdl}`));

describe('a value that a directive does not take', () => {
  test.each<[string, string | RegExp, string, string]>([
    [
      'a place that REST does not have',
      '@graphql_only(on: LISTS)',
      '@graphql_only(on: ITEMS)',
      'lines has @graphql_only(on: ITEMS): write one of EVERYWHERE, LISTS',
    ],
    [
      'an unknown comparison',
      'by: SINCE',
      'by: AFTER',
      'has @filter(by: AFTER): write one of EQUALS, SINCE, BEFORE, WORDS',
    ],
    ['a status as text', 'status: 201', 'status: "201"', 'Mutation.open_request has @rest(status: "201"): write Int!'],
    ['a path that is none', 'path: "/me"', 'path: ME', 'Query.me has @rest(path: ME): write String!'],
    [
      'a bound as text',
      /(  orders\(q.*?)max: 100/,
      '$1max: "100"',
      'Query.orders(limit:) has @constraint(max: "100"): write Float',
    ],
    [
      'a length that is a fraction',
      'external_ref: String @constraint(max_length: 64)',
      'external_ref: String @constraint(max_length: 64.5)',
      'Query.customers(external_ref:) has @constraint(max_length: 64.5): write Int',
    ],
    [
      'null for a bound',
      /(  orders\(q.*?)min: 1, /,
      '$1min: null, ',
      'Query.orders(limit:) has @constraint(min: null): write Float',
    ],
    [
      'one value for a list',
      /(  requests\(q.*?)one_of: \[[^\]]*\]/,
      '$1one_of: "created_at"',
      'Query.requests(sort:) has @constraint(one_of: "created_at"): write [String!]',
    ],
    [
      'one member for a list of them',
      /@mcp\(fields: \["sku"[^\]]*\]/,
      '@mcp(fields: "sku"',
      'Query.products has @mcp(fields: "sku"): write [String!]',
    ],
    [
      'a word for yes or no',
      '@mcp(destructive: false)',
      '@mcp(destructive: NO)',
      'Mutation.open_request has @mcp(destructive: NO): write Boolean!',
    ],
    [
      'a number as a collection',
      'collection: "quotes"',
      'collection: 7',
      'Quote has @stored(collection: 7): write String!',
    ],
    [
      'a default that is not of its type',
      /(organisation_usage\(period: UsagePeriod!)/,
      '$1 = last_year',
      'Query.organisation_usage(period:) has the default last_year, which is not UsagePeriod!: change or remove it',
    ],
    [
      'a default of a directive',
      'status: Int! = 200',
      'status: Int! = OK',
      '@rest(status:) has the default OK, which is not Int!: change or remove it',
    ],
  ])('%s is reported', (_title, from, to, sentence) => {
    expect(gapsOf(broken(from, to))).toContain(sentence);
  });
});

describe('a directive without effect', () => {
  test.each<[string, string | RegExp, string, string]>([
    [
      'a route of a member',
      /(type Quote @[^]*?lines: \[QuoteLine!\]!)/,
      '$1 @rest(path: "/lines")',
      'Quote.lines has @rest, which is for fields of Query and Mutation: remove it',
    ],
    [
      'a route of a stream',
      /(type Subscription \{[^}]*\): Event!)/,
      '$1 @rest(path: "/stream")',
      'Subscription.events has @rest, which is for fields of Query and Mutation: remove it',
    ],
    [
      'the end of a member',
      /(type Quote @[^]*?number: String!)/,
      '$1 @deprecated(reason: "Use id.") @sunset(since: "2026-01-01", on: "2027-01-01")',
      'Quote.number has @sunset, which is for fields of Query and Mutation: remove it',
    ],
    [
      'totals that are written',
      /(open_request\(.*\): Request)/,
      '$1 @totals(of: "Quote", at: "created_at")',
      'Mutation.open_request has @totals, which is for fields of Query: remove it',
    ],
    [
      'a root field that REST omits',
      /(  me: Me)/,
      '$1 @graphql_only',
      'Query.me has @graphql_only, which is for fields of other types than Query, Mutation and Subscription: remove it',
    ],
    [
      'bounds of a root field',
      /(  me: Me)/,
      '$1 @constraint(max: 1)',
      'Query.me has @constraint, which is for arguments, and fields of input and object types: remove it',
    ],
    [
      'a filter of a read',
      '  quote(id: ID!',
      '  quote(id: ID! @filter',
      'Query.quote(id:) has @filter, which is for arguments of lists that keys read: remove it',
    ],
    [
      'a filter of a write',
      'open_request(text: String!',
      'open_request(text: String! @filter',
      'Mutation.open_request(text:) has @filter, which is for arguments of lists that keys read: remove it',
    ],
    [
      'a filter of a list for users',
      /(  audit_events\(action: String)/,
      '$1 @filter',
      'Query.audit_events(action:) has @filter, which is for arguments of lists that keys read: remove it',
    ],
    [
      'a member of a search',
      '@filter(by: WORDS)',
      '@filter(by: WORDS, member: "name")',
      '(q:) searches all members that are @searchable: remove member from its @filter',
    ],
    [
      'elements of a read',
      /(  products\(q: .*?sku: \[String!\])/,
      '$1 @per_element',
      'Query.products(sku:) has @per_element, which is for arguments of Mutation: remove it',
    ],
    [
      'elements that are texts',
      /(create_api_key\(.*?scopes: \[String!\]!)/,
      '$1 @per_element',
      'Mutation.create_api_key(scopes:) has @per_element but is [String!]!: its elements are objects, as [Input!]!',
    ],
    [
      'elements that may be left out',
      'products: [ProductUpsert!]!',
      'products: [ProductUpsert!]',
      'Mutation.upsert_products(products:) has @per_element but is [ProductUpsert!]: its elements are objects, as [ProductUpsert!]!',
    ],
    [
      'a field that lists omit, of what no list returns',
      /(type Address \{[^}]*?line2: String)/,
      '$1 @graphql_only(on: LISTS)',
      'Address.line2 has @graphql_only(on: LISTS), but no list on REST has rows of Address: remove (on: LISTS), or all of it',
    ],
    [
      'a second field that lists omit',
      /(type Quote @[^]*?valid_until: Date)/,
      '$1 @graphql_only(on: LISTS)',
      'Quote.lines has @graphql_only(on: LISTS) beside Quote.valid_until: a list includes only one field',
    ],
    [
      'the end of a day that does not exist',
      /(\): QuoteTotals)/,
      '$1 @deprecated @sunset(since: "2026-01-01", on: "2027-02-30")',
      'Query.quote_totals has @sunset with 2027-02-30: write days as 2026-11-21',
    ],
  ])('%s is reported', (_title, from, to, sentence) => {
    expect(gapsOf(broken(from, to))).toContain(sentence);
  });

  test.each<[string, string, string]>([
    [
      'a directive of its own',
      'directive @cached(seconds: Int) on FIELD_DEFINITION',
      '@cached is defined, but nothing reads it: remove it',
    ],
    [
      'a scope of an interface',
      'interface Named { name: String @access(scope: QUOTES_READ) }',
      'Named.name has @access, which is for fields of object types: remove it',
    ],
    [
      'input of which one field is given',
      'input Choice @oneOf { a: ID b: ID }',
      'Choice has @oneOf, which REST would not check: remove it',
    ],
    [
      'bounds that are those of elements',
      `extend type Mutation { move(to: AddressInput): Quote @access(scope: QUOTES_WRITE) }`,
      'Mutation.move(to:) takes AddressInput, whose @constraint is checked only in elements of Mutation.upsert_customers(customers:): give it an input type of its own',
    ],
  ])('%s is reported', (_title, sdl, sentence) => {
    expect(added(sdl)).toContain(sentence);
  });
});

describe('a tool', () => {
  test.each<[string, string | RegExp, string, string]>([
    [
      'without members',
      /@mcp\(fields: \["sku"[^\]]*\]/,
      '@mcp(fields: []',
      'Query.products has @mcp(fields: []), so rows would have an id at most: name members, or remove it',
    ],
    [
      'with a member that lists omit',
      '@mcp(fields: ["number"',
      '@mcp(fields: ["lines", "number"',
      'has @mcp(fields:) with lines, which REST lists omit, so tools do: remove it',
    ],
    [
      'that reads and changes',
      /(\): QuoteTotals @totals.*) @mcp/,
      '$1 @mcp(destructive: true)',
      'Query.quote_totals has @mcp(destructive:), which is for writes: remove it',
    ],
    [
      'that writes rows with chosen members',
      '@mcp(destructive: false)',
      '@mcp(destructive: false, fields: ["id"])',
      'Mutation.open_request has @mcp(fields:), which is for reads: remove it',
    ],
  ])('%s is reported', (_title, from, to, sentence) => {
    expect(gapsOf(broken(from, to))).toContain(sentence);
  });
});
