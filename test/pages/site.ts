import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createPages, type PagesOptions } from '../../src/pages';
import { raw, type RawAnswer, type RawRequest } from '../http/raw';

/** A browser's Accept header. */
export const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

interface Site {
  call(path: string, request?: RawRequest): Promise<RawAnswer>;
  close(): void;
}

/** Serves the pages on a free port, with the X-Request-Id that the gateway would set. */
export async function startSite(options: Partial<PagesOptions> = {}): Promise<Site> {
  const pages = createPages({ introspection: 'key', ...options });
  const server = createServer((request, response) => {
    response.setHeader('X-Request-Id', 'req-1');
    pages(request, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return { call: (path, request = {}) => raw(url, path, request), close: () => server.close() };
}

/** Sources of each directive of the Content-Security-Policy. */
export function policyOf(headers: IncomingHttpHeaders): Map<string, string[]> {
  const directives = String(headers['content-security-policy']).split(';');
  return new Map(
    directives.map((directive) => directive.trim().split(' ')).map(([name = '', ...sources]) => [name, sources]),
  );
}
