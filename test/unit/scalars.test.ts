import { type GraphQLScalarType, parseValue } from 'graphql';
import { scalars } from '../../src/schema/scalars';

type Scalar = GraphQLScalarType<unknown, unknown>;
const [DateTime, DateOnly, Minor] = [scalars.DateTime, scalars.Date, scalars.Minor] as Scalar[] as [
  Scalar,
  Scalar,
  Scalar,
];

/** Every way a value is passed: as a variable, as a literal, and through Sofa, which serializes arguments first. */
const ENTRANCES = (scalar: Scalar) => [
  (value: unknown) => scalar.parseValue(value),
  (value: unknown) => scalar.parseLiteral(parseValue(JSON.stringify(value)), {}),
  (value: unknown) => scalar.parseValue(scalar.serialize(value)),
];

function expectTaken(scalar: Scalar, value: unknown, expected: unknown): void {
  for (const enter of ENTRANCES(scalar)) expect(enter(value)).toBe(expected);
}

function expectRefused(scalar: Scalar, value: unknown): void {
  for (const enter of ENTRANCES(scalar)) expect(() => enter(value)).toThrow();
}

describe('DateTime', () => {
  test.each([
    ['2026-11-21T09:00:00.000Z', '2026-11-21T09:00:00.000Z'],
    ['2026-11-21T09:00:00Z', '2026-11-21T09:00:00.000Z'],
    ['2026-11-21T09:00:00.123456Z', '2026-11-21T09:00:00.124Z'],
    ['2026-11-21T09:00:00.0123456789Z', '2026-11-21T09:00:00.013Z'],
    ['2026-11-21T09:00:00.00000000000001+01:00', '2026-11-21T08:00:00.001Z'],
    ['2026-11-21T09:00:00.120000000000Z', '2026-11-21T09:00:00.120Z'],
    ['2026-11-21T10:00:00+01:00', '2026-11-21T09:00:00.000Z'],
    ['2026-11-20T23:30:00-09:30', '2026-11-21T09:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2026-11-21', '2026-11-21T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['9999-12-31T23:59:59+00:01', '9999-12-31T23:58:59.000Z'],
  ])('%s is the time %s', (text, iso) => {
    expectTaken(DateTime, text, iso);
  });

  test.each<unknown>([
    '2026-11-21T09:00:00',
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-21T24:30:00Z',
    '2026-11-21T09:61:00Z',
    '21.11.2026',
    '9999-12-31T23:59:59-12:00',
    '9999-12-31T23:59:59-00:01',
    '0001-01-01T00:00:00+00:01',
    '0000-12-31T23:59:59Z',
    'yesterday',
    `2026-11-21T09:00:00.${'0'.repeat(64)}Z`,
    '2026-11-21T09:00:00.0123456789',
    '2026-11-21T09:00.12345Z',
    '',
    1_795_248_000_000,
    true,
    null,
  ])('%p is not a DateTime', (value) => {
    expectRefused(DateTime, value);
  });

  test('is serialised in UTC with milliseconds', () => {
    expect(DateTime.serialize(new Date(Date.UTC(2026, 10, 21, 9)))).toBe('2026-11-21T09:00:00.000Z');
  });
});

describe('Date', () => {
  test.each(['2026-11-21', '2024-02-29', '1996-07-30'])('%s is a Date', (text) => {
    expectTaken(DateOnly, text, text);
  });

  test.each<unknown>([
    '2026-02-30',
    '2025-02-29',
    '2026-1-1',
    '2026-11-21T00:00:00Z',
    '21.11.2026',
    '',
    20_261_121,
    null,
  ])('%p is not a Date', (value) => {
    expectRefused(DateOnly, value);
  });
});

describe('Minor', () => {
  test.each([0, 1, -1, 2 ** 31, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])('%i is an amount', (value) => {
    expectTaken(Minor, value, value);
  });

  test.each<unknown>([0.5, 2 ** 53, -(2 ** 53), '100', '', true, null, []])('%p is not an amount', (value) => {
    expect(() => Minor.parseValue(value)).toThrow();
    expect(() => Minor.parseLiteral(parseValue(JSON.stringify(value)), {})).toThrow();
  });

  test.each([
    ['1.0', 1],
    ['1e2', 100],
    ['-12.50e1', -125],
  ])('%s is an amount as a literal, as in JSON', (literal, amount) => {
    expect(Minor.parseLiteral(parseValue(literal), {})).toBe(amount);
  });

  test.each(['0.5', '1e-1', '1e16', '9007199254740990.5'])('%s is not an amount as a literal', (literal) => {
    expect(() => Minor.parseLiteral(parseValue(literal), {})).toThrow();
  });

  test('is never serialised inexactly', () => {
    expect(() => Minor.serialize(2 ** 53)).toThrow();
    expect(() => Minor.serialize(0.1)).toThrow();
    expect(Minor.serialize(Number.MAX_SAFE_INTEGER)).toBe(Number.MAX_SAFE_INTEGER);
  });
});
