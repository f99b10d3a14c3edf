import type { IncomingMessage } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { parse as parseContentType } from 'content-type';
import { AppError, invalidRequest, validationFailed } from '../errors';
import { MEBIBYTE } from '../units';
import { type Checked, checkJson } from './json';
import type { Exchange } from './exchange';
import { GrowingBuffer } from './growingBuffer';

/** Maximum body size of a call, and of a bulk call, in bytes (contract, section 6). */
export const BODY_LIMIT = MEBIBYTE;
export const BULK_BODY_LIMIT = 5 * MEBIBYTE;
/** A request with a body above this size, in bytes, waits for its turn among the organisation's large requests: parsing it takes about 1 ms. */
const LARGE = 64 * 1024;

/**
 * Headers of a 415 (RFC 9110, section 15.5.16; RFC 5789, section 2.2). Those of the encoding or of the type, by which callers can tell what was
 * wrong.
 */
export const BODY_HEADERS = ['Accept-Encoding', 'Accept', 'Accept-Patch'] as const;
const TYPE = 'application/json';

/**
 * Checks a body's headers: it must be JSON (or of another given type) in UTF-8, uncompressed, and within the limit.
 * @throws AppError unsupported_media_type, payload_too_large
 */
export function checkBodyHeaders(request: IncomingMessage, limit: number, wanted = TYPE): void {
  checkEncoding(request);
  if (!isUtf8Of(wanted, request.headers['content-type'])) {
    const accepts = { Accept: wanted, ...(request.method === 'PATCH' && { 'Accept-Patch': wanted }) };
    throw new AppError('unsupported_media_type', `Send the body as ${wanted} in UTF-8.`, { accepts });
  }
  checkLength(request, limit);
}

/** @throws AppError unsupported_media_type if a body is compressed */
export function checkEncoding(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    const accepts = { 'Accept-Encoding': 'identity' };
    throw new AppError('unsupported_media_type', 'Send the body uncompressed, without Content-Encoding.', { accepts });
  }
}

/** @throws AppError payload_too_large if a body says that it is longer than the limit */
export function checkLength(request: IncomingMessage, limit: number): void {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function isUtf8Of(wanted: string, header: string | undefined): boolean {
  // the common case needs no parsing
  if (header === wanted) return true;
  const { type, parameters } = parseContentType(header ?? '');
  return type === wanted && /^utf-?8$/i.test(parameters.charset ?? 'utf-8');
}

/**
 * Reads a body as JSON. Its memory is counted until the exchange is done.
 * @throws AppError payload_too_large; unavailable; invalid_request if it ends early, is not UTF-8 or JSON, or repeats a member;
 * validation_failed if it is nested deeper or has more members than any valid body (json.ts)
 */
export async function readJson(exchange: Exchange, limit: number): Promise<unknown> {
  const bytes = await receive(exchange, limit);
  if (bytes.length > SMALL) await exchange.queue.loopTurn(exchange);
  // counted before the wait, so that one for which there is no room is refused at once
  exchange.bodies.holdBody(exchange, estimateParsedSize(bytes));
  if (bytes.length > LARGE) await exchange.queue.take(exchange, 'body');
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    throw invalidRequest([{ pointer: '', code: 'encoding', detail: 'is not valid UTF-8' }]);
  }
  const checked = await checkInTurns(text);
  const { fault } = checked;
  if (fault) throw fault.code === 'duplicate' ? invalidRequest([fault]) : validationFailed([fault]);
  try {
    return JSON.parse(checked.text) as unknown;
  } catch {
    const detail = text.trim() === '' ? 'is empty; send a JSON object' : 'is not valid JSON';
    throw invalidRequest([{ pointer: '', code: 'json', detail }]);
  }
}

/**
 * Reads a small body as a form. @throws AppError payload_too_large; unavailable; invalid_request if it ends early
 */
export async function readForm(exchange: Exchange, limit: number): Promise<URLSearchParams> {
  return new URLSearchParams((await receive(exchange, limit)).toString());
}

/**
 * Reads a body as it is. Its memory is counted until the exchange is done, twice: it is copied to be stored. `charge` is called with the bytes that
 * were received, also of a body that is refused, whose error then is the one that counts.
 * @throws AppError payload_too_large; unavailable; invalid_request if it ends before it is complete
 */
