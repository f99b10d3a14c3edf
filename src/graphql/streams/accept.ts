import type { IncomingMessage } from 'node:http';
import Negotiator from 'negotiator';

const EVENT_STREAM = 'text/event-stream';
const JSON_TYPE = 'application/json';

/** Whether a request names streams among what it accepts; a range such as any type does not. */
export function acceptsStream(request: IncomingMessage): boolean {
  return new Negotiator(request).mediaTypes().includes(EVENT_STREAM);
}

/** What a request accepts besides streams; undefined if that is nothing. */
export function acceptBesideStream({ headers: { accept = '' } }: IncomingMessage): string | undefined {
  const others = accept.split(',').filter((one) => one.split(';')[0]?.trim().toLowerCase() !== EVENT_STREAM);
  return others.length === 0 ? undefined : others.join(',');
}

/** What an answer in JSON is negotiated by for a request that accepts streams. */
export function acceptForJson(request: IncomingMessage): string {
  return acceptBesideStream(request) ?? JSON_TYPE;
}
