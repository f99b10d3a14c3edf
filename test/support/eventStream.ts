import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { eventually } from '../api/http/eventually';
import type { Json } from './client';

/* A caller of the subscription to events that sees every byte of the stream. */

/** A frame of the stream: the members of Server-Sent Events, with its data parsed. */
export interface Frame {
  readonly id?: string;
  readonly event?: string;
  readonly data?: Json;
}

export interface OpenedStream {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Everything received so far. */
  text(): string;
  /** The complete frames so far, without comments. */
  frames(): Frame[];
  events(): Json[];
  first(count: number): Promise<Json[]>;
  /** Waits for the error that ends it, and returns its extensions. */
  error(): Promise<Json>;
  readonly isOver: () => boolean;
  /** Pauses and resumes reading. */
  pause(): void;
  resume(): void;
  leave(): void;
  reset(): void;
}

export const EVENTS = `subscription($types: [String!], $after: String) {
  events(types: $types, after: $after) { id type occurred_at object { type id } changes status related { type id } gap { from to } origin { kind id name } cursor }
}`;

export interface StreamRequest {
  readonly url: string;
  readonly key?: string | undefined;
  readonly variables?: object;
  readonly query?: string;
  readonly headers?: Record<string, string>;
}

/** Subscribes, and resolves when the stream starts or is rejected. */
export async function subscribe({
  url,
  key,
  variables = {},
  query = EVENTS,
  headers = {},
}: StreamRequest): Promise<OpenedStream> {
  const sent = httpRequest(`${url}/graphql`, {
    method: 'POST',
    agent: false,
    headers: {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...headers,
    },
  });
  sent.end(JSON.stringify({ query, variables }));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  sent.on('error', () => undefined);
  response.on('error', () => undefined);
  let text = '';
  let rest = '';
  const frames: Frame[] = [];
  const events: Json[] = [];
  let isOver = false;
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    const more = blocks.map(parse);
    frames.push(...more);
    events.push(...more.flatMap(({ data }) => (data?.data ? [data.data.events] : [])));
  });
  response.on('close', () => (isOver = true));
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: () => text,
    frames: () => frames,
    events: () => events,
    first: (count) => eventually(() => (events.length >= count ? events : undefined), 60_000),
    error: () =>
      eventually(() => {
        const errors = isOver ? (text.startsWith('{') ? JSON.parse(text) : frames.at(-2)?.data)?.errors : undefined;
        return errors?.[0] && { message: errors[0].message, ...errors[0].extensions };
      }, 30_000),
    isOver: () => isOver,
    pause: () => response.pause(),
    resume: () => response.resume(),
    leave: () => {
      sent.destroy();
    },
    reset: () => {
      sent.socket?.resetAndDestroy();
    },
  };
}

function parse(block: string): Frame {
  const lines = block.split('\n').filter((line) => !line.startsWith(':'));
  const members = lines.map((line): [string, string] => {
    const at = line.indexOf(':');
    return [line.slice(0, at), line.slice(at + 1).trim()];
  });
  const { data, ...others } = Object.fromEntries(members) as Record<string, string>;
  return { ...others, ...(data !== undefined && { data: data === '' ? null : JSON.parse(data) }) };
}
