import ipaddr from 'ipaddr.js';
import { isInRanges } from '../auth/addresses';
import { Resolver } from 'node:dns/promises';
import { isIPv6, type LookupFunction } from 'node:net';

/* Which addresses webhooks may be sent to. */

/** The message says why a URL is refused, as a predicate whose subject is the URL. */
export class RefusedAddress extends Error {
  override readonly name = 'RefusedAddress';
}

export type AddressPolicy = ReturnType<typeof createAddressPolicy>;

/** Global unicast addresses of IPv6 (RFC 4291); ipaddr.js counts unassigned ones as unicast, too. */
const GLOBAL = ipaddr.IPv6.parseCIDR('2000::/3');

/** Serves certificates and settings to virtual machines on Azure. Metadata services of other clouds are in non-public ranges. */
const AZURE_HOST = '168.63.129.16';

/** Whether anybody on the internet could connect to an address. */
function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // an IPv4-mapped IPv6 address counts as IPv4; those of 6to4 and NAT64 are not unicast
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast' || parsed.toString() === AZURE_HOST) return false;
  return !(parsed instanceof ipaddr.IPv6) || parsed.match(GLOBAL);
}

/** Reasons for refusals that WEBHOOK_ALLOWED_RANGES could lift; NOT_OPENED_FOR_HTTP begins with the first. */
export const NOT_HTTPS = 'must begin with https://';
export const ADDRESS_NOT_PUBLIC = 'which is not public';

/** `ranges`, in CIDR notation, are allowed even if they are not public, and even without TLS. */
export function createAddressPolicy(ranges: readonly string[]) {
  const isInAllowedRanges = (address: string): boolean => ranges.length > 0 && isInRanges(address, ranges);
  return {
    /** @throws RefusedAddress if webhooks may not be sent to an address, or not over this protocol */
    require(address: string, protocol: string): void {
      if (isInAllowedRanges(address)) return;
      if (!isPublic(address)) throw new RefusedAddress(`has the address ${address}, ${ADDRESS_NOT_PUBLIC}`);
      if (protocol !== 'https:') throw new RefusedAddress(NOT_HTTPS);
    },
    isInAllowedRanges,
    /** Whether any address may be reached without TLS. */
    allowsPlain: ranges.length > 0,
  };
}

/** The literal address in a URL's host; undefined if it is a name. WHATWG URLs normalise decimal, octal and hexadecimal forms. */
export function literalOf({ hostname }: URL): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return ipaddr.isValid(bare) ? bare : undefined;
}

/** Of the URL of an endpoint, as in the SDL. */
const MAX_CHARACTERS = 2000;

const tooLong = (): RefusedAddress => new RefusedAddress(`is longer than ${String(MAX_CHARACTERS)} characters`);

/** The URL of an endpoint in its canonical form. @throws RefusedAddress */
export function endpointUrl(text: string, policy: AddressPolicy): URL {
  const trimmed = text.trim();
  if (trimmed.length > MAX_CHARACTERS) throw tooLong();
  if (!URL.canParse(trimmed)) throw new RefusedAddress('is not a URL, e.g. https://example.com/webhooks');
  const url = new URL(trimmed);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && policy.allowsPlain))
    throw new RefusedAddress(NOT_HTTPS);
  if (url.username !== '' || url.password !== '')
    throw new RefusedAddress('must have no user name or password; check the signature of what arrives instead');
  if (url.port === '0') throw new RefusedAddress('must have another port than 0');
  url.hash = '';
  // the canonical form, which is stored, has %C3%A9 for é
  if (url.href.length > MAX_CHARACTERS) throw tooLong();
  const literal = literalOf(url);
  if (literal !== undefined) policy.require(literal, url.protocol);
  else if (isLocalhost(url.hostname)) for (const address of LOOPBACK) policy.require(address, url.protocol);
  return url;
}

/** The addresses of localhost and names below it, which are never looked up (RFC 6761). */
export const LOOPBACK: readonly string[] = ['127.0.0.1', '::1'];

function isLocalhost(name: string): boolean {
  return /(^|\.)localhost\.?$/i.test(name);
}

/** Resolves with the addresses of a name, if any. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** Timeout of a DNS server, in milliseconds, and number of attempts: together shorter than a post may take. */
const DNS = { timeout: 2000, tries: 2 } as const;
/** For https, and below for http: the same message for a name that does not exist, times out, or is not allowed, as a difference would reveal internal names. */
const NAME_NOT_PUBLIC = 'has no public address';
const NOT_OPENED_FOR_HTTP = `${NOT_HTTPS}: its address is not one that is opened for http`;

/**
 * Asks the DNS servers directly. The system's resolver would block one of the process's few threads for as long as a slow name server
 * takes, and other work would wait for it.
 */
export function dnsNames(resolver = new Resolver(DNS)): Resolve {
  return async (name) => {
    if (isLocalhost(name)) return LOOPBACK;
    const none = (): string[] => [];
    const [four, six] = await Promise.all([resolver.resolve4(name).catch(none), resolver.resolve6(name).catch(none)]);
    return [...four, ...six];
  };
}

/**
 * Refuses the URL of an endpoint that could never receive a webhook: http, with a name whose addresses are not allowed.
 * @throws RefusedAddress
 */
export async function requireDeliverable(url: URL, resolve: Resolve, policy: AddressPolicy): Promise<void> {
  if (url.protocol === 'https:' || literalOf(url) !== undefined) return;
  const addresses = await resolve(url.hostname);
  if (addresses.length > 0 && addresses.every(policy.isInAllowedRanges)) return;
  throw new RefusedAddress(NOT_OPENED_FOR_HTTP);
}

/** A lookup for connections that refuses a name if any of its addresses is refused. */
export function checkedLookup(resolve: Resolve, policy: AddressPolicy, protocol: string): LookupFunction {
  const refusal = (): RefusedAddress =>
    new RefusedAddress(protocol === 'https:' ? NAME_NOT_PUBLIC : NOT_OPENED_FOR_HTTP);
  // all or none, since a connection may use any of them
  const addressesOf = async (name: string): Promise<{ address: string; family: number }[]> => {
    const addresses = await resolve(name);
    if (addresses.length === 0) throw refusal();
    return addresses.map((address) => {
      try {
        policy.require(address, protocol);
      } catch {
        throw refusal();
      }
      return { address, family: isIPv6(address) ? 6 : 4 };
    });
  };
  return (name, { all, family }, callback) => {
    addressesOf(name).then(
      (addresses) => {
        const fitting =
          family === 4 || family === 6 ? addresses.filter((address) => address.family === family) : addresses;
        const [first] = fitting;
        if (!first) callback(refusal(), '', 4);
        else if (all) callback(null, fitting);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => {
        callback(error as Error, '', 4);
      },
    );
  };
}