export async function readRaw(
  exchange: Exchange,
  limit: number,
  charge: (bytes: number) => Promise<void>,
): Promise<Buffer> {
  let received = 0;
  exchange.request.on('data', ({ length }: Buffer) => (received += length));
  const bytes = await receive(exchange, limit).catch(async (error: unknown) => {
    await charge(received).catch(() => undefined);
    throw error;
  });
  await charge(received);
  if (bytes.length > LARGE) await exchange.queue.take(exchange, 'body');
  // counted after the wait, unlike in readJson: files are larger, and would count twice while they wait
  exchange.bodies.holdBody(exchange, 2 * bytes.length);
  return bytes;
}

async function receive(exchange: Exchange, limit: number): Promise<Buffer> {
  exchange.isReceiving = true;
  exchange.askForBody();
  return readBytes(exchange, limit).finally(() => (exchange.isReceiving = false));
}

/** Checks a JSON text. Other requests have a turn after each piece of it and, if it is large, before it is parsed. */
export async function checkInTurns(text: string): Promise<Checked> {
  const pieces = checkJson(text);
  for (;;) {
    const { done, value } = pieces.next();
    if (done && (value.fault !== undefined || text.length <= LARGE)) return value;
    await turn();
    if (done) return value;
  }
}

/** Collects the body. The rest of a rejected body is read and discarded, so that the caller can read the answer. */
function readBytes(exchange: Exchange, limit: number): Promise<Buffer> {
  const { request, bodies } = exchange;
  const most = Math.min(limit, Number(request.headers['content-length'] ?? limit));
  return new Promise((resolve, reject) => {
    // the connection may have closed during the key lookup
    if (request.destroyed) {
      reject(cutOff());
      return;
    }
    let [received, isRefused] = [0, false];
    let whole: Buffer | undefined;
    let collected: GrowingBuffer | undefined;

    function append(chunk: Buffer): void {
      received += chunk.length;
      if (received > limit) throw tooLarge(limit);
      // most bodies arrive in one chunk
      if (chunk.length === most) {
        bodies.holdBody(exchange, most);
        whole = chunk;
        return;
      }
      collected ??= new GrowingBuffer(most, (bytes) => {
        bodies.holdBody(exchange, bytes);
      });
      collected.append(chunk);
    }

    request.on('data', (chunk: Buffer) => {
      if (isRefused) return;
      try {
        append(chunk);
      } catch (error) {
        isRefused = true;
        [whole, collected] = [undefined, undefined];
        bodies.releaseBody(exchange);
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    request.once('end', () => {
      resolve(whole ?? collected?.bytes ?? Buffer.alloc(0));
    });
    request.once('close', () => {
      // also emitted after `end`, where it is not an error
      if (!request.readableEnded) reject(cutOff());
    });
  });
}

function cutOff(): AppError {
  return invalidRequest([{ pointer: '', code: 'incomplete', detail: 'ended before it was complete' }]);
}

/** Bodies of up to this many bytes are counted by their length and wait for no turn of the event loop: parsing them takes too little. */
const SMALL = 4096;
/** Memory that a parsed value takes beyond its text, in bytes; measured: 8 (a number in a list) to 87 (a new name in an object). Not the most, since objects in a list share their names. */
const VALUE_COST = 64;
const [COMMA, BRACKET, BRACE] = [0x2c, 0x5b, 0x7b];

/** Estimates the memory of a JSON text and its parsed values, in bytes. */
export function estimateParsedSize(bytes: Buffer): number {
  if (bytes.length <= SMALL) return bytes.length;
  let values = 0;
  // by index, because iterating takes ten times as long
  for (let at = 0, end = bytes.length; at < end; at += 1) {
    const byte = bytes[at];
    if (byte === COMMA || byte === BRACKET || byte === BRACE) values += 1;
  }
  return bytes.length + VALUE_COST * values;
}

function tooLarge(limit: number): AppError {
  const size = limit < MEBIBYTE ? `${String(limit / 1024)} KiB` : `${String(limit / MEBIBYTE)} MiB`;
  return new AppError('payload_too_large', `The body is larger than ${size}.`);
}
