import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Json } from '../support/client';

export interface Received {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: Json;
}

/** A server that responds as configured; 204 by default. */
export interface Site {
  readonly url: string;
  readonly received: Received[];
  answer: (request: Received, response: ServerResponse) => void;
  close(): Promise<void>;
  /** Listens again on the same port. */
  open(): Promise<void>;
}

const sites: Site[] = [];
export async function closeSites(): Promise<void> {
  for (const site of sites.splice(0)) await site.close();
}

export async function openSite(): Promise<Site> {
  let port = 0;
  let server: Server | undefined;
  const site: Site = {
    get url() {
      return `http://127.0.0.1:${String(port)}/hook`;
    },
    received: [],
    answer: (_request, response) => void response.writeHead(204).end(),
    async close() {
      if (!server?.listening) return;
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
    async open() {
      server = createServer((request, response) => {
        void text(request).then((body) => {
          const got = {
            url: request.url ?? '',
            headers: request.headers,
            body,
            event: body === '' ? undefined : JSON.parse(body),
          };
          site.received.push(got);
          site.answer(got, response);
        });
      }).listen(port, '127.0.0.1');
      await once(server, 'listening');
      port = (server.address() as AddressInfo).port;
    },
  };
  await site.open();
  sites.push(site);
  return site;
}
