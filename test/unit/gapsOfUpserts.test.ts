import { parse } from 'graphql';
import { collections, resolvers } from '../../src/resources';
import type { Resolvers } from '../../src/operations/run';
import type { Merge } from '../../src/schema/resolvers';
import { broken, gapsOf, SDL } from '../support/brokenSchema';

/* Breaks bulk upserts of the published schema, and what their merges do, in one way after another. */

/** The SDL with a member added to the stored type and to the input of its elements. */
function both(member: string, input = member): ReturnType<typeof broken> {
  const sdl = SDL.replace(/(type Product @stored[^{]*\{)/, `$1 ${member}`).replace(
    /(input ProductUpsert \{)/,
    `$1 ${input}`,
  );
  return parse(sdl);
}

test.each<[string, string | RegExp, string, string]>([
  [
    'a key that elements may lack',
    /(input ProductUpsert \{[^}]*sku: String @constraint\()required: true, /,
    '$1',
    'ProductUpsert.sku is what products are matched by: add @constraint(required: true)',
  ],
  [
    'elements without a key',
    /(input ProductUpsert \{[^}]*)sku: String @constraint\([^)]*\)/,
    '$1',
    'ProductUpsert has no sku, by which products are matched: add it with @constraint(required: true)',
  ],
  [
    'a bulk call of a type without a unique member',
    '@stored(collection: "products", unique: "sku")',
    '@stored(collection: "products")',
    'Mutation.upsert_products upserts a list of elements, but has none: name an argument as the collection with @per_element, and the key as @stored(unique:)',
  ],
  [
    'a bulk call whose elements are not judged alone',
    /(products: \[ProductUpsert!\]! @constraint\([^)]*\)) @per_element/,
    '$1',
    'Mutation.upsert_products upserts a list of elements, but has none',
  ],
  [
    'a bulk call without need of a list',
    'products: [ProductUpsert!]! @constraint',
    'products: [ProductUpsert!] @constraint',
    'Mutation.upsert_products(products:) is [ProductUpsert!]: write [ProductUpsert!]!, a list of elements',
  ],
  [
    'an argument of a bulk call without effect',
    /(upsert_products\()/,
    '$1notify: Boolean ',
    'Mutation.upsert_products(notify:) has no effect: a bulk call takes products, atomic, dry_run',
  ],
  [
    'an option of a bulk call that is no flag',
    /(upsert_products\([^)]*\)[^)]*atomic: )Boolean/,
    '$1String',
    'Mutation.upsert_products(atomic:) is String: write Boolean',
  ],
  [
    'a report without a count',
    /(type ProductUpsertReport \{[^}]*)unchanged: Int!/,
    '$1',
    'ProductUpsertReport has no unchanged: add unchanged: Int!',
  ],
  [
    'a report with a count that nothing makes',
    /(type ProductUpsertReport \{)/,
    '$1 skipped: Int!',
    'ProductUpsertReport.skipped is set by nothing, so it would be null: remove it, or add a resolver',
  ],
  [
    'a report without its results',
    /(type ProductUpsertReport \{[^}]*)results: \[ProductUpsertResult!\]!/,
    '$1',
    'ProductUpsertReport has no results: add results: [ProductUpsertResult!]!',
  ],
  [
    'a result without its id',
    /(type ProductUpsertResult \{[^}]*)id: ID/,
    '$1',
    'ProductUpsertResult has no id: add id: ID',
  ],
  [
    'a result without its key',
    /(type ProductUpsertResult \{[^}]*)sku: String/,
    '$1code: String',
    'ProductUpsertResult has no sku: add sku: String',
  ],
])('%s is reported', (_title, from, to, sentence) => {
  expect(gapsOf(broken(from, to))).toContain(sentence);
});

/* What only the code of a merge does is found by trying it. */

test.each<[string, ReturnType<typeof both>, string]>([
  [
    'a member that it does not store',
    both('weight: Int'),
    'ProductUpsert.weight is not stored by Mutation.upsert_products: set it in the merge of products',
  ],
  [
    'a member that it loses when another changes',
    both('weight: Int', ''),
    'Product.weight is lost when Mutation.upsert_products changes another member: keep that of the existing object in the merge of products',
  ],
  [
    'a member that is never null and that it does not set',
    both('weight: Int!', ''),
    'Mutation.upsert_products could store null as Product.weight: require it in the input (@constraint(required: true)), or give it a value in the merge of products',
  ],
  [
    'a nested member that elements may lack',
    broken(/(input AddressInput \{[^}]*city: String @constraint\()required: true, /, '$1'),
    'Mutation.upsert_customers could store null as Address.city: require it in the input (@constraint(required: true)), or give it a value in the merge of customers',
  ],
])('a merge with %s is reported', (_title, document, sentence) => {
  expect(gapsOf(document)).toContain(sentence);
});

/** The resolvers with another merge of products. */
function merging(merge: (merge: Merge) => Merge): Resolvers {
  const known = resolvers.Mutation!.upsert_products!;
  return { Mutation: { upsert_products: Object.assign(() => null, { merge: merge(known.merge!) }) } };
}

test.each<[string, (merge: Merge) => Merge, string]>([
  [
    'forgets a flag of the existing object',
    (merge) =>
      (...[existing, element, organisation]) => ({
        ...merge(existing, element, organisation),
        active: (element as { active?: boolean | null }).active ?? true,
      }),
    'Product.active is lost when Mutation.upsert_products changes another member: keep that of the existing object in the merge of products',
  ],
  [
    'stores null for null',
    (merge) =>
      (...[existing, element, organisation]) => ({
        ...merge(existing, element, organisation),
        ...('uom' in element && { uom: element.uom }),
      }),
    'Mutation.upsert_products could store null as Product.uom: require it in the input (@constraint(required: true)), or give it a value in the merge of products',
  ],
  [
    'throws',
    () => () => {
      throw new Error('no');
    },
    'Mutation.upsert_products fails with a valid element: the merge of products throws Error: no',
  ],
])('a merge that %s is reported', (_title, merge, sentence) => {
  expect(gapsOf(parse(SDL), collections, merging(merge))).toBe(`invalid schema: ${sentence}`);
});
