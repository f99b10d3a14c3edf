import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { PassThrough, Transform } from 'node:stream';

const delayedBy = (delay: number): Transform =>
  new Transform({ transform: (chunk, _, done) => void setTimeout(done, delay, null, chunk) });

/** A proxy to a database (default: the test database) that can be cut and restored. */
export interface Tunnel extends AsyncDisposable {
  /** Connection string through the tunnel. */
  readonly uri: string;
  cut(): Promise<void>;
  restore(): Promise<void>;
}

/** `delay` is how long the database's answers take, in milliseconds. */
export async function openTunnel(to = process.env.TEST_MONGODB_URI!, { delay = 0 } = {}): Promise<Tunnel> {
  const target = new URL(to);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy()).on('close', () => sockets.delete(one));
    }
    near.pipe(far);
    far.pipe(delay > 0 ? delayedBy(delay) : new PassThrough()).pipe(near);
  });
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const port = await listen(0);
  const uri = new URL(target);
  uri.host = `127.0.0.1:${String(port)}`;
  // a replica set would return its members' addresses, which bypass the proxy
  uri.searchParams.delete('replicaSet');
  uri.searchParams.set('directConnection', 'true');
  const cut = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    uri: uri.href,
    cut,
    [Symbol.asyncDispose]: cut,
    async restore() {
      await listen(port);
    },
  };
}
