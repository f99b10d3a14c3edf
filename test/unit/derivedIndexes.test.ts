import { parse } from 'graphql';
import { collections } from '../../src/resources';
import type { DerivedIndex } from '../../src/schema/indexes';
import { SchemaModel } from '../../src/schema/model';

/* The indexes that follow from the SDL. */

const REF = ['external_ref_1', 'external_ref', 'unique where given'] as const;
const NEWEST = ['created_at_-1__id_-1', '-created_at -_id'] as const;
const UPDATED = ['updated_at_-1__id_-1', '-updated_at -_id'] as const;
const SEARCH = ['search_1', 'search'] as const;
const by = (member: string) => [`${member}_1_created_at_-1__id_-1`, `${member} -created_at -_id`] as const;
const unique = (member: string) => [`${member}_1`, member, 'unique'] as const;
/** The only one that came after they were derived. */
const METADATA = ['metadata', 'metadata.key metadata.value -created_at -_id', 'if any'] as const;
const AMOUNTS = 'currency status customer_id subtotal_minor discount_minor vat_minor';

/** Those of the version before they were derived: another name or another key would build an index of every organisation anew. */
const WRITTEN: Readonly<Record<string, readonly (readonly [name: string, on: string, rule?: string])[]>> = {
  products: [
    unique('sku'),
    REF,
    NEWEST,
    UPDATED,
    ['name_1__id_1', 'name _id'],
    by('category'),
    by('active'),
    SEARCH,
    METADATA,
  ],
  customers: [unique('external_ref'), NEWEST, UPDATED, ['name_1__id_1', 'name _id'], SEARCH, METADATA],
  quotes: [
    ...[unique('number'), REF, UPDATED, by('status'), by('customer_id'), SEARCH, METADATA],
    ['newest_and_totals', `-created_at -_id ${AMOUNTS} total_minor`],
  ],
  orders: [
    ...[unique('number'), REF, NEWEST, UPDATED, by('status'), by('customer_id'), SEARCH, METADATA],
    ['placed_at_-1__id_-1', '-placed_at -_id'],
    ['totals', `-placed_at ${AMOUNTS} shipping_minor total_minor`],
  ],
  requests: [NEWEST, UPDATED, by('status'), by('customer_id'), SEARCH, REF, METADATA],
  messages: [['request_id_1_created_at_1__id_1', 'request_id created_at _id'], REF],
};

function shown(indexes: readonly DerivedIndex[]): unknown[] {
  return indexes
    .map(({ on, options = {} }) => {
      const { name = Object.entries(on).flat().join('_'), unique: isUnique, partialFilterExpression: filter } = options;
      const members = Object.entries(on).map(([member, order]) => (order === 1 ? member : `-${member}`));
      const rule = isUnique ? (filter ? 'unique where given' : 'unique') : filter && 'if any';
      if (filter) expect(filter).toEqual(isUnique ? { external_ref: { $gt: '' } } : { metadata: { $exists: true } });
      return [name, members.join(' '), ...(rule ? [rule] : [])];
    })
    .toSorted();
}

test.each(collections.map((collection) => [collection.name, collection] as const))(
  'those of %s are those that it had before they were derived',
  (name, { indexes }) => {
    expect(shown(indexes as readonly DerivedIndex[])).toEqual((WRITTEN[name] ?? []).toSorted());
  },
);

test('the names of retired ones stay', () => {
  expect(Object.fromEntries(collections.map(({ name, retired }) => [name, retired]))).toEqual({
    products: [],
    customers: ['email_1_created_at_-1__id_-1'],
    quotes: ['number_1__id_1', 'totals', 'created_at_-1__id_-1'],
    orders: ['number_1__id_1'],
    requests: [],
    messages: [],
  });
});

interface Boxes {
  /** Arguments of their list. */
  readonly list?: string;
  readonly directives?: string;
  /** Other types, and fields of Query. */
  readonly others?: string;
}

function indexesOf({ list = 'limit: Int', directives = '', others = '' }: Boxes): unknown[] {
  const sdl = `
    type Query { boxes(${list}): BoxPage }
    type BoxPage { data: [Box!]! }
    type Box @stored(collection: "boxes") ${directives} {
      id: ID! kind: Kind size: Int due_on: Date sent_at: DateTime currency: String! total_minor: Minor shelf_id: ID
      created_at: DateTime! updated_at: DateTime!
    }
    enum Kind { wood }
    ${others}`;
  const model = new SchemaModel(parse(sdl));
  return shown(model.indexesOf(model.stored.get('Box')!)).map((one) => (one as string[])[1]);
}

const due = 'due_since: Date @filter(member: "due_on", by: SINCE)';
const sent = 'sent_since: DateTime @filter(member: "sent_at", by: SINCE)';

test.each<[need: string, boxes: Boxes, indexes: readonly string[]]>([
  ['nothing but the order of lists', {}, []],
  ['an equality filter', { list: 'kind: [Kind!] @filter' }, ['kind -created_at -_id']],
  ['a filter by id', { list: 'id: [ID!] @filter' }, []],
  ['a period', { list: due }, ['-due_on -_id']],
  ['a sort by a number', { list: 'sort: String @constraint(one_of: ["size", "-size"])' }, ['size _id']],
  [
    'a period and a sort by the same time',
    { list: `${sent}, sort: String @constraint(one_of: ["sent_at"])` },
    ['-sent_at -_id'],
  ],
  [
    'an index of @index that serves a filter',
    { list: 'size: Int @filter', directives: '@index(on: ["size", "-created_at", "-id", "kind"])' },
    ['size -created_at -_id kind'],
  ],
  [
    'one that does not',
    { list: 'size: Int @filter', directives: '@index(on: ["size", "kind"])' },
    ['size -created_at -_id', 'size kind'],
  ],
  [
    'one of @index in another order than the filter',
    { list: 'size: Int @filter', directives: '@index(on: ["size", "-created_at", "id"])' },
    ['size -created_at -_id', 'size -created_at _id'],
  ],
  [
    'one that is read backwards for a filter and a sort',
    {
      list: 'size: Int @filter, sort: String @constraint(one_of: ["size"])',
      directives: '@index(on: ["-size", "created_at", "id"]) @index(on: ["-size", "-id"])',
    },
    ['-size created_at _id', '-size -_id'],
  ],
  [
    'one of @index in another order than the sort',
    { list: 'sort: String @constraint(one_of: ["size", "-size"])', directives: '@index(on: ["size", "-id"])' },
    ['size -_id', 'size _id'],
  ],
  [
    'a sort by the external_ref, whose unique index is partial',
    {
      list: 'sort: String @constraint(one_of: ["external_ref"]), external_ref: String @filter',
      others: 'extend type Box { external_ref: String! }',
    },
    ['external_ref', 'external_ref _id'],
  ],
  [
    "a parent's list",
    { others: 'type Shelf @stored(collection: "shelves") { id: ID! boxes: BoxPage }' },
    ['shelf_id -created_at -_id'],
  ],
  [
    'totals and a period of the same day',
    {
      list: due,
      others: `
        extend type Query { box_totals: BoxTotals @totals(of: "Box", at: "due_on") }
        type BoxTotals { data: [BoxTotal!]! }
        type BoxTotal { total_minor: Minor }`,
    },
    ['-due_on currency total_minor'],
  ],
])('%s', (_need, boxes, indexes) => {
  expect(indexesOf(boxes)).toEqual(['-created_at -_id', ...indexes].toSorted());
});
