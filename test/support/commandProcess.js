/*
 * Runs command lines one after another in one process, where `node main.js` would need one each: most of a command's time
 * is spent loading modules. Listens on the socket in its arguments; exits when its stdin ends.
 */
const { once } = require('node:events');
const { createServer } = require('node:net');
const { setTimeout: after } = require('node:timers/promises');
const { run } = require('../../dist-test/run.js');

/** How long a command may take to close its resources, in milliseconds. */
const TO_END = 120_000;

/** Resources that would keep a command's process alive; pipes belong to this server. */
const open = () => process.getActiveResourcesInfo().filter((resource) => !resource.startsWith('Pipe'));

function captured(stream) {
  const { write } = stream;
  const said = { text: '', release: () => Object.assign(stream, { write }) };
  stream.write = (chunk, encoding, done) => {
    said.text += Buffer.isBuffer(chunk) ? chunk.toString() : chunk;
    (typeof encoding === 'function' ? encoding : done)?.();
    return true;
  };
  return said;
}

async function ended() {
  for (const started = Date.now(); open().length > 0; await after(5, undefined, { ref: false })) {
    if (Date.now() - started > TO_END)
      throw new Error(`the command does not exit because of open resources: ${open().join(', ')}`);
  }
}

async function runOne({ args, environment, cwd }) {
  process.env = environment;
  process.chdir(cwd);
  const [stdout, stderr] = [captured(process.stdout), captured(process.stderr)];
  try {
    const code = await run([process.execPath, 'scopegate', ...args]);
    await ended();
    return { code, stdout: stdout.text, stderr: stderr.text };
  } finally {
    for (const event of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2', 'uncaughtException'])
      process.removeAllListeners(event);
    for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error');
    stdout.release();
    stderr.release();
  }
}

let last = Promise.resolve();

/** Each connection is for one command line and its result. */
async function serve(socket) {
  const pieces = [];
  socket.on('data', (piece) => pieces.push(piece));
  await once(socket, 'end');
  const order = JSON.parse(Buffer.concat(pieces).toString());
  last = last.then(() => runOne(order)).catch((error) => ({ code: null, stdout: '', stderr: String(error.stack) }));
  socket.end(JSON.stringify(await last));
}

const server = createServer({ allowHalfOpen: true }, (socket) => void serve(socket));
server.listen(process.argv[2]);
void once(server, 'listening').then(() => process.stdout.write('ready\n'));
process.stdin.on('end', () => process.exit()).resume();
