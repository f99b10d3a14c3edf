import { publishedResolvers } from '../../src/gateway/schemas';
import { published } from '../../src/schema/model';

/* What an element may have only so that a read object can be sent back; test/api/resources/upserts.test.ts has what elements set. */

test.each(published.upserts)('$operation keeps what an element cannot set', ({ operation, element, key }) => {
  const { merge } = publishedResolvers().Mutation![operation]!;
  const ignored = published
    .inputFieldsOf(element)
    .filter(({ description }) => description?.value.startsWith('Ignored'))
    .map(({ name }) => name.value)
    .filter((name) => !['id', 'created_at', 'updated_at'].includes(name));
  const with_ = (value: string) => ({ [key]: 'one', ...Object.fromEntries(ignored.map((name) => [name, value])) });
  const merged = merge!(with_('kept'), with_('sent'), { currency: 'CHF' } as never);
  for (const name of ignored) expect(merged).toHaveProperty(name, 'kept');
  expect(ignored).not.toEqual([]);
});
