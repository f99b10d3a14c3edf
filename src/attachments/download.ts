import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Exchange } from '../http/exchange';
import type { DataContext } from '../operations/context';
import { digestTag, matchesTag, versionRequired } from '../schema/entityTags';
import { attachmentIn, readOwner } from '../stored/attachments';
import type { Resource } from '../stored/resource';
import { MissingChunks, readFile } from '../tenant/files';
import { MEBIBYTE } from '../units';
import { servedType } from './contentTypes';
import { dispositionOf } from './fileName';
import { readIds, type Params } from './parameters';
import { pointsOf } from './points';
import { notSatisfiable, spanOf } from './range';

/** Memory of a download, in bytes: the mebibyte that is being sent, and the one that is read meanwhile. */
const IN_MEMORY = 2 * MEBIBYTE;

/**
 * Answers with the bytes of an attachment, or a range of them. No browser shows them in its window, whatever they are. `onError` is called if the
 * answer breaks off.
 */
export async function download(
  exchange: Exchange,
  params: Params,
  context: DataContext,
  resource: Resource,
  onError: (error: unknown) => void,
): Promise<void> {
  const { request, response } = exchange;
  const { id, attachmentId } = readIds(exchange, params);
  const row = await readOwner(context, resource, id);
  const attachment = attachmentIn(row, attachmentId);
  const tag = digestTag(Buffer.from(attachment.sha256, 'hex').toString('base64url'));
  const { headers } = request;
  versionRequired({ ifMatch: headers['if-match'] })(() => tag);
  if (matchesTag(headers['if-none-match'], tag)) {
    setVersionHeaders(response, tag);
    response.statusCode = 304;
    response.end();
    return;
  }
  const { size } = attachment;
  // the caller wants a range only if it has other bytes of this version (If-Range)
  const isSameVersion = headers['if-range'] === undefined || headers['if-range'] === tag;
  const span = request.method === 'GET' && isSameVersion ? spanOf(headers.range, size) : undefined;
  if (span === null) throw notSatisfiable(size);
  const { start, end } = span ?? { start: 0, end: size };
  let bytes: Readable | undefined;
  if (request.method !== 'HEAD') {
    // the first point was charged with the request
    const more = pointsOf(end - start) - 1;
    if (more > 0) await context.charge(more);
    exchange.bodies.holdAnswer(exchange, Math.min(end - start, IN_MEMORY));
    const owner = { collection: resource.name, object_id: row._id };
    bytes = await streamOf(readFile(context.data, attachment.id, owner, { start, end })).catch(
      async (error: unknown) => {
        // not_found if it was deleted since its object was read
        if (error instanceof MissingChunks) attachmentIn(await readOwner(context, resource, id), attachmentId);
        throw error;
      },
    );
  }
  // only now, so that no error has the headers of the file
  setVersionHeaders(response, tag);
  response.setHeader('Content-Type', servedType(attachment.content_type));
  response.setHeader('Content-Length', end - start);
  response.setHeader('Content-Disposition', dispositionOf(attachment.file_name));
  response.setHeader('Content-Security-Policy', "sandbox; default-src 'none'");
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Accept-Ranges', 'bytes');
  if (span) response.setHeader('Content-Range', `bytes ${String(start)}-${String(end - 1)}/${String(size)}`);
  response.statusCode = span ? 206 : 200;
  if (!bytes) {
    response.end();
    return;
  }
  // the caller went away during the reads
  if (response.destroyed) {
    bytes.destroy();
    return;
  }
  // not awaited: the request has ended, so that a slow caller does not count as a request that takes too long
  pipeline(bytes, response).catch((error: unknown) => {
    if (!response.destroyed || !isClosedEarly(error)) onError(error);
  });
}

function setVersionHeaders(response: ServerResponse, tag: string): void {
  response.setHeader('ETag', tag);
  response.setHeader('Cache-Control', 'private, no-cache');
}

/** A stream of the pieces, once the first has been read: if that fails, the answer can still be an error. */
async function streamOf(pieces: AsyncGenerator<Buffer>): Promise<Readable> {
  return Readable.from(withFirst(await pieces.next(), pieces));
}

async function* withFirst(first: IteratorResult<Buffer, void>, others: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (first.done) return;
  yield first.value;
  yield* others;
}

/** Whether a caller went away. */
function isClosedEarly(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE';
}
