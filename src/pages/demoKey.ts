import type { IncomingMessage } from 'node:http';

const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;
const LOOPBACK_ADDRESS = /^(::ffff:)?127\.|^::1$/;
const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'via'];

/**
 * The demo's key where this visitor may see it: at the machine itself. The Host header alone is the caller's word, so the
 * connection has to come from loopback too, and through no proxy that says so.
 */
export function visibleDemoKey(request: IncomingMessage, demoKey: string | undefined): string | undefined {
  const { headers, socket } = request;
  const isLocal =
    LOOPBACK_HOST.test(headers.host ?? '') &&
    LOOPBACK_ADDRESS.test(socket.remoteAddress ?? '') &&
    PROXY_HEADERS.every((name) => headers[name] === undefined);
  return isLocal ? demoKey : undefined;
}
