import { type IncomingHttpHeaders, request } from 'node:http';
import { eventually } from './eventually';

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface RawRequest {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  /** An array is sent with chunked encoding, one chunk per buffer. */
  readonly body?: string | Buffer | readonly Buffer[];
}

/** Sends a request with node:http, because fetch sets headers, rejects methods and normalises paths. */
export function raw(url: string, path: string, { method = 'GET', headers = {}, body }: RawRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  // for GET and DELETE Node does not set Content-Length itself
  const length = typeof body === 'string' || Buffer.isBuffer(body) ? { 'content-length': Buffer.byteLength(body) } : {};
  const pieces = Array.isArray(body) ? (body as readonly Buffer[]) : undefined;
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: hostname, port, path, method, headers: { ...length, ...headers }, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      },
    );
    sent.on('error', reject);
    for (const piece of pieces ?? []) sent.write(piece);
    sent.end(pieces ? undefined : body);
  });
}

/** Waits until a gateway is ready: the database has 1.5 s to respond, and the previous test file may have left it busy. */
export async function untilReady({ url }: { readonly url: string }): Promise<void> {
  await eventually(async () => (await raw(url, '/readyz', {})).status === 200);
}
