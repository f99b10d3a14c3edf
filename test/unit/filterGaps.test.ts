import { parse } from 'graphql';
import { filterGaps } from '../../src/schema/gaps/filterGaps';
import { collections } from '../../src/resources';
import type { CheckedResource } from '../../src/schema/gaps/sentences';
import { loadDocument } from '../../src/schema/sdl';

const LIST: CheckedResource = {
  name: 'things',
  indexes: ['created_at', 'updated_at', 'name', 'search'].map((member) => ({ on: { [member]: 1, _id: 1 } })),
};

/** The gaps of a list of things with these arguments. */
function gapsOf(args: string, list: readonly CheckedResource[] = [LIST]): string[] {
  const sdl = `
    type Thing { id: ID! name: String! colour: String created_at: DateTime! updated_at: DateTime! }
    type ThingPage { data: [Thing!]! has_more: Boolean! next_cursor: String }
    extend type Query { things(${args}): ThingPage @rest(path: "/boxes/:box_id/things") @access(scope: QUOTES_READ) }`;
  return filterGaps(parse(sdl), list);
}

test('the published schema has no gaps', () => {
  expect(filterGaps(loadDocument(), collections)).toEqual([]);
});

test.each([
  ['a filter by the member of the same name', 'name: String @filter'],
  ['a filter by another member', 'made_since: DateTime @filter(member: "created_at", by: SINCE)'],
  ['a list of values', 'name: [String!] @filter(by: EQUALS)'],
  ['a search', 'q: String @filter(by: WORDS)'],
  ['sort, limit and cursor', 'sort: String @constraint(one_of: ["name", "-created_at"]) limit: Int cursor: String'],
  ['a part of the path', 'box_id: ID!'],
])('%s is not a gap', (_name, args) => {
  expect(gapsOf(args)).toEqual([]);
});

test.each([
  ['an argument without @filter', 'name: String', 'Query.things(name:) has no @filter'],
  ['an unknown member', 'size: Int @filter', 'filters by size, which its rows do not have'],
  ['a misspelt member', 'since: DateTime @filter(member: "made_at", by: SINCE)', 'filters by made_at, which its rows'],
  [
    'a member without an index',
    'colour: String @filter',
    'filters by colour, but no index of its collection begins with it',
  ],
  ['a date compared with a string', 'x: DateTime @filter(member: "name", by: BEFORE)', 'name is not a DateTime'],
  ['a date compared for equality', 'created_at: DateTime @filter', 'compares times for equality'],
  ["a type other than the member's", 'name: Boolean @filter', 'takes Boolean, but name is String'],
  ['a search for a number', 'q: Int @filter(by: WORDS)', 'takes Int, but search is String'],
  ['several dates', 'x: [DateTime!] @filter(member: "created_at", by: SINCE)', 'takes a list'],
  ['a sort without an index', 'sort: String @constraint(one_of: ["colour"])', 'sorts by colour, but no index'],
])('%s is reported with its field', (_name, args, sentence) => {
  expect(gapsOf(args)).toEqual([expect.stringContaining(sentence)]);
  expect(gapsOf(args)[0]).toContain('Query.things(');
});

test('a sort by an index that leaves rows with equal values in any order is reported, unless it is unique', () => {
  const args = 'sort: String @constraint(one_of: ["name"])';
  const by = (options?: { unique: true }): CheckedResource => ({
    name: 'things',
    indexes: [{ on: { name: 1 }, ...(options && { options }) }],
  });
  expect(gapsOf(args, [by()])).toEqual([expect.stringContaining('sorts by name, but no index of its collection')]);
  expect(gapsOf(args, [by({ unique: true })])).toEqual([]);
});

test('a search without an index of words is reported', () => {
  expect(gapsOf('q: String @filter(by: WORDS)', [{ ...LIST, indexes: [{ on: { name: 1 } }] }])).toEqual([
    expect.stringContaining('filters by search, but no index'),
  ]);
});

test('a list without a resource is reported', () => {
  expect(gapsOf('name: String @filter', [])).toEqual([expect.stringContaining('no resource has that list')]);
});

test('all gaps are reported together', () => {
  expect(gapsOf('size: Int @filter name: String colour: String @filter')).toHaveLength(3);
});
