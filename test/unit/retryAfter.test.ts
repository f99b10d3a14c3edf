import { retryAfterOf } from '../../src/units';

const NOW = Date.parse('1994-11-06T08:49:07.000Z');

test.each([
  ['0', 0],
  ['120', 120_000],
  ['Sun, 06 Nov 1994 08:49:37 GMT', 30_000],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 30_000],
  ['Sun Nov  6 08:49:37 1994', 30_000],
  ['Sun, 06 Nov 1994 08:00:00 GMT', 0],
])('Retry-After: %s is %d ms: seconds, and each form of an HTTP date, wherever it is read', (header, wait) => {
  const zone = process.env.TZ;
  try {
    process.env.TZ = 'America/New_York';
    expect(retryAfterOf(header, NOW)).toBe(wait);
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

test.each(['', 'soon', '-5', '1.5', '1994-11-06', null, undefined])('Retry-After: %j asks for nothing', (header) => {
  expect(retryAfterOf(header, NOW)).toBeUndefined();
});
