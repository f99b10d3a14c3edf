import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A Redis, at a port or any free one, that answers each command as the real one answers a wrong password. */
export async function refusingRedis(port = 0) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    // a command is an array of strings: *2, and two lines for each
    socket.on('data', (chunk) => {
      for (const _command of chunk.toString('latin1').matchAll(/^\*\d+\r$/gm))
        socket.write('-WRONGPASS invalid username-password pair or user is disabled.\r\n');
    });
    socket.on('error', () => undefined);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close(): void {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
