import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { type ConnectionLimitOptions, createConnectionLimit } from '../admission/connectionLimit';
import { plainAddress } from '../auth/addresses';
import { redactPath } from '../log';
import type { Metrics } from '../metrics';
import { type ErrorContent, errorHeaders, problemText } from './problem';

/** How long a connection stays open after we end our side, in milliseconds, so that data still being sent does not cut off the answer. */
const LINGER = 1000;
/** How long the rest of a rejected body is read before our side is ended, in milliseconds (nginx's lingering_time). */
const LONGEST_REST = 30_000;
/** The same between two of its bytes (nginx's lingering_timeout). */
const LONGEST_PAUSE = 5000;
/** Pipelined requests that may wait for the one before them; with more, the connection is closed. */
const MAX_WAITING = 16;

/** Chunks of any size that a body may have (docs/decisions/bodies-and-fairness.md, of this and the next two). */
const FREE_CHUNKS = 2000;
/** The least mean size of the chunks of a body that has more, in bytes: each costs a parser call. */
const MIN_MEAN = 64;
/** How much of a body is read after the answer, in bytes: some callers send everything before they read. */
const MAX_AFTER_ANSWER = 256 * 1024;

interface ConnectionState {
  /**
   * Unanswered requests, in order, each with the function that begins it. Only the first is begun: the answer to a later one could not be
   * sent yet, and would only hold memory.
   */
  readonly open: Map<ServerResponse, () => void>;
  /** The last request, complete or not. */
  last?: IncomingMessage;
  idleSince: number;
  /** Bytes read when the connection became idle; if more have been read since, a request is arriving. */
  bytesRead: number;
}

export type Connections = ReturnType<typeof trackConnections>;

/** Tracks the connections of a server, and answers one request at a time on each. */
export function trackConnections(server: Server, options: ConnectionLimitOptions) {
  const states = new Map<Socket, ConnectionState>();
  const limit = createConnectionLimit(options);
  let endingSince: number | undefined;

  server.on('connection', (socket) => {
    if (!limit.enter(socket)) return;
    const open: ConnectionState['open'] = new Map();
    const state: ConnectionState = { open, idleSince: performance.now(), bytesRead: 0 };
    states.set(socket, state);
    const destroySoon = socket.destroySoon.bind(socket);
    // Node calls this after an answer that ends the connection; with unread bytes it would reset the connection and lose the answer
    socket.destroySoon = () => {
      if (state.last?.complete === false) endAfterBody(socket, state.last);
      else destroySoon();
    };
    socket.once('close', () => {
      states.delete(socket);
      // Node emits `close` for the answer being sent, but not for pipelined ones behind it, nor for one ended without a socket
      process.nextTick(() => {
        for (const response of open.keys()) response.destroy().emit('close');
      });
    });
  });

  return {
    count: (): number => states.size,
    /** Begins a request once the earlier ones on its connection are answered. While the server drains, the answer ends the connection. */
    requestArrived(response: ServerResponse, begin: () => void): void {
      // a pipelined response has no socket yet, so use the request's
      const { socket } = response.req;
      const state = states.get(socket);
      // Node parses everything it has received, even after the connection is closed
      if (!state || !socket.writable) return;
      if (state.open.size > MAX_WAITING) {
        socket.destroy();
        return;
      }
      if (endingSince !== undefined) response.setHeader('Connection', 'close');
      state.open.set(response, begin);
      limit.busy(socket);
      state.last = response.req;
      boundBody(response.req, response, () => {
        endWithoutReading(socket);
      });
      response.once('close', () => {
        state.open.delete(response);
        if (state.open.size === 0) limit.idle(socket);
        state.idleSince = performance.now();
        state.bytesRead = socket.bytesRead;
        const [next] = state.open;
        // a response without a socket was queued behind an answer that ended the connection
        if (next?.[0].socket && !socket.destroyed) next[1]();
      });
      if (state.open.size === 1) begin();
    },
    /** The request that was begun and is not answered. */
    unanswered: (socket: Socket): ServerResponse | undefined => states.get(socket)?.open.keys().next().value,
    /** Whether an answer is being sent, so that nothing else may be written. */
    isAnswering: (socket: Socket) =>
      [...(states.get(socket)?.open.keys() ?? [])].some(({ headersSent }) => headersSent),
    /** From now on, answers close their connections: the last pending answer on each, and every later one. */
    announceEnd(): void {
      endingSince ??= performance.now();
      for (const { open } of states.values()) {
        // only the last of several pipelined answers: those after the one that ends the connection would be lost
        const last = [...open.keys()].at(-1);
        if (last?.headersSent === false) last.setHeader('Connection', 'close');
      }
    },
    /** Ends connections that have been idle for this many milliseconds since the end was announced. */
    endIdle(milliseconds: number): void {
      const before = performance.now() - milliseconds;
      if (endingSince === undefined || endingSince > before) return;
      for (const [socket, { open, idleSince, bytesRead }] of states) {
        if (open.size === 0 && idleSince <= before && socket.bytesRead === bytesRead) endGently(socket);
      }
    },
  };
}

