import { createHash } from 'node:crypto';
import { validationFailed } from '../errors';
import { checkEncoding, checkLength, readRaw } from '../http/body';
import type { Exchange } from '../http/exchange';
import { requireAcceptsJson } from '../http/requestHead';
import type { DataContext } from '../operations/context';
import type { Attachable } from '../schema/attachables';
import { addAttachment, type AttachmentAnswer, readOwner } from '../stored/attachments';
import type { Resource } from '../stored/resource';
import { checkIdempotencyKey } from '../errors/idempotencyKey';
import { MEBIBYTE } from '../units';
import { declaredType, requireType } from './contentTypes';
import { fileNameOf } from './fileName';
import { type Params, readIds } from './parameters';
import { pointsOf } from './points';
import { writeOnce } from './writeOnce';

/** The largest file, in bytes (contract, section 6). */
export const FILE_LIMIT = 10 * MEBIBYTE;

/**
 * Stores the body as an attachment of an object. Before it reads the body, it checks the head and that the object exists; with an Idempotency-Key
 * only the head, since the answer may be that of an earlier request.
 */
export async function upload(
  exchange: Exchange,
  params: Params,
  context: DataContext,
  { add, most }: Attachable,
  resource: Resource,
): Promise<AttachmentAnswer> {
  const { request } = exchange;
  requireAcceptsJson(request);
  checkEncoding(request);
  const type = declaredType(request.headers['content-type']);
  checkLength(request, FILE_LIMIT);
  const { id } = readIds(exchange, params);
  const fileName = fileNameOf(request.headers['content-disposition']);
  // a repeat gets the first answer even if the object is gone by now, and only its body tells that it is one
  if (context.idempotencyKey !== undefined) checkIdempotencyKey(context.idempotencyKey);
  else await readOwner(context, resource, id);
  // one is charged with the request
  const declared = pointsOf(Number(request.headers['content-length'] ?? 0));
  const charge = async (points: number): Promise<void> => {
    if (points > 0) await context.charge(points);
  };
  await charge(declared - 1);
  // a body in chunks does not declare its length, and so pays as it arrives
  const bytes = await readRaw(exchange, FILE_LIMIT, (received) => charge(pointsOf(received) - declared));
  if (bytes.length === 0)
    throw validationFailed([{ pointer: '', code: 'length', detail: 'is empty; send the bytes of the file' }]);
  requireType(type, bytes);
  const sha256 = await digestOf(bytes, context);
  const file = { file_name: fileName, content_type: type, size: bytes.length, sha256 };
  return writeOnce(context, add.name, { id, ...file }, (writing) =>
    addAttachment(writing, resource, { objectId: id, most, bytes, ...file }),
  );
}

/** SHA-256 in hexadecimal digits; other requests have their turn between two mebibytes. */
async function digestOf(bytes: Buffer, { data }: Pick<DataContext, 'data'>): Promise<string> {
  const hash = createHash('sha256');
  const pace = data.pace();
  for (let at = 0; at < bytes.length; at += MEBIBYTE) {
    hash.update(bytes.subarray(at, at + MEBIBYTE));
    const pause = pace();
    if (pause) await pause;
  }
  return hash.digest('hex');
}
