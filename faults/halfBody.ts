import { connect, type Socket } from 'node:net';

/** A connection that sends the head of a request and less of its body than it announced. */
export interface HalfBody {
  readonly socket: Socket;
  /** Resolves when everything was handed to the system, or the connection ended. */
  readonly sent: Promise<void>;
  /** The status of what it was answered so far; 0 before that. */
  readonly status: () => number;
}

export interface HalfBodyOptions {
  readonly port: number;
  readonly path: string;
  readonly key: string;
  /** What Content-Length says. */
  readonly length: number;
  readonly part: string | Buffer;
}

export function sendHalf({ port, path, key, length, part }: HalfBodyOptions): HalfBody {
  const socket = connect({ host: '127.0.0.1', port });
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
  // a connection that is cut off is what is tried
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
