import type { IncomingMessage } from 'node:http';
import { isInRanges, UNKNOWN_ADDRESS } from '../../src/auth/addresses';
import { callerAddress } from '../../src/http/requestHead';

/* Whose address X-Forwarded-For has. */

const PROXY = '10.0.0.7';

function from(header: string | undefined, proxies = 1, onUnreadable?: (written: string) => void): string {
  const headers = header === undefined ? {} : { 'x-forwarded-for': header };
  const request = { headers, socket: { remoteAddress: PROXY } } as unknown as IncomingMessage;
  return callerAddress(request, proxies, onUnreadable);
}

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['203.0.113.7:51234', '203.0.113.7'],
  ['"203.0.113.7:51234"', '203.0.113.7'],
  ['2001:db8::1', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:DB8::1]:443', '2001:db8::1'],
  ['"[2001:db8::1]:443"', '2001:db8::1'],
  ['"[2001:db8::1]"', '2001:db8::1'],
  ['[::ffff:203.0.113.7]:443', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['198.51.100.1, 203.0.113.7:51234', '203.0.113.7'],
])('%s is %s', (header, address) => {
  expect(from(header)).toBe(address);
});

test.each([
  ...[
    '',
    ' ',
    'unknown',
    '_hidden',
    'example.com',
    '203.0.113',
    '203.0.113.999:1',
    '203.0.113.7:',
    '203.0.113.7:123456',
  ],
  ...['203.0.113.7:x', '[203.0.113.7]', '[2001:db8::1', '2001:db8::1]', '[2001:db8::1]443', '[]:1', '"203.0.113.7'],
  ...['2001:db8::1:2:3:4:5:6:7', 'for=203.0.113.7', '203.0.113.7,', '"'],
])('%j is an address in no range, and never that of the proxy', (header) => {
  const unreadable: string[] = [];
  const address = from(header, 1, (written) => unreadable.push(written));
  expect(address).toBe(UNKNOWN_ADDRESS);
  expect(unreadable).toHaveLength(1);
  expect(isInRanges(address, ['0.0.0.0/0', '::/0', `${PROXY}/32`])).toBe(false);
});

test('a list that is shorter than the number of proxies has no address of the caller', () => {
  expect(from('203.0.113.7', 2)).toBe(UNKNOWN_ADDRESS);
  expect(from('203.0.113.7:1, 198.51.100.1', 2)).toBe('203.0.113.7');
});

test('a connection without the header, or without a trusted proxy, has its own address', () => {
  expect(from(undefined)).toBe(PROXY);
  expect(from('203.0.113.7', 0)).toBe(PROXY);
});
