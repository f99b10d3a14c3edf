import { ALL_SCOPES } from '../../src/access/scopes';
import { currency, duration, name, scopes, uuid } from '../../src/cli/common/values';

test.each([
  ['30m', 30 * 60_000],
  ['12h', 12 * 3_600_000],
  ['90d', 90 * 86_400_000],
  ['1y', 365 * 86_400_000],
])('the duration %s is %d ms', (text, length) => {
  expect(duration(text)).toBe(length);
});

test.each(['', '0d', '-1d', '1.5h', '90', 'd', '1w', '90 d', '101y', '999999999y'])('%j is not a duration', (text) => {
  expect(() => duration(text)).toThrow('30m, 12h, 90d or 1y');
});

test('"all" means every scope, and duplicates are removed', () => {
  expect(scopes('all')).toEqual(ALL_SCOPES);
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

test.each(['', ' ', 'a\u0000b', 'a\nb', '\u009b2J'])('%j is not a name', (text) => {
  expect(() => name(text)).toThrow('one line');
});
