import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A raw connection, for sending what an HTTP client would not. */
export interface Wire {
  readonly socket: Socket;
  readonly send: (text: string) => void;
  /** Resolves with everything received so far, once it matches. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves with everything received, once the other side has closed the connection. */
  readonly whole: () => Promise<string>;
}

export async function openWire(url: string): Promise<Wire> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  // a reset counts as an end; tests check what was received before it
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      resolve();
    });
  });
  return {
    socket,
    send: (more) => void socket.write(more),
    async until(pattern) {
      while (!pattern.test(text)) {
        if (socket.closed) throw new Error(`closed after: ${text}`);
        await Promise.race([once(socket, 'data'), closed]);
      }
      return text;
    },
    async whole() {
      await closed;
      return text;
    },
  };
}

/** The request line and headers, without the final empty line. */
export function head(line: string, ...headers: string[]): string {
  return [`${line} HTTP/1.1`, 'Host: test', ...headers, ''].join('\r\n');
}
