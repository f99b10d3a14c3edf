/*
 * A worker of node:cluster that connects to its own port and closes it while the first process does nothing, so that this has neither
 * accepted the connection nor heard of the close. Its files say when the first process does nothing, and when the port is closed here.
 * It goes on running, and says when its connection ends.
 */
const { existsSync, writeFileSync } = require('node:fs');
const { connect, createServer } = require('node:net');

const [, , blocked, closed] = process.argv;
const server = createServer().listen(0, '127.0.0.1', () => process.send({ test: 'listening' }));

function begin() {
  if (!existsSync(blocked)) return void setImmediate(begin);
  const socket = connect(server.address().port, '127.0.0.1', () => {
    server.close();
    // the message of that goes with the next turn
    setImmediate(() => writeFileSync(closed, ''));
  });
  socket.on('error', () => undefined).on('close', () => process.send({ test: 'ended' }));
}
process.once('message', begin);
