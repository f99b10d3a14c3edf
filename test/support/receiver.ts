import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Json } from './client';

/** A request as it arrived, such as a delivery of a webhook. */
export interface Arrival {
  readonly url: string;
  readonly id: string;
  readonly event: Json;
  readonly body: string;
  readonly headers: Record<string, string>;
}

/** Answers a request: with a status, or in its own way. */
export type Answer = (arrival: Arrival, response: ServerResponse, request: IncomingMessage) => unknown;

/** A server on this machine that answers as the test wants. */
export interface Receiver {
  readonly url: string;
  /** All requests that arrived, in order. */
  readonly arrived: Arrival[];
  /** The answer from now on; 204 at first. */
  answer: Answer;
  /** From now on leaves requests unanswered. */
  hold(): Held;
  stop(): Promise<void>;
  /** Listens again on the same port. */
  open(): Promise<void>;
}

/** Requests without an answer yet. */
interface Held {
  count(): number;
  release(status?: number): void;
}

const started: Receiver[] = [];

/** Stops all that were started in this file. */
export async function stopReceivers(): Promise<void> {
  for (const one of started.splice(0)) await one.stop();
}

export async function startReceiver(answer: Answer = () => 204): Promise<Receiver> {
  let port = 0;
  let server: Server | undefined;
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const headers = request.headers as Record<string, string>;
    const event = body === '' ? undefined : JSON.parse(body);
    const arrival = { url: request.url!, id: headers['webhook-id']!, event, body, headers };
    receiver.arrived.push(arrival);
    const status = receiver.answer(arrival, response, request);
    if (typeof status === 'number') response.writeHead(status).end();
  }
  const receiver: Receiver = {
    get url() {
      return `http://127.0.0.1:${String(port)}/hook`;
    },
    arrived: [],
    answer,
    hold() {
      const open: ServerResponse[] = [];
      receiver.answer = (_arrival, response) => void open.push(response);
      return {
        count: () => open.length,
        release(status = 204) {
          for (const response of open.splice(0)) response.writeHead(status).end();
        },
      };
    },
    async stop() {
      if (!server?.listening) return;
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
    async open() {
      server = createServer((request, response) => void receive(request, response)).listen(port, '127.0.0.1');
      await once(server, 'listening');
      ({ port } = server.address() as AddressInfo);
    },
  };
  await receiver.open();
  started.push(receiver);
  return receiver;
}

/** Lets a receiver answer everything like this. */
export function answerWith(receiver: Receiver, status: number, text: string): void {
  receiver.answer = (_arrival, response) => {
    response.writeHead(status).end(text);
    return undefined;
  };
}
