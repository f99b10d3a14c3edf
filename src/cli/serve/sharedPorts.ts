import cluster, { type Worker } from 'node:cluster';
import type { Server } from 'node:http';
import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { ACCEPT_WITHIN, acceptWaiting, listen, type PortName, type PortOpener } from '../../http/ports';
import { within } from '../../within';

/*
 * The ports of `serve --workers`: the first process accepts connections and gives them to workers. Not node:cluster's own way,
 * because that destroys connections that are on their way when the last worker closes its port, or never answers them.
 */

/** Connections that may wait for a worker that is busy; above that they are closed. */
const MOST_UNTAKEN = 1024;
/** Above the time in which the first process accepts the last connections, in milliseconds. */
const CLOSED_WITHIN = 2 * ACCEPT_WITHIN;

type FromWorker =
  | { readonly scopegate: 'open port'; readonly name: PortName; readonly host: string; readonly port: number }
  /** The number of the last connection that it took, and whether it has room for more. */
  | { readonly scopegate: 'took'; readonly name: PortName; readonly last: number; readonly hasRoom: boolean }
  | { readonly scopegate: 'close port'; readonly name: PortName };

type ToWorker =
  | { readonly scopegate: 'port opened'; readonly name: PortName; readonly url: string }
  | { readonly scopegate: 'port refused'; readonly name: PortName; readonly code: string; readonly message: string }
  /** With the connection; `dropped` is how many were closed since the last one because no worker took them. */
  | { readonly scopegate: 'connection'; readonly name: PortName; readonly number: number; readonly dropped: number }
  | { readonly scopegate: 'port closed'; readonly name: PortName };

/** A connection that was given to a worker. */
interface Given {
  readonly number: number;
  /** Kept open until the worker has it: one that dies before would leave its caller waiting. */
  readonly socket: Socket;
  /** The worker may have read from it. */
  isSent: boolean;
}

interface Member {
  /** Until it closes its port. */
  isOpen: boolean;
  hasRoom: boolean;
  /** Connections given that it has not told to have taken, in their order. */
  readonly untaken: Given[];
}

/** Opens ports for the workers of this process, and closes each when the last worker has closed it. */
export function sharePorts(): void {
  const ports = new Map<PortName, ReturnType<typeof sharedPort>>();
  const portOf = (name: PortName) => {
    const port = ports.get(name) ?? sharedPort(name);
    ports.set(name, port);
    return port;
  };
  cluster.on('exit', (worker) => {
    for (const port of ports.values()) port.ended(worker);
  });
  cluster.on('message', (worker, message: FromWorker) => {
    switch (message.scopegate) {
      case 'open port':
        void portOf(message.name).open(worker, message);
        break;
      case 'took':
        portOf(message.name).took(worker, message);
        break;
      case 'close port':
        void portOf(message.name).close(worker);
    }
  });
}

