import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { isIPv6 } from 'node:net';
import { type AddressPolicy, isLocalhost, literalOf, LOOPBACK, RefusedAddress } from './addresses';

/* The addresses of names, judged before any is connected to. */

/** The addresses of a name; none if it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** How long a DNS server may take, in milliseconds, and how often it is asked. */
const DNS = { timeout: 2000, tries: 2 } as const;
/** The same for a name that does not exist, whose servers do not answer, or that is not public: it would tell what is inside. */
const NOT_PUBLIC = 'has no public address';

/**
 * Asks the DNS servers directly. The system's resolver would keep one of the process's few threads for as long as a slow name server
 * likes, and other work would wait for it.
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
 * Refuses an endpoint's URL that no webhook would ever be sent to: http, and a name whose addresses are not opened for that.
 * @throws RefusedAddress
 */
export async function requireOpened(url: URL, resolve: Resolve, policy: AddressPolicy): Promise<void> {
  if (url.protocol === 'https:' || literalOf(url) !== undefined) return;
  const addresses = await resolve(url.hostname);
  if (addresses.length > 0 && addresses.every(policy.isOpened)) return;
  throw new RefusedAddress('must begin with https://: its address is not one that is opened for http');
}

/** A lookup for connections that gives only judged addresses: one that is refused refuses the name. */
export function judgedLookup(resolve: Resolve, policy: AddressPolicy, protocol: string): LookupFunction {
  const find = async (name: string): Promise<{ address: string; family: number }[]> => {
    const addresses = await resolve(name);
    if (addresses.length === 0) throw new RefusedAddress(NOT_PUBLIC);
    return addresses.map((address) => {
      try {
        policy.judge(address, protocol);
      } catch {
        throw new RefusedAddress(
          protocol === 'https:' ? NOT_PUBLIC : 'must be https: its address is not one that is opened for http',
        );
      }
      return { address, family: isIPv6(address) ? 6 : 4 };
    });
  };
  return (name, { all, family }, callback) => {
    find(name).then(
      (found) => {
        const fitting = family === 4 || family === 6 ? found.filter((one) => one.family === family) : found;
        const [first] = fitting;
        if (!first) callback(new RefusedAddress(NOT_PUBLIC), '', 4);
        else if (all) callback(null, fitting);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => {
        callback(error as Error, '', 4);
      },
    );
  };
}
