import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The bucket that failed authentications are counted in: an IPv4 address, or an IPv6 /64, the usual size of one customer's network. */
export function addressBucket(address: string): string {
  const parsed = parse(address);
  if (!(parsed instanceof ipaddr.IPv6)) return address;
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

/** Whether an address is in one of the CIDR ranges; an empty list allows every address. */
export function isInRanges(address: string, ranges: readonly string[]): boolean {
  if (ranges.length === 0) return true;
  const parsed = parse(address);
  return parsed !== undefined && ranges.some((range) => contains(range, parsed));
}

function contains(range: string, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const [network, bits] = ipaddr.parseCIDR(range);
  return network.kind() === address.kind() && address.match([network, bits] as [ipaddr.IPv4, number]);
}

/** A CIDR range in canonical form (a bare address is a range of one), or undefined if invalid. */
export function parseRange(text: string): string | undefined {
  // 10.1 would be parsed as 10.0.0.1, which is never intended
  if (!text.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(text.replace(/\/.*$/, ''))) return undefined;
  try {
    const [network, bits] = ipaddr.parseCIDR(
      text.includes('/') ? text : `${text}/${text.includes(':') ? '128' : '32'}`,
    );
    return `${network.toString()}/${String(bits)}`;
  } catch {
    return undefined;
  }
}

/** An address in canonical form: an IPv4-mapped IPv6 address becomes IPv4. */
export function plainAddress(address: string): string {
  // the common case needs no parsing
  return isIPv4(address) ? address : (parse(address)?.toString() ?? address);
}

function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
}
