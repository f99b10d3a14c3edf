import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Json } from '../support/client';

/** A delivery as it arrived. */
export interface Arrival {
  readonly id: string;
  readonly event: Json;
  readonly body: string;
  readonly headers: Record<string, string>;
}

/** Answers a delivery: with a status, or in its own way. */
export type Answer = (arrival: Arrival, response: ServerResponse, request: IncomingMessage) => number | undefined;

export interface Receiver {
  readonly url: string;
  /** All deliveries that arrived, in order. */
  readonly arrived: Arrival[];
  /** The answer from now on; 204 at first. */
  answer: Answer;
  /** Leaves what arrives from now on open. */
  hold(): Held;
  stop(): Promise<void>;
}

/** Deliveries without an answer yet. */
export interface Held {
  /** How many there are. */
  count(): number;
  /** Answers them all. */
  release(status?: number): void;
}

/** A receiver of webhooks on this machine. */
export async function startReceiver(answer: Answer = () => 204): Promise<Receiver> {
  const listener: RequestListener = (request, response) => {
    void buffer(request).then((bytes) => {
      const body = bytes.toString();
      const headers = request.headers as Record<string, string>;
      const arrival = { id: headers['webhook-id']!, event: JSON.parse(body), body, headers };
      receiver.arrived.push(arrival);
      const status = receiver.answer(arrival, response, request);
      if (status !== undefined) response.writeHead(status).end();
    });
  };
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${String(port)}/hook`,
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
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
  return receiver;
}