/** Ends a connection once its request body is complete or takes too long, so that clients that send everything before reading get the answer. */
function endAfterBody(socket: Socket, request: IncomingMessage): void {
  const since = performance.now();
  let { bytesRead } = socket;
  const timer = setInterval(() => {
    if (socket.bytesRead === bytesRead || performance.now() - since > LONGEST_REST) end();
    else ({ bytesRead } = socket);
  }, LONGEST_PAUSE);
  function end(): void {
    clearInterval(timer);
    endGently(socket);
  }
  request.once('end', end).once('close', end).resume();
}

/** Ends our side, and the whole connection when the caller does the same or takes too long. */
function endGently(socket: Socket, answer?: string): void {
  if (!socket.writable) return;
  if (answer !== undefined) socket.write(answer);
  endWithoutReading(socket);
  socket.resume();
}

/** Like {@link endGently}, without reading what is still arriving. */
function endWithoutReading(socket: Socket): void {
  if (!socket.writable) return;
  socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER);
  socket.once('close', () => {
    clearTimeout(timer);
  });
}

/** Bounds the work that a body causes, whether or not anything reads it. `stop` is called if too much of it arrives after the answer. */
function boundBody(request: IncomingMessage, response: ServerResponse, stop: () => void): void {
  const { headers, socket } = request;
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return;
  let chunks = 0;
  let bytes = 0;
  let mostRead = Infinity;
  const push = request.push.bind(request);
  // what Node's parser calls for each chunk
  request.push = (chunk: Buffer | null) => {
    if (chunk === null) return push(chunk);
    // Node parses everything it has received
    if (socket.destroyed) return true;
    chunks += 1;
    bytes += chunk.length;
    if (chunks > FREE_CHUNKS && bytes < chunks * MIN_MEAN) {
      socket.destroy();
      return true;
    }
    if (socket.bytesRead <= mostRead) return push(chunk);
    // without a push, Node does not read any more of the body
    stop();
    return false;
  };
  // must run before Node's own listener, after which a body that nobody reads bypasses `push`
  response.prependOnceListener('finish', () => {
    mostRead = socket.bytesRead + MAX_AFTER_ANSWER;
    if (!request.complete) request.resume();
  });
}

/** Responses to parser errors and timeouts, by Node's error code; any other code is a malformed request. */
const REFUSALS: Readonly<Record<string, { status: number; detail: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'The request headers are larger than 16 KiB.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, detail: 'The chunk extensions of the body are too large.' },
  CONNECT: { status: 400, detail: 'CONNECT is not supported: this is no proxy.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The request took too long to arrive.' },
};
const MALFORMED = { status: 400, detail: 'The request is not valid HTTP/1.1.' };

/** Answers invalid HTTP with a problem, logs it, and ends the connection. */
export function refuseBroken(
  server: Server,
  connections: Connections,
  logger: Logger,
  metrics: Pick<Metrics, 'connectionRefused'>,
): void {
  function refuse(socket: Socket, code: string | undefined): void {
    // no response if the caller is gone, or is already receiving one
    if (code === 'ECONNRESET' || !socket.writable || connections.isAnswering(socket)) {
      socket.destroy();
      return;
    }
    const { status, detail } = REFUSALS[code ?? ''] ?? MALFORMED;
    // of a request whose body is late, which gets a line with its caller, too
    const late = status === 408 ? connections.unanswered(socket) : undefined;
    const requestId = (late?.getHeader('X-Request-Id') as string | undefined) ?? randomUUID();
    metrics.connectionRefused(status);
    logger.info({
      request_id: requestId,
      status,
      code: 'invalid_request',
      reason: code,
      ...(late && { method: late.req.method, path: redactPath(late.req.url?.split('?', 1)[0] ?? '') }),
      address: plainAddress(socket.remoteAddress ?? ''),
    });
    endGently(socket, responseText(status, detail, requestId));
  }

  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    refuse(socket as Socket, code);
  });
  // without a listener Node closes the connection
  server.on('connect', (_request, socket) => {
    refuse(socket as Socket, 'CONNECT');
  });
}

function responseText(status: number, detail: string, requestId: string): string {
  const title = STATUS_CODES[status] ?? '';
  const refusal: ErrorContent = { code: 'invalid_request', status, title, detail, extras: {} };
  const body = problemText(refusal, requestId);
  const headers = {
    'Content-Type': 'application/problem+json',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'X-Request-Id': requestId,
    Connection: 'close',
    ...errorHeaders(refusal),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `${[`HTTP/1.1 ${String(status)} ${title}`, ...lines].join('\r\n')}\r\n\r\n${body}`;
}
