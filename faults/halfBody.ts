import { connect, type Socket } from 'node:net';

/** A connection that sends the headers of a request and only part of its body. */
export interface HalfBody {
  readonly socket: Socket;
  /** Resolves when all data are written to the socket, or the connection has ended. */
  readonly sent: Promise<void>;
  /** The status of the answer; 0 as long as there is none. */
  readonly status: () => number;
}

export interface HalfBodyOptions {
  readonly port: number;
  readonly path: string;
  readonly key: string;
  /** The value of Content-Length. */
  readonly length: number;
  readonly part: string | Buffer;
}

export function sendHalf({ port, path, key, length, part }: HalfBodyOptions): HalfBody {
  const socket = connect({ host: '127.0.0.1', port });
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
  // connection resets are part of the test
  socket.on('error', () => socket.destroy());
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: faults',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${String(length)}`,
  ].join('\r\n');
  const sent = new Promise<void>((resolve) => {
    socket.once('close', () => {
      resolve();
    });
    socket.write(`${head}\r\n\r\n`);
    socket.write(part, () => {
      resolve();
    });
  });
  return { socket, sent, status: () => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0) };
}
