import type { IncomingMessage } from 'node:http';

const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;
const LOOPBACK_ADDRESS = /^(::ffff:)?127\.|^::1$/;
const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'via'];

/**
 * The demo's key, if this visitor may see it: only on the machine itself. The Host header can be forged, so the
 * connection must also come from loopback, and not through a proxy that identifies itself.
 */
export function visibleDemoKey(request: IncomingMessage, demoKey: string | undefined): string | undefined {
  const { headers, socket } = request;
  const isLocal =
    LOOPBACK_HOST.test(headers.host ?? '') &&
    LOOPBACK_ADDRESS.test(socket.remoteAddress ?? '') &&
    PROXY_HEADERS.every((name) => headers[name] === undefined);
  return isLocal ? demoKey : undefined;
}
