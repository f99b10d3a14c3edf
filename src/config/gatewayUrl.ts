import type { Config } from './index';

/** The URL at which a browser on this machine can open a gateway: 0.0.0.0 and :: mean all of its addresses. */
export function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

/** The URL at which people open the gateway of this configuration. */
export function gatewayUrl({ PUBLIC_URL, HOST, PORT }: Pick<Config, 'PUBLIC_URL' | 'HOST' | 'PORT'>): string {
  return PUBLIC_URL ?? reachable(`http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${String(PORT)}`);
}
