import type { GraphQLResolveInfo } from 'graphql';
import type { DataContext } from '../../src/operations/context';
import { publishedSchemas } from '../../src/gateway/schemas';
import { tagOf } from '../../src/schema/entityTags';
import { tagResolver } from '../../src/stored/derived';

test('the entity tag of a row is worked out once, however often a query names it', () => {
  const { graphql: schema } = publishedSchemas();
  const read = jest.fn(() => 'A');
  const row = Object.defineProperty({ _id: '1' }, 'name', { get: read, enumerable: true });
  const tag = (): unknown => tagResolver('Customer')(row, {}, {} as DataContext, { schema } as GraphQLResolveInfo);
  const tags = [tag(), tag(), tag()];
  expect(tags).toEqual(Array(3).fill(tagOf(schema, 'Customer', { _id: '1', name: 'A' })));
  expect(read).toHaveBeenCalledTimes(1);
});
