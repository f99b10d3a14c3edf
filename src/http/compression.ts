import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Exchange } from './exchange';
import { acceptsGzip } from './requestHead';

/* Compresses the answers of the APIs for callers with a key (docs/decisions/compression.md). */

/** Answers of fewer bytes are sent as they are: with headers, they fit into two packets anyway. */
const LEAST = 2000;
/** From here on, each level takes much more time for a few percent less. */
const LEVEL = 3;
/** How many answers of the process are compressed at once: half of the threads that Node has for this, file access and host names. */
const AT_ONCE = 2;

const zip = promisify(gzip);
let answersInCompression = 0;

/**
 * The bytes to send for an answer of an API: compressed if the caller accepts that, the answer is large enough, and not too many others are
 * being compressed. Sets the headers to match.
 *
 * Not for an answer with an `ETag`, which is strong and names these bytes, nor for one that a browser's cookie can cause: with a secret next
 * to a text of the attacker's choice, its compressed size tells the secret (BREACH).
 */
export async function compress(
  exchange: Pick<Exchange, 'request' | 'response' | 'bodies' | 'address' | 'log'>,
  bytes: Buffer,
): Promise<Buffer> {
  const { request, response, bodies } = exchange;
  if (bytes.length < LEAST || response.hasHeader('ETag')) return bytes;
  response.appendHeader('Vary', 'Accept-Encoding');
  if (answersInCompression >= AT_ONCE || !acceptsGzip(request)) return bytes;
  answersInCompression += 1;
  // both exist until it is done; the answer itself is counted already, so that this cannot be refused
  bodies.holdAnswer(exchange, bytes.length * 2, false);
  try {
    const zipped = await zip(bytes, { level: LEVEL });
    // answered with 503 in the meantime, because it took too long
    if (response.headersSent) return bytes;
    response.setHeader('Content-Encoding', 'gzip');
    bodies.holdAnswer(exchange, zipped.length, false);
    return zipped;
  } finally {
    answersInCompression -= 1;
  }
}
