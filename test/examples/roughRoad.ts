import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a client meets now and then, put in its way: every route first says 429, and the answer to the first write is lost. */
export interface RoughRoad {
  readonly url: string;
  /** `METHOD path: what became of it`, in the order of arrival. */
  readonly seen: string[];
  /** Idempotency-Keys of the writes that came through. */
  readonly idempotencyKeys: (string | undefined)[];
  close(): void;
}

export async function roughRoadTo(gateway: string, { losesAnswers }: { losesAnswers: boolean }): Promise<RoughRoad> {
  const seen: string[] = [];
  const idempotencyKeys: (string | undefined)[] = [];
  const refused = new Set<string>();
  let mayLose = losesAnswers;

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = request;
    const route = `${method} ${path.split('?')[0] ?? ''}`;
    if (!refused.has(route)) {
      refused.add(route);
      seen.push(`${route}: refused`);
      const problem = { type: '/errors/rate_limited', title: 'Too many requests', status: 429, code: 'rate_limited' };
      response
        .writeHead(429, { 'content-type': 'application/problem+json', 'retry-after': '1' })
        .end(JSON.stringify({ ...problem, detail: 'Wait.', request_id: randomUUID() }));
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
    if (method === 'POST' && mayLose) {
      mayLose = false;
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
