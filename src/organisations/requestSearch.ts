import { ERROR_CODES } from '../errors';
import { REST_BASE } from '../units';
import { escapeRegExp } from './keyDocuments';
import { LOGGED_PATH_LENGTH } from './requestRows';

/* What the text of a search of the request log matches. */

/** A path, perhaps after its method, or in a URL. */
const METHOD_AND_PATH = /^(?:([a-z]+) +)?(?:https?:\/\/[^/\s]+)?(\/\S*)$/i;
const METHOD = /^(?:get|head|post|put|patch|delete|options)$/i;
/** A UUID or its beginning: at least the 8 digits of its first group. */
const UUID_START = /^[\da-f-]{8,36}$/i;
const TYPE_AND_NAME = /^(query|mutation|subscription) +(\w+)$/;
/** Where the path of an API begins in a URL: PUBLIC_URL may have a path before it, which a proxy removes, so that no row has it. */
const API_PATH = /\/(?:api\/v1|graphql|mcp)(?:\/|$)/;

/** Rows with this path, method, id, error code, operation or operation name: the form of the text decides. */
export function requestSearchCondition(search: string): Record<string, unknown> {
  const text = search.trim();
  const [, method, path] = METHOD_AND_PATH.exec(text) ?? [];
  if (path !== undefined)
    return { path: pathPattern(path), ...(method !== undefined && { method: method.toUpperCase() }) };
  if (METHOD.test(text)) return { method: text.toUpperCase() };
  if (UUID_START.test(text)) return { $or: [...requestIdsFrom(text), { path: idPattern(text) }] };
  // the index with `failed` serves it
  if (Object.hasOwn(ERROR_CODES, text)) return { code: text, failed: true };
  const [, operation_type, operation_name] = TYPE_AND_NAME.exec(text) ?? [];
  if (operation_name !== undefined) return { operation_type, operation_name };
  // one of the root fields, which spaces separate
  const operation = new RegExp(`(^| )${escapeRegExp(text)}( |$)`);
  return { $or: [{ operation }, { operation_name: text }, { request_id: text }, { path: segmentPattern(text) }] };
}

/** Request ids that begin with this text, as typed or, as we write ids, in lower case: no index serves a pattern that ignores case. */
function requestIdsFrom(text: string): Record<string, unknown>[] {
  return [...new Set([text, text.toLowerCase()])].map((start) => ({ request_id: new RegExp(`^${start}`) }));
}

/** Paths with an id that begins like this, in whatever case the path has it. */
function idPattern(start: string): RegExp {
  return new RegExp(`/${start}`, 'i');
}

/** Paths with this segment; of several (with a slash between), the last may be longer. */
function segmentPattern(text: string): RegExp {
  const path = withoutQuery(text);
  return new RegExp(`/${escapeRegExp(path)}${path.includes('/') ? '' : '(/|$)'}`);
}

/** Paths that begin with this one, with or without `/api/v1`. */
function pathPattern(path: string): RegExp {
  const typed = withoutQuery(path);
  const ofApi = typed.slice(Math.max(0, typed.search(API_PATH)));
  // stored paths are cut at LOGGED_PATH_LENGTH, which may include /api/v1
  const start = ofApi.slice(0, LOGGED_PATH_LENGTH - REST_BASE.length);
  return new RegExp(`^(${escapeRegExp(REST_BASE)})?${escapeRegExp(start)}`);
}

/** A path without the query or fragment that was pasted with it: rows have none. */
function withoutQuery(path: string): string {
  const [start = ''] = path.split(/[?#]/, 1);
  return start;
}
