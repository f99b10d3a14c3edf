import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AppError, type ErrorCode } from '../../src/errors';
import { errorHeaders, problemText } from '../../src/http/problem';

/** Errors simulated for each route, in order; together, every retryable code. `lost` is an answer that never arrives. */
const OBSTACLES: Readonly<Record<string, readonly (ErrorCode | 'lost')[]>> = {
  'GET /api/v1/me': ['rate_limited', 'internal'],
  'GET /api/v1/orders': ['lost', 'unavailable'],
  'POST /api/v1/products/bulk': ['conflict', 'idempotency_in_progress', 'internal', 'lost'],
};

export const MET: readonly string[] = [...new Set(Object.values(OBSTACLES).flat())];

/** A proxy to the gateway that simulates the errors a client should retry. */
export interface RoughRoad {
  readonly url: string;
  /** `METHOD path: result`, in order of arrival. */
  readonly seen: string[];
  /** Idempotency-Keys of the writes that reached the gateway. */
  readonly idempotencyKeys: (string | undefined)[];
  close(): void;
}

export async function roughRoadTo(gateway: string): Promise<RoughRoad> {
  const seen: string[] = [];
  const idempotencyKeys: (string | undefined)[] = [];
  const met = new Map<string, number>();

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = request;
    const route = `${method} ${path.split('?')[0] ?? ''}`;
    const turn = met.get(route) ?? 0;
    met.set(route, turn + 1);
    const obstacle = OBSTACLES[route]?.[turn];
    if (obstacle !== undefined && obstacle !== 'lost') {
      seen.push(`${route}: ${obstacle}`);
      const error = new AppError(obstacle, 'Again.', {
        reason: 'shed',
        ...(obstacle === 'rate_limited' && { retryAfter: 1 }),
      });
      response
        .writeHead(error.status, { 'content-type': 'application/problem+json', ...errorHeaders(error) })
        .end(problemText(error, randomUUID()));
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { authorization = '', 'content-type': type = '', 'idempotency-key': key } = headers;
    const answer = await fetch(gateway + path, {
      method,
      headers: { authorization, 'content-type': type, ...(key && { 'idempotency-key': String(key) }) },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    if (method === 'POST') idempotencyKeys.push(key as string | undefined);
    if (obstacle === 'lost') {
      seen.push(`${route}: answer lost`);
      request.socket.destroy();
      return;
    }
    seen.push(`${route}: ${String(answer.status)}`);
    const kept = [...answer.headers].filter(([name]) => !['content-encoding', 'transfer-encoding'].includes(name));
    response.writeHead(answer.status, Object.fromEntries(kept)).end(Buffer.from(await answer.arrayBuffer()));
  }

  const server = createServer((request, response) => void pass(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    seen,
    idempotencyKeys,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
