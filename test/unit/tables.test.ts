import { collections, recordKinds } from '../../src/resources';
import written from '../../src/openapi/examples.json';
import { allScopes, scopeOf } from '../../src/auth/scopes';
import { FAULT_CODES } from '../../src/errors/faultCodes';
import { operatorSchemas, publishedSchemas } from '../../src/gateway/schemas';
import { componentSchemas, constraintOf, rootFields } from '../../src/schema/jsonSchema';
import { typesOfCustomer } from '../../src/schema/personal';
import { published } from '../../src/schema/model';
import { MOST_ELEMENTS } from '../../src/schema/own/shapes';
import { directiveOf } from '../../src/schema/sdl';

/* Tables in the code must match the published schema; the schema linter checks the others. */

test('the types of events and the scopes to receive them are those of the stored types', () => {
  const { graphql, operations } = publishedSchemas();
  const types = [graphql.getQueryType(), graphql.getSubscriptionType()].map((root) => {
    const argument = root!.getFields().events!.args.find(({ name }) => name === 'types')!;
    return constraintOf(argument).one_of;
  });
  const names = published.eventTypes.map(({ name }) => name);
  expect(types).toEqual([names, names]);
  const heard = new Set(published.eventTypes.flatMap(({ scope }) => scope ?? []));
  const { anyOf } = operations.find(({ name }) => name === 'events')!;
  expect([...anyOf!].sort()).toEqual([...heard].sort());
});

test('a scope that nothing needs is reserved, and says so', () => {
  const reserved = published.enumValuesOf('Scope').filter(({ description }) => description?.value.includes('Reserved'));
  const unused = allScopes().filter((scope) => !published.usedScopes.includes(scope));
  expect(unused).toEqual(reserved.map(({ name }) => scopeOf(name.value)));
});

test('every collection is in a record of import and export', () => {
  const names = new Set(recordKinds.flatMap(({ writes }) => writes.map(({ name }) => name)));
  expect(collections.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([]);
});

test('the examples are for operations and parameters that exist', () => {
  const fields = [publishedSchemas(), operatorSchemas()].flatMap(({ rest }) => rootFields(rest));
  // an operation of operators with the name of another is told apart
  const names = fields.flatMap(({ name }) => [name, `operator.${name}`]);
  const args = fields.flatMap((field) => field.args.flatMap(({ name }) => [name, `${field.name}.${name}`]));
  expect(Object.keys(written.parameters).filter((name) => !args.includes(name))).toEqual([]);
  for (const part of [written.requests, written.responses])
    expect(Object.keys(part).filter((name) => !names.includes(name))).toEqual([]);
});

/** Codes of faults of requests, bodies, keys, files and operators' writes, which no element of a bulk call has. */
const OTHER_FAULTS = [
  ...[
    'repeated',
    'several',
    'cursor',
    'depth',
    'size',
    'json',
    'encoding',
    'incomplete',
    'expired',
    'ended',
    'replaced',
  ],
  ...['status', 'total', 'order', 'unavailable', 'quota', 'rate_limited', 'too_many'],
];

test('the codes of element errors that the schema names are all that they have', () => {
  const { description } = (
    componentSchemas(publishedSchemas().rest, { elementBounds: true, closed: true }).ElementError!.properties as Record<
      string,
      { description: string }
    >
  ).code!;
  const [list = ''] = /(?<=: )[a-z_, ]+(?=;)/.exec(description) ?? [];
  const codes = [...list.split(/, | or /), 'more', ...OTHER_FAULTS];
  expect(codes.toSorted()).toEqual(Object.keys(FAULT_CODES).toSorted());
});

test('a bulk call of a folder of the user may take as many elements as a built-in one', () => {
  const most = published.upserts.map(
    ({ operation, list }) =>
      directiveOf(
        published.rootField(operation)?.arguments?.find(({ name }) => name.value === list),
        'constraint',
      )?.max_items,
  );
  expect(new Set(most)).toEqual(new Set([MOST_ELEMENTS]));
});

test('customers are erased first, then what refers to them and its parts', () => {
  const found = typesOfCustomer(published.stored).map(({ stored, customerMembers, parts }) => [
    stored.type,
    customerMembers,
    parts.map(({ type }) => type),
  ]);
  expect(found[0]).toEqual(['Customer', ['id'], []]);
  expect(found).toContainEqual(['Request', ['customer_id'], ['Message']]);
  expect(found).toContainEqual(['Order', ['customer_id'], []]);
});
