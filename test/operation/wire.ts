import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A connection on which a test says what no HTTP client would. */
export interface Wire {
  readonly socket: Socket;
  readonly send: (text: string) => void;
  /** What came so far, as soon as it matches. */
  until(pattern: RegExp): Promise<string>;
  /** All that came, once the other side has closed. */
  readonly whole: () => Promise<string>;
}

export async function openWire(url: string): Promise<Wire> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  // a reset is an end too; what came before it is judged
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

/** The head of a request, line by line, without its last empty line. */
export function head(line: string, ...headers: string[]): string {
  return [`${line} HTTP/1.1`, 'Host: test', ...headers, ''].join('\r\n');
}
