import { createServer, request as send, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createPages, type PagesOptions } from '../../src/pages';

/** A browser's Accept header. */
export const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Call {
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

export interface Site {
  call(path: string, call?: Call): Promise<Answer>;
  close(): void;
}

/** Serves the pages on a free port, with the X-Request-Id that the gateway would set. */
export async function startSite(options: Partial<PagesOptions> = {}): Promise<Site> {
  const pages = createPages({ introspection: 'key', ...options });
  const server = createServer((request, response) => {
    response.setHeader('X-Request-Id', 'req-1');
    pages(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { call: (path, call) => exchange(server, path, call), close: () => server.close() };
}

/** Sources of each directive of the Content-Security-Policy. */
export function policyOf(headers: IncomingHttpHeaders): Map<string, string[]> {
  const directives = String(headers['content-security-policy']).split(';');
  return new Map(
    directives.map((directive) => directive.trim().split(' ')).map(([name = '', ...sources]) => [name, sources]),
  );
}

/** Uses node:http, because fetch sets Host and normalises paths. */
function exchange(server: Server, path: string, { method = 'GET', headers = {} }: Call = {}): Promise<Answer> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const sent = send({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
    });
    sent.on('error', reject).end();
  });
}
