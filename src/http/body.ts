import type { IncomingMessage } from 'node:http';
import { parse as parseContentType } from 'content-type';
import { AppError, invalidRequest } from '../errors';
import type { Exchange } from './exchange';

/** Largest body of a call, and of a bulk call, in bytes (contract, section 6). */
export const BODY_LIMIT = 1024 * 1024;
export const BULK_BODY_LIMIT = 5 * 1024 * 1024;

/**
 * Refuses a body by its headers: it must be JSON in UTF-8, uncompressed, and within the limit.
 * @throws AppError unsupported_media_type, payload_too_large
 */
export function checkBodyHeaders(request: IncomingMessage, limit: number): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new AppError('unsupported_media_type', 'Send the body uncompressed, without Content-Encoding.');
  }
  if (!isJsonUtf8(request.headers['content-type'])) {
    throw new AppError('unsupported_media_type', 'Send the body as application/json in UTF-8.');
  }
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function isJsonUtf8(header: string | undefined): boolean {
  // what nearly every client sends needs no reading
  if (header === 'application/json') return true;
  try {
    const { type, parameters } = parseContentType(header ?? '');
    return type === 'application/json' && (parameters.charset ?? 'utf-8').toLowerCase() === 'utf-8';
  } catch {
    return false;
  }
}

/**
 * Reads a body as JSON.
 * @throws AppError payload_too_large, or invalid_request when it is no valid UTF-8 or no JSON
 */
export async function readJson(exchange: Exchange, limit: number): Promise<unknown> {
  exchange.isReceiving = true;
  exchange.askForBody();
  const bytes = await readBytes(exchange.request, limit).finally(() => (exchange.isReceiving = false));
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    throw invalidRequest([{ pointer: '', code: 'encoding', detail: 'is not valid UTF-8' }]);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const detail = text.trim() === '' ? 'is empty; send a JSON object' : 'is not valid JSON';
    throw invalidRequest([{ pointer: '', code: 'json', detail }]);
  }
}

/** Collects the body; past the limit it is no longer kept, only waited off, so that the caller can read the answer. */
function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      reject(tooLarge(limit));
    });
    request.once('end', () => {
      resolve(Buffer.concat(chunks));
    });
    request.once('close', () => {
      // comes after the end too, where an error would be made for nobody
      if (request.readableEnded) return;
      reject(invalidRequest([{ pointer: '', code: 'incomplete', detail: 'ended before it was whole' }]));
    });
  });
}

function tooLarge(limit: number): AppError {
  return new AppError('payload_too_large', `The body is larger than ${String(limit / 1024 / 1024)} MiB.`);
}
