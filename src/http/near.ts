import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

/** Headers added by proxies, which mean that the connection's address is not the caller's. */
const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/** Whether the caller connects from one of the address ranges (names of ipaddr.js), and not through a proxy. */
export function isNear({ headers, socket }: IncomingMessage, ranges: readonly string[]): boolean {
  if (PROXY_HEADERS.some((name) => headers[name] !== undefined)) return false;
  const address = socket.remoteAddress ?? '';
  return ipaddr.isValid(address) && ranges.includes(ipaddr.process(address).range());
}
