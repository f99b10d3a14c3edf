import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Organisation } from '../../src/auth/principal';
import { publishedResolvers } from '../../src/published';
import { published } from '../../src/schema/model';

const ORGANISATION: Organisation = {
  ...{ id: '00000000-0000-4000-8000-000000000000', name: 'Sample', currency: 'CHF' },
  ...{ plan: 'integrations', cluster: 'sample', state: 'active' },
};

/** What the gateway sets itself: elements may have it, so that a read object can be sent back. */
const OWN = ['id', 'created_at', 'updated_at', 'erased_at'];

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
    .map(({ name }) => name.value)
    .filter((name) => !OWN.includes(name));
  const sent = Object.fromEntries(given.flatMap((name) => (name in example ? [[name, example[name]]] : [])));

  test('stores every member of an element', () => {
    expect(Object.keys(sent)).toEqual(given);
    expect(withoutIds(merge!(undefined, sent, ORGANISATION))).toMatchObject(withoutIds(sent) as object);
  });

  test('keeps every member that an element leaves out', () => {
    expect(merge!(example, { [key]: example[key] }, ORGANISATION)).toMatchObject(sent);
  });

  test('never stores null where the schema has none', () => {
    const nulls = published.inputFieldsOf(element).map(({ name }) => [name.value, null]);
    const merged = merge!(undefined, { ...Object.fromEntries(nulls), [key]: 'one' }, ORGANISATION);
    const required = stored.members.filter(({ name, isRequired }) => isRequired && given.includes(name));
    for (const { name } of required) expect(merged).toHaveProperty(name, expect.anything());
  });
});
