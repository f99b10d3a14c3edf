import { parse } from 'graphql';
import { SchemaModel } from '../../src/schema/model';
import { referenceTo } from '../../src/schema/storedTypes';

test.each([
  ['Customer', 'customer_id'],
  ['CustomerOrder', 'customer_order_id'],
  ['Line2Item', 'line2_item_id'],
])('objects refer to a %s with %s', (type, member) => {
  expect(referenceTo(type)).toBe(member);
});

test('a stored type has its own fields, at every depth, without relations to other stored types', () => {
  const { stored: types } = new SchemaModel(
    parse(`
      type Box @stored(collection: "boxes", unique: "code") {
        id: ID!
        code: String! @searchable
        sides: [Side!]!
        parts: [Part!]! @graphql_only(on: LISTS)
        weight: Float
        shelf: Shelf
        lids: LidPage
      }
      type Side { name: String! @searchable, painted_at: DateTime }
      type Part { id: ID! }
      type Shelf @stored(collection: "shelves") { id: ID! }
      type Lid @stored(collection: "lids") { id: ID! }
      type LidPage { data: [Lid!]! }`),
  );
  const { members, relations, ...box } = types.get('Box')!;
  expect(box).toEqual({
    type: 'Box',
    collection: 'boxes',
    unique: 'code',
    restrictedBy: undefined,
    retiredIndexes: [],
    omittedInLists: ['parts'],
  });
  expect(relations.map(({ field, ...relation }) => [field.name.value, relation])).toEqual([
    ['shelf', { type: 'Shelf', isList: false, member: 'shelf_id' }],
    ['lids', { type: 'Lid', isList: true, member: 'box_id' }],
  ]);
  expect(members.map(({ name, kind, isList, isRequired }) => [name, kind, isList, isRequired])).toEqual([
    ['id', 'string', false, true],
    ['code', 'string', false, true],
    ['sides', 'object', true, true],
    ['parts', 'object', true, true],
    ['weight', 'number', false, false],
  ]);
  expect(members[2]!.members).toMatchObject([
    { name: 'name', isSearchable: true },
    { name: 'painted_at', kind: 'dateTime', isSearchable: false },
  ]);
});
