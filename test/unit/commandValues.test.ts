import { allScopes } from '../../src/auth/scopes';
import {
  fixedTime,
  currency,
  lifetime,
  loadScopes,
  moment,
  name,
  overlap,
  ranges,
  rangesOrAnywhere,
  scopes,
  uuid,
} from '../../src/cli/values';
import { operationShown, requestName } from '../../src/organisations/requestName';

test.each([
  ['30m', 30 * 60_000],
  ['12h', 12 * 3_600_000],
  ['90d', 90 * 86_400_000],
  ['1y', 365 * 86_400_000],
])('the duration %s is %d ms', (text, length) => {
  expect(lifetime('')(text)).toBe(length);
  expect(overlap(text)).toBe(length);
  expect((Date.now() - moment(text).getTime()) / length).toBeCloseTo(1, 1);
});

test.each([...['', '0d', '-1d', '1.5h', '90', 'd', '1w', '90 d', '101y', '999999999y', 'never', '2027-01-01']])(
  '%j is not a duration, and the error says what is',
  (text) => {
    const error =
      'a number from 1 and m, h, d or y, e.g. 30m, 12h, 90d or 1y; at most 100y. Dates are not accepted. Or so.';
    expect(() => lifetime('Or so.')(text)).toThrow(error);
    expect(() => overlap(text)).toThrow('Expected 0, to end the old key at once, or a duration');
  },
);

test.each([
  ...['', '0d', '101y', 'yesterday', '21.11.2026', '2026-13-01', '2026-02-30', '2025-02-29', '2026-04-31T09:00:00Z'],
  ...['2026-11-21T09:00:00', '2026-11-21 09:00', '2026-11-21T24:00:00Z', '2026-11-21T09:00:00+1', '2026-11-21junk'],
])('%j is neither a date, a time with its zone, nor an age', (text) => {
  expect(() => moment(text)).toThrow(
    'Expected a date (e.g. 2026-11-21), a time with Z or an offset (e.g. 2026-11-21T09:00:00Z) or an age: a number from 1',
  );
});

test('a date means midnight UTC', () => {
  for (const read of [moment, fixedTime]) expect(read('2026-11-21')).toEqual(new Date('2026-11-21T00:00:00Z'));
});

test('what must mean the same time at each run is no age', () => {
  expect(() => fixedTime('2h')).toThrow('2026-11-21T09:00:00Z); an age would mean another time at each run.');
});

test.each(['2024-02-29T09:00:00Z', '2024-02-29T09:00Z', '2024-02-29T10:30:00.000+01:30'])(
  '%s is the moment that its zone says',
  (text) => {
    expect(moment(text)).toEqual(new Date(Date.UTC(2024, 1, 29, 9)));
  },
);

test.each([
  ['', 'Expected comma-separated addresses or CIDR ranges, e.g. 203.0.113.0/24,2001:db8::/32. To remove'],
  ['10.0.0.0/8,', 'Expected comma-separated addresses'],
  ['10.1', '10.1 is not an address or CIDR range'],
])('%j is not a list of ranges, and the error says what is', (text, message) => {
  expect(() => rangesOrAnywhere(text)).toThrow(message);
  expect(() => ranges(text)).toThrow('Without --allow it works from anywhere.');
});

beforeAll(() => loadScopes(undefined, { name: () => 'key' }));

test('"all" means every scope, and duplicates are removed', () => {
  expect(scopes('all')).toEqual(allScopes());
  expect(scopes('quotes:read, orders:read,quotes:read')).toEqual(['quotes:read', 'orders:read']);
});

test.each(['', ',', 'all,quotes:read', 'toString'])('%j is not a list of scopes', (text) => {
  expect(() => scopes(text)).toThrow('Scopes are');
});

test('a UUID is accepted in upper case and normalised to lower case', () => {
  expect(uuid('689DEFBF-4477-4B15-966E-4830B650DED3')).toBe('689defbf-4477-4b15-966e-4830b650ded3');
});

test.each(['usd', 'XYZ', 'DEM', 'EURO', ''])('%j is not a currency', (text) => {
  expect(() => currency(text)).toThrow('ISO 4217');
});

test('a name has up to 200 characters, of whatever length in code units', () => {
  expect(name('😀'.repeat(200))).toBe('😀'.repeat(200));
  expect(() => name('😀'.repeat(201))).toThrow('one line of 1 to 200 characters');
});

test.each(['', ' ', 'a\u0000b', 'a\nb', '\u009b2J'])('%j is not a name', (text) => {
  expect(() => name(text)).toThrow('one line');
});

test.each([
  [null, ''],
  ['quotes', 'quotes'],
  ['customer customer customer', 'customer ×3'],
  ['customer quote customer', 'customer ×2, quote'],
  [Array.from({ length: 20 }, (_, at) => `f${String(at)}`).join(' '), 'f0, f1 +18'],
  // the stored list was truncated, so there were more
  [
    Array.from({ length: 50 }, (_, at) => `f${String(at).padStart(2, '0')}`)
      .join(' ')
      .slice(0, 199)
      .concat('f'),
    'f00, f01 +48…',
  ],
])('the operation %j is shown as %s', (operation, shown) => {
  expect(operationShown({ operation, operation_type: 'query', operation_name: null }, 2)).toBe(shown);
});

test.each([
  ['GET /quotes/{id}', {}],
  ['POST /graphql', { face: 'graphql', method: 'POST', path: '/graphql', operation: null }],
  ['mutation Rename', { face: 'graphql', operation_type: 'mutation', operation_name: 'Rename' }],
  // of an earlier version
  ['quote', { face: 'graphql' }],
  ['quote', { face: 'mcp', method: 'POST', path: '/mcp' }],
] as const)('a request is named %s', (name, request) => {
  const rest = { face: 'rest', method: 'GET', path: '/api/v1/quotes/{id}', operation: 'quote' } as const;
  expect(requestName({ ...rest, operation_type: null, operation_name: null, ...request })).toBe(name);
});
