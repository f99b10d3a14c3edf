import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Organisation } from '../../src/auth/principal';
import { publishedResolvers } from '../../src/gateway/schemas';
import { published } from '../../src/schema/model';

const ORGANISATION: Organisation = {
  id: '00000000-0000-4000-8000-000000000000',
  name: 'Sample',
  currency: 'CHF',
  plan: 'integrations',
  state: 'active',
};

/** Whether an element may have it only so that a read object can be sent back. */
const isIgnored = (description = ''): boolean => description.startsWith('Ignored');

/** Ids of nested objects are new in an object that is new. */
function withoutIds(value: object): unknown {
  return JSON.parse(JSON.stringify(value, (name, one: unknown) => (name === 'id' ? undefined : one)));
}

const cases = published.upserts.map((upsert) => [upsert.operation, upsert] as const);

describe.each(cases)('the merge of %s', (operation, { stored, element, key }) => {
  const { merge } = publishedResolvers().Mutation![operation]!;
  const file = resolve(__dirname, '../../schema/examples', `${stored.collection}.json`);
  const example = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  const given = published
    .inputFieldsOf(element)
    .filter(({ name, description }) => !isIgnored(description?.value) && name.value !== 'metadata')
    // test/api/resources/metadata.test.ts has what becomes of metadata
    .map(({ name }) => name.value);
  const sent = Object.fromEntries(given.flatMap((name) => (name in example ? [[name, example[name]]] : [])));

  test('stores every member of an element', () => {
    expect(Object.keys(sent)).toEqual(given);
    expect(withoutIds(merge!(undefined, sent, ORGANISATION))).toMatchObject(withoutIds(sent) as object);
  });

  test('keeps every member that an element leaves out', () => {
    expect(merge!(example, { [key]: example[key] }, ORGANISATION)).toMatchObject(sent);
  });

  test('keeps what an element cannot set', () => {
    const ignored = published.inputFieldsOf(element).filter(({ description }) => isIgnored(description?.value));
    const names = ignored
      .map(({ name }) => name.value)
      .filter((name) => !['id', 'created_at', 'updated_at'].includes(name));
    const before = { ...example, ...Object.fromEntries(names.map((name) => [name, 'kept'])) };
    const sent = { [key]: example[key], ...Object.fromEntries(names.map((name) => [name, 'sent'])) };
    for (const name of names) expect(merge!(before, sent, ORGANISATION)).toHaveProperty(name, 'kept');
    expect(names).not.toEqual([]);
  });

  test('stores no null where the schema has none, and makes nothing up without a default', () => {
    const nulls = published.inputFieldsOf(element).map(({ name }) => [name.value, null]);
    const merged = merge!(undefined, { ...Object.fromEntries(nulls), [key]: 'one' }, ORGANISATION);
    const required = stored.members.filter(({ name, isRequired }) => isRequired && given.includes(name));
    for (const { name, isList, otherwise } of required) {
      // without a default, a null is refused before
      if (isList || otherwise || name === key) expect(merged).toHaveProperty(name, expect.anything());
      else expect(merged).not.toHaveProperty(name);
    }
  });
});
