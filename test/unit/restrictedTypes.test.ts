import { parse } from 'graphql';
import { restrictionOf } from '../../src/schema/restricted';
import { Sdl } from '../../src/schema/sdl';
import { findStoredTypes } from '../../src/schema/storedTypes';

/* Which rows of a type a key restricted to customers has (docs/decisions/restricted-keys.md). */

const types = findStoredTypes(
  new Sdl(
    parse(`
      type Customer @stored(collection: "customers") @restricted(by: "id") { id: ID! updated_at: DateTime! }
      type Order @stored(collection: "orders") @restricted(by: "buyer_id") {
        id: ID! buyer_id: ID updated_at: DateTime! buyer: Customer
      }
      type Note @stored(collection: "notes") @restricted(by: "order_id") { id: ID! order_id: ID! }
      type Remark @stored(collection: "remarks") { id: ID! order_id: ID! }
      type Visit @stored(collection: "visits") { id: ID! updated_at: DateTime! order: Order order_id: ID product_id: ID }
      type Photo @stored(collection: "photos") { id: ID! updated_at: DateTime! visit_id: ID }
      type Product @stored(collection: "products") { id: ID! updated_at: DateTime! product_id: ID }
    `),
  ),
);

test.each<[type: string, restriction: unknown]>([
  ['Customer', { column: '_id' }],
  ['Order', { column: 'buyer_id' }],
  ['Note', { column: 'order_id', owner: 'orders' }],
  ['Remark', { refused: 'A key with customer_ids cannot use this: Remark refers to Order, but to no customer.' }],
  ['Visit', { refused: 'A key with customer_ids cannot use this: Visit refers to Order, but to no customer.' }],
  ['Photo', { refused: 'A key with customer_ids cannot use this: Photo refers to Visit, but to no customer.' }],
  ['Product', 'unrestricted'],
])('of %s: %j', (type, restriction) => {
  expect(restrictionOf(types, types.get(type)!)).toEqual(restriction);
});
