import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { plainAddress, UNKNOWN_ADDRESS } from '../auth/addresses';

/** The forms in which proxies write an address: alone, in brackets, with a port, in quotes (RFC 7239, section 6). */
const WRITTEN = /^(?:\[([\da-f:.]+)\]|([\d.]+))(?::\d{1,5})?$/i;
const QUOTED = /^"(.*)"$/;

/**
 * The address of the caller, behind a number of trusted proxies. `onUnreadable` is called with what the header has in its place, if that
 * is no address: then the caller has none, and never that of the proxy, which a key may allow.
 */
export function callerAddress(
  { headers, socket }: IncomingMessage,
  trustedProxies: number,
  onUnreadable?: (written: string) => void,
): string {
  const header = trustedProxies === 0 ? undefined : headers['x-forwarded-for'];
  // without the header nobody forwarded it, e.g. a health check of the proxy itself
  if (header === undefined) return plainAddress(socket.remoteAddress ?? '');
  const written = String(header).split(',').at(-trustedProxies)?.trim() ?? '';
  const address = readAddress(written);
  if (address === undefined) onUnreadable?.(written);
  return address ?? UNKNOWN_ADDRESS;
}

function readAddress(written: string): string | undefined {
  if (isIP(written) !== 0) return plainAddress(written);
  const [, v6, v4] = WRITTEN.exec(QUOTED.exec(written)?.[1] ?? written) ?? [];
  const address = v6 ?? v4 ?? '';
  const isAddress = isIP(address) === (v6 === undefined ? 4 : 6);
  return isAddress ? plainAddress(address) : undefined;
}

/** Headers added by proxies, which mean that the connection's address is not the caller's. */
const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/** Whether the caller connects from one of the address ranges (names of ipaddr.js), and not through a proxy. */
export function isNear({ headers, socket }: IncomingMessage, ranges: readonly string[]): boolean {
  if (PROXY_HEADERS.some((name) => headers[name] !== undefined)) return false;
  const address = socket.remoteAddress ?? '';
  return ipaddr.isValid(address) && ranges.includes(ipaddr.process(address).range());
}
