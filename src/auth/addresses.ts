import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Stands for a caller's address that cannot be read; it is in no range. */
export const UNKNOWN_ADDRESS = 'unknown';

/** What failed authentications are counted by: an IPv4 address, or an IPv6 /64, the usual size of one customer's network. Takes what {@link plainAddress} returns. */
export function addressBucket(address: string): string {
  const parsed = parse(address);
  if (!(parsed instanceof ipaddr.IPv6)) return address;
  return networkText(parsed, 64);
}

/** As {@link addressBucket}, but of IPv6 the /48 that one site usually has: 65,536 times a /64. */
export function siteBucket(address: string): string {
  const parsed = parse(address);
  return parsed instanceof ipaddr.IPv6 ? networkText(parsed, 48) : address;
}

/** The first `bits` of an IPv6 address, a multiple of 16. */
function networkText({ parts }: ipaddr.IPv6, bits: number): string {
  const network = parts.slice(0, bits / 16).map((part) => part.toString(16));
  return `${network.join(':')}::/${String(bits)}`;
}

/** Whether an address is in one of the CIDR ranges; an empty list allows every address. */
export function isInRanges(address: string, ranges: readonly string[]): boolean {
  if (ranges.length === 0) return true;
  const parsed = parse(address);
  return parsed !== undefined && ranges.some((range) => contains(range, parsed));
}

function contains(range: string, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  // as it is checked by isRange: an earlier version, or an import, may have stored one that is not canonical
  const [network, bits] = parseCidr(range) ?? ipaddr.parseCIDR(range);
  return network.kind() === address.kind() && address.match([network, bits] as [ipaddr.IPv4, number]);
}

/**
 * A CIDR range in canonical form: a bare address becomes a range of one, and IPv4-mapped IPv6 becomes IPv4, as callers' addresses
 * do. Undefined if it is invalid or has host bits set, since it would allow more than the address it names.
 */
export function parseRange(text: string): string | undefined {
  const cidr = parseCidr(text);
  return cidr && networkOf(cidr) === cidr[0].toString() ? rangeOf(cidr) : undefined;
}

/** Whether a stored string is a range; unlike {@link parseRange} it takes host bits, which ranges from older versions may have set. */
export function isRange(text: string): boolean {
  return text.includes('/') && parseCidr(text) !== undefined;
}

/** Why {@link parseRange} rejects a string, as a clause to put after it. */
export function rangeFault(text: string): string {
  const cidr = parseCidr(text);
  if (!cidr) return 'is not an address or CIDR range, e.g. 203.0.113.0/24 or 2001:db8::/32';
  const [address, bits] = cidr;
  const host = rangeOf([address, address.kind() === 'ipv4' ? 32 : 128]);
  return `has host bits set: write ${networkOf(cidr)}/${String(bits)} or ${host}`;
}

type Cidr = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

function parseCidr(text: string): Cidr | undefined {
  // a zone names an interface of one machine; 10.1 would be parsed as 10.0.0.1, which is never intended
  if (text.includes('%')) return undefined;
  if (!text.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(text.replace(/\/.*$/, ''))) return undefined;
  try {
    const [address, bits] = ipaddr.parseCIDR(
      text.includes('/') ? text : `${text}/${text.includes(':') ? '128' : '32'}`,
    );
    const isMapped = address instanceof ipaddr.IPv6 && bits >= MAPPED_BITS && address.isIPv4MappedAddress();
    return isMapped ? [address.toIPv4Address(), bits - MAPPED_BITS] : [address, bits];
  } catch {
    return undefined;
  }
}

/** The bits before the IPv4 address in an IPv4-mapped IPv6 one (RFC 4291, section 2.5.5.2). */
const MAPPED_BITS = 96;

const rangeOf = ([address, bits]: Cidr): string => `${address.toString()}/${String(bits)}`;

/** The address without its host bits. */
function networkOf(cidr: Cidr): string {
  const family = cidr[0].kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return family.networkAddressFromCIDR(rangeOf(cidr)).toString();
}

/** An address in canonical form: an IPv4-mapped IPv6 address becomes IPv4. */
export function plainAddress(address: string): string {
  // the common case needs no parsing
  return isIPv4(address) ? address : (parse(address)?.toString() ?? address);
}

/** An IPv4-mapped IPv6 address becomes IPv4. */
function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
}
