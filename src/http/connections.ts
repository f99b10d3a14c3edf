import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a connection is left open after it was told to end, so that what the caller still sends does not cut off its answer, in milliseconds. */
const LINGER = 1000;
/** How long the rest of a refused body is read off before that, in all and without a byte of it, in milliseconds (nginx's lingering_time and lingering_timeout). */
const [LONGEST_REST, LONGEST_PAUSE] = [30_000, 5000];

interface Use {
  /** Requests that arrived and are not answered yet. */
  readonly open: Set<ServerResponse>;
  /** The last request, whole or not. */
  last?: IncomingMessage;
  idleSince: number;
  /** Bytes that had come when it fell idle: more of them are a request on its way. */
  bytesRead: number;
}

/** The connections of a server, and what each is doing. */
export interface Connections {
  readonly count: () => number;
  /** Notes a request; while the server drains its answer ends the connection. */
  requestArrived(response: ServerResponse): void;
  /** Whether a connection's answer is on its way, so that nothing else may be written. */
  isAnswering(socket: Socket): boolean;
  /** The last answer of each connection that has not begun, and every later one, tells its caller to use another connection. */
  announceEnd(): void;
  /** Ends connections that have been idle for some milliseconds since the end was announced. */
  endIdle(milliseconds: number): void;
}

export function trackConnections(server: Server): Connections {
  const uses = new Map<Socket, Use>();
  let endingSince: number | undefined;

  server.on('connection', (socket) => {
    const open = new Set<ServerResponse>();
    const use: Use = { open, idleSince: performance.now(), bytesRead: 0 };
    uses.set(socket, use);
    const destroySoon = socket.destroySoon.bind(socket);
    // what Node does after an answer that ends the connection: bytes still unread would make of that a reset, and the answer is lost
    socket.destroySoon = () => {
      if (use.last?.complete === false) endAfterBody(socket, use.last);
      else destroySoon();
    };
    socket.once('close', () => {
      uses.delete(socket);
      // Node tells the one on its way by itself; those behind it, which waited for their turn, it forgets
      process.nextTick(() => {
        for (const response of open) response.emit('close');
      });
    });
  });

  return {
    count: () => uses.size,
    requestArrived(response) {
      // one that has to wait for its turn has no socket of its own yet
      const { socket } = response.req;
      const use = uses.get(socket);
      if (endingSince !== undefined) response.setHeader('Connection', 'close');
      if (!use) return;
      use.open.add(response);
      use.last = response.req;
      response.once('close', () => {
        use.open.delete(response);
        use.idleSince = performance.now();
        use.bytesRead = socket.bytesRead;
      });
    },
    isAnswering: (socket) => [...(uses.get(socket)?.open ?? [])].some(({ headersSent }) => headersSent),
    announceEnd() {
      endingSince ??= performance.now();
      for (const { open } of uses.values()) {
        // of several that wait for their turn, the last: those behind the one that ends the connection would be lost
        const last = [...open].at(-1);
        if (last?.headersSent === false) last.setHeader('Connection', 'close');
      }
    },
    endIdle(milliseconds) {
      const before = performance.now() - milliseconds;
      if (endingSince === undefined || endingSince > before) return;
      for (const [socket, { open, idleSince, bytesRead }] of uses) {
        if (open.size === 0 && idleSince <= before && socket.bytesRead === bytesRead) endGently(socket);
      }
    },
  };
}

/** Ends a connection once the body on it is whole, or takes too long: a client that sends all of it before it reads gets its answer then. */
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

/** Ends our side, and the whole connection when the caller did the same or took too long for it. */
export function endGently(socket: Socket, lastWords?: string): void {
  if (!socket.writable) return;
  if (lastWords !== undefined) socket.write(lastWords);
  socket.end();
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER);
  socket.once('close', () => {
    clearTimeout(timer);
  });
}
