import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';

export interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly key?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly body?: string | undefined;
  /** Media type of the body; JSON by default. */
  readonly type?: string;
  /** Whether to use a separate connection. */
  readonly fresh?: boolean;
}

export type Reply =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly body: string;
      readonly ms: number;
    }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      /** Whether the request may have reached the server. */
      readonly mayHaveArrived: boolean;
      readonly ms: number;
    };

export type Answer = Extract<Reply, { kind: 'answer' }>;

/** Sends one request, without retries. Any complete answer counts as one, whatever its status. */
export type Caller = (call: Call, timeoutMs?: number) => Promise<Reply>;

/** Default timeout, in milliseconds. */
const PATIENCE = 60_000;

/** A client with its own keep-alive connections to one port of 127.0.0.1. */
export function createCaller(port: number): Caller {
  const agent = new Agent({ keepAlive: true });
  return (call, timeoutMs = PATIENCE) =>
    new Promise((resolve) => {
      const started = performance.now();
      let isConnected = false;
      const outgoing = request({
        host: '127.0.0.1',
        port,
        method: call.method,
        path: call.path,
        headers: headersOf(call),
        agent: call.fresh ? false : agent,
      });
      const fail = (reason: string): void => {
        clearTimeout(timer);
        resolve({ kind: 'failed', reason, mayHaveArrived: isConnected, ms: performance.now() - started });
      };
      const timer = setTimeout(() => {
        fail('timeout');
        outgoing.destroy();
      }, timeoutMs);
      outgoing.once('socket', (socket) => {
        if (socket.connecting) socket.once('connect', () => (isConnected = true));
        else isConnected = true;
      });
      outgoing.on('error', (error) => {
        fail(reasonOf(error));
      });
      outgoing.once('response', (incoming) => {
        read(incoming).then(
          (body) => {
            clearTimeout(timer);
            const { statusCode = 0, headers } = incoming;
            resolve({ kind: 'answer', status: statusCode, headers, body, ms: performance.now() - started });
          },
          (error: unknown) => {
            fail(`${reasonOf(error)} during the answer`);
          },
        );
      });
      outgoing.end(call.body);
    });
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? String(error.code) : error.message;
}

function headersOf({ key, idempotencyKey, body, type = 'application/json' }: Call): Record<string, string> {
  return {
    accept: 'application/json',
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    ...(body !== undefined && {
      'content-type': type,
      'content-length': String(Buffer.byteLength(body)),
    }),
  };
}

async function read(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  if (!incoming.complete) throw new Error('cut off');
  return Buffer.concat(chunks).toString();
}

/** Whether the status is 2xx. */
export function isSuccess(reply: Reply): boolean {
  return reply.kind === 'answer' && reply.status >= 200 && reply.status < 300;
}

/** The answer if its status is 2xx, which counts as an acknowledgement. */
export function acknowledgement(reply: Reply): Answer | undefined {
  return reply.kind === 'answer' && isSuccess(reply) ? reply : undefined;
}

/** A label for counting: the status with the problem's code, or why there was no answer. */
export function labelOf(reply: Reply): string {
  if (reply.kind === 'failed') return reply.reason;
  if (isSuccess(reply)) return String(reply.status);
  const code = /"code":"(\w+)"/.exec(reply.body)?.[1];
  return code === undefined ? String(reply.status) : `${String(reply.status)} ${code}`;
}

/** Number of occurrences of each label. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(label: string): void {
    this.#counts.set(label, (this.#counts.get(label) ?? 0) + 1);
  }

  count(label: string): number {
    return this.#counts.get(label) ?? 0;
  }

  isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  toString(): string {
    const sorted = [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1));
    return sorted.map(([label, count]) => `${label} × ${count.toLocaleString('en')}`).join(', ') || 'none';
  }
}
