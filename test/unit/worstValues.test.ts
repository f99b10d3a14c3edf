import { argumentsSchema, componentSchemas, rootFields } from '../../src/schema/jsonSchema';
import { publishedSchemas } from '../../src/published';
import { checkWith, createAjv, requireSchema, typeChecks } from '../../src/schema/validation';

const { graphql } = publishedSchemas();
const { args } = rootFields(graphql).find(({ name }) => name === 'upsert_customers')!;
const components = { schemas: componentSchemas(graphql, { elementBounds: false, closed: false }) };
const ajv = createAjv().addSchema({ components, call: argumentsSchema(args) }, 'test');
const validate = requireSchema(ajv, 'test#/call');
const check = checkWith(validate);

const BAD_CONTACT = { name: 1, role: 1, email: 1, phone: 1, primary: 1 };
const many = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_none, at) => make(at));
const unknown = (members: number) => Object.fromEntries(many(members, (at) => [`x${String(at)}`, 0]));

describe('100 errors are listed and the rest counted, for', () => {
  test.each<[string, object, number]>([
    ['100 unknown members', { customers: [{}], ...unknown(100) }, 100],
    ['101 unknown members', { customers: [{}], ...unknown(101) }, 101],
    ['50,000 unknown members', { customers: [{}], ...unknown(50_000) }, 50_000],
    ['1,000 elements of 50 unknown members', { customers: many(1000, () => unknown(50)) }, 50_000],
    ['1,000 elements of 500 unknown members', { customers: many(1000, () => unknown(500)) }, 500_000],
    ['1,000 elements that are not objects', { customers: many(1000, () => 0) }, 1000],
    ['1,000 ill-typed elements', { customers: many(1000, () => ({ name: 1, email: 2 })) }, 2000],
    [
      'the contacts of 1,000 elements',
      { customers: many(1000, () => ({ contacts: many(100, () => BAD_CONTACT) })) },
      500_000,
    ],
    ['errors before and after a long list', { customers: many(1000, () => 0), atomic: 1, x: 1 }, 1002],
  ])('%s', (_title, value, total) => {
    const { faults, more } = check(value);
    expect(faults).toHaveLength(Math.min(100, total));
    expect(new Set(faults.map(({ pointer, code }) => `${pointer!} ${code}`)).size).toBe(faults.length);
    expect(faults.length + more).toBe(total);
    // the errors collected do not grow with the value
    expect(validate.errors!.length).toBeLessThanOrEqual(500);
  });

  test('and counts are reset between checks', () => {
    check({ customers: [{}], ...unknown(500) });
    expect(check({ customers: [{}], x: 1 })).toMatchObject({ more: 0, faults: [{ pointer: '/x' }] });
    check({ customers: [{}], ...unknown(500) });
    expect(check({ customers: [{}] })).toEqual({ faults: [], more: 0, isCut: false });
  });
});

/** A list, and how many of its elements were looked at. */
function watched(elements: readonly unknown[]) {
  const looked = new Set<PropertyKey>();
  const list = new Proxy([...elements], {
    get: (target, name) => {
      if (/^\d+$/.test(String(name))) looked.add(name);
      return Reflect.get(target, name) as unknown;
    },
  });
  return { list, looked };
}

test('the elements of a list that is too long are not visited', () => {
  const { list, looked } = watched(new Array(80_000).fill(0));
  expect(check({ customers: list })).toMatchObject({ more: 0, faults: [{ pointer: '/customers', code: 'length' }] });
  expect(looked.size).toBe(0);
});

describe('a check that counts only so many faults', () => {
  const element = typeChecks(graphql, { elementBounds: true, closed: false })('CustomerUpsert');
  const customer = (contacts: readonly unknown[]) => ({ external_ref: 'A', name: 'A', contacts });

  test('visits no further elements after that, and says that there may be more', () => {
    const { list, looked } = watched(many(100, () => BAD_CONTACT));
    const found = element(customer(list), { kept: 1, counted: 20 });
    expect(found).toMatchObject({ more: 24, isCut: true });
    expect(looked.size).toBe(5);
  });

  test.each([
    [4, 19],
    // the last element is complete
    [5, 24],
  ])('counts all of %i elements', (contacts, more) => {
    const found = element(customer(many(contacts, () => BAD_CONTACT)), { kept: 1, counted: 20 });
    expect(found).toMatchObject({ more, isCut: false });
    expect(found.faults).toHaveLength(1);
  });

  test('still finds other errors beside the list', () => {
    const { faults, more } = element(
      { ...customer(many(100, () => BAD_CONTACT)), name: 1, x: 1 },
      { kept: 100, counted: 20 },
    );
    expect(faults.length + more).toBeLessThan(150);
    expect(faults.map(({ pointer }) => pointer)).toEqual(expect.arrayContaining(['/name', '/x']));
  });
});

test('a member name in a pointer is truncated to 100 characters', () => {
  const { faults } = check({ customers: [{}], ['/'.repeat(100_000)]: 0 });
  expect(faults[0]!.pointer!.length).toBeLessThan(210);
});

test.each([
  ['a.'.repeat(1_000_000), 'a text that is not an e-mail address'],
  [`a@${'a-'.repeat(1_000_000)}!`, 'a very long label'],
  [`a@${'a.'.repeat(1_000_000)}!`, 'very many labels'],
])('a text longer than its format allows is rejected quickly: %#', (email) => {
  const element = typeChecks(graphql, { elementBounds: true, closed: false })('CustomerUpsert');
  const found = element({ external_ref: 'A', name: 'A', email }).faults;
  expect(found.map(({ pointer, code }) => `${pointer!} ${code}`).sort()).toEqual(['/email format', '/email length']);
});
