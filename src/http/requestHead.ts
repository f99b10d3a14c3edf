import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import Negotiator from 'negotiator';
import { plainAddress, UNKNOWN_ADDRESS } from '../auth/addresses';
import { AppError } from '../errors';

/* The head of a request: what HTTP/1.1 requires (RFC 9112, section 3.2), the caller's address behind proxies, and what the request accepts. */

const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/is;
/** A host and port (RFC 3986, section 3.2); empty if the target has none. */
const HOST = /^(?:\[[\da-fv:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Rewrites a target in absolute form to origin form; its host replaces the Host header. */
export function readTarget(request: IncomingMessage): void {
  const [, host, rest = ''] = ABSOLUTE.exec(request.url ?? '') ?? [];
  if (host === undefined) return;
  request.headers.host = host;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
}

/** A header's value; several are joined, which no check of a single value accepts. */
export function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Headers with lists from which something is chosen, which takes more than linear time. All other headers are read in linear time. */
const LISTS = ['accept', 'accept-charset', 'accept-encoding', 'accept-language', 'range'];
/** Characters of such a list; chosen, as browsers send under 200. */
const MAX_LIST = 1024;

/** Removes such headers if they are too long, since nobody is authenticated yet. The answer is then the one to a request without the header. */
export function dropLongLists({ headers }: Pick<IncomingMessage, 'headers'>): void {
  for (const name of LISTS) if ((headers[name]?.length ?? 0) > MAX_LIST) Reflect.deleteProperty(headers, name);
}

/** @throws AppError invalid_request for a request that is not valid HTTP/1.1, or whose Expect is not 100-continue (417) */
export function checkHead({ headers, httpVersion, rawHeaders }: IncomingMessage): void {
  // names and values alternate
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host');
  const isOld = httpVersion === '1.0';
  if (hosts.length > 1 || (hosts.length === 0 && !isOld))
    throw new AppError('invalid_request', 'A request must have exactly one Host header.');
  if (!HOST.test(headers.host ?? '')) throw new AppError('invalid_request', 'The host of the request is not valid.');
  const { expect } = headers;
  if (expect !== undefined && !isOld && expect.toLowerCase() !== '100-continue')
    throw new AppError('invalid_request', 'Expect can only be 100-continue.', { status: 417 });
}

/** The forms in which proxies write addresses: bare, in brackets, with a port, in quotes (RFC 7239, section 6). */
const WRITTEN = /^(?:\[([\da-f:.]+)\]|([\d.]+))(?::\d{1,5})?$/i;
const QUOTED = /^"(.*)"$/;

/**
 * The caller's address behind a number of trusted proxies. If X-Forwarded-For has no valid address at that place, `onUnreadable` is called
 * with what is there, and the address is unknown. It is never the proxy's, which a key may allow.
 */
export function callerAddress(
  { headers, socket }: IncomingMessage,
  trustedProxies: number,
  onUnreadable?: (written: string) => void,
): string {
  const header = trustedProxies === 0 ? undefined : headers['x-forwarded-for'];
  // without the header nobody forwarded the request: it may be the proxy's own health check
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
export function connectsFrom({ headers, socket }: IncomingMessage, ranges: readonly string[]): boolean {
  if (PROXY_HEADERS.some((name) => headers[name] !== undefined)) return false;
  const address = socket.remoteAddress ?? '';
  return ipaddr.isValid(address) && ranges.includes(ipaddr.process(address).range());
}

/** A host of this machine, with or without a port. */
export const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;

/**
 * The host and port by which a caller on this machine reached the gateway; undefined of any other caller. The Host header can be forged, so the
 * connection must also come from loopback, and not through a proxy that identifies itself.
 */
export function localHost(request: IncomingMessage): string | undefined {
  const { host = '' } = request.headers;
  return LOOPBACK_HOST.test(host) && connectsFrom(request, ['loopback']) ? host : undefined;
}

const EVENT_STREAM = 'text/event-stream';
const JSON_MEDIA_TYPE = 'application/json';

/** A parameter of a media range other than its quality. */
const PARAMETER = /;\s*(?!q\s*=)[^;,="\s]+\s*(?:=\s*(?:"(?:[^"\\]|\\.)*"|[^;,"]*))?/gi;

/**
 * Accept without the parameters of its types, since none of them (`charset=utf8`, `profile=…`) changes an answer. An empty one, which some
 * clients send, is as if left out.
 */
export function acceptOf({ headers: { accept = '' } }: Pick<IncomingMessage, 'headers'>): string {
  if (accept === '') return '*/*';
  return accept.includes(';') ? accept.replaceAll(PARAMETER, '') : accept;
}

/** @throws AppError not_acceptable if a request does not accept JSON */
export function requireAcceptsJson(request: Pick<IncomingMessage, 'headers'>): void {
  const accept = acceptOf(request);
  // fast path for what nearly all clients send
  if (accept === '*/*' || accept === JSON_MEDIA_TYPE) return;
  if (new Negotiator({ headers: { accept } }).mediaType([JSON_MEDIA_TYPE]) === undefined)
    throw new AppError('not_acceptable', 'Responses are application/json only.');
}

/** Whether a request accepts the type of streams by its name; a range that includes it does not count. */
export function acceptsStream(request: IncomingMessage): boolean {
  // nearly all requests do not, and negotiating costs microseconds
  if (!/event-stream/i.test(request.headers.accept ?? '')) return false;
  return new Negotiator(request).mediaTypes().some((mediaType) => mediaType.toLowerCase() === EVENT_STREAM);
}

/** What a request accepts besides streams; undefined if nothing. */
export function acceptBesideStream(request: IncomingMessage): string | undefined {
  const others = acceptOf(request)
    .split(',')
    .filter((mediaType) => mediaType.split(';')[0]?.trim().toLowerCase() !== EVENT_STREAM);
  return others.length === 0 ? undefined : others.join(',');
}

export function acceptsGzip(request: IncomingMessage): boolean {
  const { 'accept-encoding': encodings } = request.headers;
  if (encodings === undefined) return false;
  return new Negotiator(request).encodings(['gzip']).length > 0;
}

/** The error of a request with another method than those of its route; HEAD comes with GET. */
export function methodNotAllowed({ method = '' }: IncomingMessage, methods: readonly string[], hint = ''): AppError {
  const allow = methods.flatMap((allowed) => (allowed === 'GET' ? ['GET', 'HEAD'] : [allowed]));
  const detail = `${method} is not allowed here; allowed: ${methods.join(', ')}.${hint}`;
  return new AppError('method_not_allowed', detail, { allow });
}

const AUTHORIZATION = 'authorization';

/** The Authorization header if there is exactly one: with several, Node uses the first, but a proxy may have checked another. */
export function soleAuthorization({ headers, rawHeaders }: IncomingMessage): string | undefined {
  let times = 0;
  // names and values alternate
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) times += 1;
  }
  return times > 1 ? undefined : headers.authorization;
}
