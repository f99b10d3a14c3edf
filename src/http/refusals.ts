import { randomUUID } from 'node:crypto';
import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { plainAddress } from '../auth/addresses';
import type { Metrics } from '../metrics';
import { type Connections, endGently } from './connections';
import { type ErrorContent, errorHeaders, problemText } from './problem';

/** Responses for errors of Node's parser and timeouts; anything else is a malformed request. */
const REFUSALS: Readonly<Record<string, { status: number; detail: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'The request headers are larger than 16 KiB.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, detail: 'The chunk extensions of the body are too large.' },
  CONNECT: { status: 400, detail: 'CONNECT is not supported: this is no proxy.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The request took too long to arrive.' },
};
const MALFORMED = { status: 400, detail: 'The request is not valid HTTP/1.1.' };

/** Answers invalid HTTP with a problem, logs it, and ends the connection. */
export function refuseBroken(server: Server, connections: Connections, logger: Logger, metrics: Metrics): void {
  function refuse(socket: Socket, code: string | undefined): void {
    // no response if the caller is gone, or is already receiving one
    if (code === 'ECONNRESET' || !socket.writable || connections.isAnswering(socket)) {
      socket.destroy();
      return;
    }
    const { status, detail } = REFUSALS[code ?? ''] ?? MALFORMED;
    const requestId = randomUUID();
    metrics.connectionRefused(status);
    logger.info({
      request_id: requestId,
      status,
      code: 'invalid_request',
      reason: code,
      address: plainAddress(socket.remoteAddress ?? ''),
    });
    endGently(socket, answer(status, detail, requestId));
  }

  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    refuse(socket as Socket, code);
  });
  // without a listener Node closes the connection
  server.on('connect', (_request, socket) => {
    refuse(socket as Socket, 'CONNECT');
  });
}

function answer(status: number, detail: string, requestId: string): string {
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
