import { connect, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { reasonOf } from './failures';

const PROBE_MS = 3_000;

/** Tries to reach the host of `url`, or the proxy if set; undefined if it can be reached. */
export function whyUnreachable(url: URL, proxy?: string, timeoutMs = PROBE_MS): Promise<string | undefined> {
  const target = proxy === undefined ? url : new URL(proxy);
  const handshake = proxy === undefined && isSecure(url);
  const socket = handshake ? connectTls(addressOf(target)) : connect(addressOf(target));
  return new Promise((resolve) => {
    const answer = (fault?: string): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(fault === undefined ? undefined : `${target.host} cannot be reached (${fault})`);
    };
    const timer = setTimeout(() => {
      answer(`no answer within ${String(timeoutMs / 1000)} s`);
    }, timeoutMs);
    socket.once(handshake ? 'secureConnect' : 'connect', () => {
      answer();
    });
    socket.once('error', (error) => {
      answer(reasonOf(error));
    });
  });
}

const isSecure = (url: URL): boolean => url.protocol === 'https:';

function addressOf(url: URL): { host: string; port: number; servername?: string } {
  return {
    host: url.hostname,
    port: Number(url.port) || (isSecure(url) ? 443 : 80),
    ...(isIP(url.hostname) ? {} : { servername: url.hostname }),
  };
}