function sharedPort(name: PortName) {
  /** Until they end, in the order of their last connection. */
  const members = new Map<Worker, Member>();
  let listener: { readonly server: NetServer; readonly url: Promise<string> } | undefined;
  /** What PORT=0 has picked, for a worker that comes when the port is closed because all others died. */
  let picked: number | undefined;
  let dropped = 0;
  let given = 0;

  const openMembers = (): [Worker, Member][] => [...members].filter(([, { isOpen }]) => isOpen);

  /** The one that has room and the fewest untaken connections, and of several the one that waits the longest. */
  function next(): [Worker, Member] | undefined {
    let best: [Worker, Member] | undefined;
    for (const entry of openMembers()) {
      if (!best || rank(entry[1]) < rank(best[1])) best = entry;
    }
    return best;
  }

  function give(socket: Socket): void {
    const [worker, member] = next() ?? [];
    if (!worker || !member || member.untaken.length >= MOST_UNTAKEN) {
      dropped += 1;
      socket.destroy();
      return;
    }
    members.delete(worker);
    members.set(worker, member);
    given += 1;
    const one = { number: given, socket, isSent: false };
    member.untaken.push(one);
    const message = { scopegate: 'connection', name, number: given, dropped } satisfies ToWorker;
    worker.send(message, socket, { keepOpen: true }, (error) => {
      one.isSent = !error;
    });
    dropped = 0;
  }

  function start(host: string, port: number) {
    // the worker reads, and finds all that was sent
    const server = createServer({ pauseOnConnect: true, noDelay: true }, give);
    return { server, url: listen(server, { host, port: picked ?? port }) };
  }

  /** Gives it no more connections. */
  function leave(member: Member): void {
    if (!member.isOpen) return;
    member.isOpen = false;
    if (openMembers().length > 0) return;
    listener?.server.close();
    listener = undefined;
  }

  return {
    async open(worker: Worker, { host, port }: { readonly host: string; readonly port: number }): Promise<void> {
      listener ??= start(host, port);
      try {
        const url = await listener.url;
        if (!worker.isConnected()) return;
        // not by URL, which leaves out port 80
        picked = Number(url.slice(url.lastIndexOf(':') + 1));
        members.set(worker, { isOpen: true, hasRoom: true, untaken: [] });
        tell(worker, { scopegate: 'port opened', name, url });
      } catch (error) {
        listener = undefined;
        const { code = '', message } = error as NodeJS.ErrnoException;
        tell(worker, { scopegate: 'port refused', name, code, message });
      }
    },
    took(worker: Worker, { last, hasRoom }: { readonly last: number; readonly hasRoom: boolean }): void {
      const member = members.get(worker);
      if (!member) return;
      member.hasRoom = hasRoom;
      while (member.untaken[0] && member.untaken[0].number <= last) member.untaken.shift()?.socket.destroy();
    },
    async close(worker: Worker): Promise<void> {
      const member = members.get(worker);
      // somebody has to take what the system has already accepted
      if (member?.isOpen && openMembers().length === 1 && listener) await acceptWaiting(listener.server);
      if (member) leave(member);
      tell(worker, { scopegate: 'port closed', name });
    },
    ended(worker: Worker): void {
      const member = members.get(worker);
      if (!member) return;
      members.delete(worker);
      leave(member);
      for (const { socket, isSent } of member.untaken) {
        if (isSent) socket.destroy();
        else give(socket);
      }
    },
  };
}

const rank = ({ untaken, hasRoom }: Member): number => untaken.length + (hasRoom ? 0 : MOST_UNTAKEN);

/** Opens ports through the first process, for a worker. */
export const portOfFirstProcess: PortOpener = (server, wish) =>
  new Promise((resolve, reject) => {
    const { name } = wish;
    let open = 0;
    let last = 0;
    let saidRoom = true;
    let onClosed: () => void = () => undefined;
    const hasRoom = (): boolean => open < server.maxConnections;

    function took(): void {
      saidRoom = hasRoom();
      say({ scopegate: 'took', name, last, hasRoom: saidRoom });
    }

    function take(socket: Socket | undefined): void {
      // one that was closed on its way is none
      if (socket && !hasRoom()) drop(server, socket);
      else if (socket) {
        open += 1;
        socket.once('close', () => {
          open -= 1;
          if (!saidRoom && hasRoom()) took();
        });
        // as on connections that http accepts
        socket.allowHalfOpen = true;
        server.emit('connection', socket);
      }
      took();
    }

    process.on('message', (message: ToWorker, socket?: Socket) => {
      if (message.name !== name) return;
      switch (message.scopegate) {
        case 'port opened':
          // http starts its timers then
          server.emit('listening');
          resolve({ url: message.url, close });
          break;
        case 'port refused':
          reject(Object.assign(new Error(message.message), { code: message.code }));
          break;
        case 'connection':
          for (let one = 0; one < message.dropped; one += 1) server.emit('drop');
          last = message.number;
          take(socket);
          break;
        case 'port closed':
          onClosed();
      }
    });
    say({ scopegate: 'open port', ...wish });

    async function close(): Promise<void> {
      const closed = new Promise<void>((done) => {
        onClosed = done;
        // the port ends with the first process
        process.once('disconnect', done);
        if (!process.connected) done();
      });
      say({ scopegate: 'close port', name });
      await within(CLOSED_WITHIN, closed).catch(() => undefined);
    }
  });

function drop(server: Server, socket: Socket): void {
  socket.destroy();
  server.emit('drop');
}

function say(message: FromWorker): void {
  // one that cannot be sent is to a process that has died
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message);
}
