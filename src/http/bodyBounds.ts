import type { IncomingMessage, ServerResponse } from 'node:http';

/** Chunks of any size in a body; more of them must have this mean size, in bytes, since each costs a call of the parser. */
const [FREE_CHUNKS, LEAST_MEAN] = [2000, 64];
/** How much is read of a body whose request is answered already, in bytes, so that the caller can get to reading the answer. */
const MOST_AFTER = 256 * 1024;

/** Bounds what a request's body makes the server do, whether anything reads it or not: `stop` is called if too much of it follows the answer. */
export function boundBody(request: IncomingMessage, response: ServerResponse, stop: () => void): void {
  const { headers, socket } = request;
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return;
  let [chunks, bytes, mostRead] = [0, 0, Infinity];
  const push = request.push.bind(request);
  // what Node's parser calls for each chunk
  request.push = (chunk: Buffer | null) => {
    if (chunk === null) return push(chunk);
    // what was received is parsed to its end
    if (socket.destroyed) return true;
    chunks += 1;
    bytes += chunk.length;
    if (chunks > FREE_CHUNKS && bytes < chunks * LEAST_MEAN) {
      socket.destroy();
      return true;
    }
    if (socket.bytesRead <= mostRead) return push(chunk);
    // without the push nothing asks for more
    stop();
    return false;
  };
  // before Node's own listener, which would have what nobody reads skip the above
  response.prependOnceListener('finish', () => {
    mostRead = socket.bytesRead + MOST_AFTER;
    if (!request.complete) request.resume();
  });
}
