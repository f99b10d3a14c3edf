import { ERROR_CODES } from '../errors';
import { REST_BASE, UUID } from '../units';
import { escapeRegExp } from './keyDocuments';

/* What the text of a search of the request log matches. */

/** A path, with its method or behind its host. */
const METHOD_AND_PATH = /^(?:([a-z]+) +)?(?:https?:\/\/[^/\s]+)?(\/\S*)$/i;
const METHOD = /^(?:get|post|put|patch|delete)$/i;
/** The beginning of an id. */
const HEXADECIMAL = /^[\da-f-]{8,36}$/i;
const TYPE_AND_NAME = /^(query|mutation|subscription) +(\w+)$/;

/** Rows with this path, method, id, error code, operation or operation name: the form of the text decides. */
export function searchCondition(search: string): Record<string, unknown> {
  const text = search.trim();
  const [, method, path] = METHOD_AND_PATH.exec(text) ?? [];
  if (path !== undefined)
    return { path: pathPattern(path), ...(method !== undefined && { method: method.toUpperCase() }) };
  if (METHOD.test(text)) return { method: text.toUpperCase() };
  // of a request, or of an object in a path
  const inPath = { path: segments(text) };
  if (UUID.test(text)) return { $or: [{ request_id: text }, inPath] };
  if (HEXADECIMAL.test(text)) return { $or: [{ request_id: new RegExp(`^${escapeRegExp(text)}`) }, inPath] };
  // the index with `failed` serves it
  if (Object.hasOwn(ERROR_CODES, text)) return { code: text, failed: true };
  const [, operation_type, operation_name] = TYPE_AND_NAME.exec(text) ?? [];
  if (operation_name !== undefined) return { operation_type, operation_name };
  const operation = new RegExp(`(^| )${escapeRegExp(text)}( |$)`);
  return { $or: [{ operation }, { operation_name: text }, { request_id: text }, inPath] };
}

/** Paths with this text from a slash to another one or the end, or with several segments of which the last may go on. */
function segments(text: string): RegExp {
  const end = text.includes('/') || HEXADECIMAL.test(text) ? '' : '(/|$)';
  return new RegExp(`/${escapeRegExp(text)}${end}`);
}

/** Paths that begin with this one, with or without `/api/v1`; the query of a pasted one is left out, since none is stored. */
function pathPattern(path: string): RegExp {
  const [withoutQuery = ''] = path.split('?');
  return new RegExp(`^(${escapeRegExp(REST_BASE)})?${escapeRegExp(withoutQuery)}`);
}
