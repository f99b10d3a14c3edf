import { published } from '../../src/schema/model';
import { mergeOf } from '../../src/stored/merge';

/* What an element may have only so that a read object can be sent back; test/api/resources/upserts.test.ts has what elements set. */

test.each(published.upserts)('$operation keeps what an element cannot set', (call) => {
  const { element, key } = call;
  const merge = mergeOf(call, () => []);
  const ignored = published
    .inputFieldsOf(element)
    .filter(({ description }) => description?.value.startsWith('Ignored'))
    .map(({ name }) => name.value)
    .filter((name) => !['id', 'created_at', 'updated_at'].includes(name));
  const with_ = (value: string) => ({ [key]: 'one', ...Object.fromEntries(ignored.map((name) => [name, value])) });
  const merged = merge(with_('kept'), with_('sent'), { currency: 'CHF' } as never);
  for (const name of ignored) expect(merged).toHaveProperty(name, 'kept');
  expect(ignored).not.toEqual([]);
});

test.each(published.upserts)(
  '$operation stores no null where the schema has none, and makes nothing up without a default',
  (call) => {
    const { stored, element, key } = call;
    const merge = mergeOf(call, () => []);
    const names = published.inputFieldsOf(element).map(({ name }) => name.value);
    const nulls = Object.fromEntries(names.map((name) => [name, null]));
    const merged = merge(undefined, { ...nulls, [key]: 'one' }, { currency: 'CHF' } as never);
    const required = stored.members.filter(({ name, isRequired }) => isRequired && names.includes(name));
    for (const { name, isList, otherwise } of required) {
      if (['id', 'created_at', 'updated_at', 'metadata'].includes(name)) continue;
      // without a default, a null is refused before
      if (isList || otherwise || name === key) expect(merged).toHaveProperty(name, expect.anything());
      else expect(merged).not.toHaveProperty(name);
    }
  },
);
