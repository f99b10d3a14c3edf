import { connect, createServer, type Socket } from 'node:net';

/* `tsx bench/servers/delay.ts PORT HOST PORT MS`: what comes to the first port goes on to the address, and back, each MS later. */

const [near, host = '127.0.0.1', far, ms] = process.argv.slice(2);

/** Passes bytes on in their order, each when it is due. */
function pass(from: Socket, to: Socket): void {
  const waiting: { readonly due: number; readonly bytes: Buffer }[] = [];
  const flush = (): void => {
    for (let [first] = waiting; first && first.due <= performance.now(); [first] = waiting) {
      waiting.shift();
      to.write(first.bytes);
    }
    // timers of Node are late by up to a millisecond
    if (waiting.length > 0) setImmediate(flush);
  };
  from
    .setNoDelay()
    .on('data', (bytes) => {
      waiting.push({ due: performance.now() + Number(ms), bytes });
      if (waiting.length === 1) flush();
    })
    .on('error', () => to.destroy())
    .on('close', () => to.destroy());
}

const server = createServer((socket) => {
  const database = connect(Number(far), host);
  pass(socket, database);
  pass(database, socket);
});
server.listen(Number(near), '127.0.0.1', () => process.stdout.write('listening\n'));
