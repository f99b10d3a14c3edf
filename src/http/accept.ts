import type { IncomingMessage } from 'node:http';
import Negotiator from 'negotiator';
import { AppError } from '../errors';

const EVENT_STREAM = 'text/event-stream';
const JSON_TYPE = 'application/json';

/** A parameter of a media range other than its quality. */
const PARAMETER = /;\s*(?!q\s*=)[^;,="\s]+\s*(?:=\s*(?:"(?:[^"\\]|\\.)*"|[^;,"]*))?/gi;

/** Accept without the parameters of its types, since none of them (`charset=utf8`, `profile=…`) changes an answer. */
export function acceptOf({ headers: { accept = '*/*' } }: Pick<IncomingMessage, 'headers'>): string {
  return accept.includes(';') ? accept.replaceAll(PARAMETER, '') : accept;
}

/** @throws AppError not_acceptable if a request does not accept JSON */
export function requireAcceptsJson(request: Pick<IncomingMessage, 'headers'>): void {
  const accept = acceptOf(request);
  // fast path for what nearly all clients send
  if (accept === '*/*' || accept === JSON_TYPE) return;
  if (new Negotiator({ headers: { accept } }).mediaType([JSON_TYPE]) === undefined)
    throw new AppError('not_acceptable', 'Responses are application/json only.');
}

/** Whether a request names streams among what it accepts; a range such as any type does not. */
export function acceptsStream(request: IncomingMessage): boolean {
  // nearly all requests name none, and to negotiate costs them microseconds
  if (!/event-stream/i.test(request.headers.accept ?? '')) return false;
  return new Negotiator(request).mediaTypes().includes(EVENT_STREAM);
}

/** What a request accepts besides streams; undefined if that is nothing. */
export function acceptBesideStream(request: IncomingMessage): string | undefined {
  const others = acceptOf(request)
    .split(',')
    .filter((one) => one.split(';')[0]?.trim().toLowerCase() !== EVENT_STREAM);
  return others.length === 0 ? undefined : others.join(',');
}

/** What an answer in JSON is negotiated by for a request that accepts streams. */
export function acceptForJson(request: IncomingMessage): string {
  return acceptBesideStream(request) ?? JSON_TYPE;
}
