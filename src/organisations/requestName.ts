import { LOGGED_OPERATION_LENGTH, REST_BASE } from '../units';
import type { KeyFace } from './requestFilters';
import type { RequestRow } from './requestRows';

/* How a logged request is shown, by the settings pages and `scopegate logs`. Imports little, since the command line's help needs it and the pages bundle it. */

/** A row as people get it; older rows lack some members. */
export function shownRequest({ _id: id, organisation_id: _, failed: __, ...row }: RequestRow) {
  const { missing_scope = null, operation_type = null, operation_name = null } = row;
  const { elements = null, elements_failed = null } = row;
  return { id, ...row, missing_scope, operation_type, operation_name, elements, elements_failed };
}

interface NamedRequest {
  readonly face: KeyFace;
  readonly method: string;
  readonly path: string;
  readonly operation: string | null;
  readonly operation_type: string | null;
  readonly operation_name: string | null;
}

/** `GET /quotes` of REST, `query SalesByMonth` or the root fields of GraphQL, the tool of MCP; method and path if it failed before that was known. */
export function requestName({ face, method, path, ...request }: NamedRequest): string {
  const { operation } = request;
  if (face === 'rest' || operation === null) return `${method} ${shortPath(path)}`;
  return operationShown({ ...request, operation });
}

/** `query SalesByMonth` if its caller named it; otherwise its root fields, of which at most `most` are shown. */
export function operationShown(
  { operation, operation_type: type, operation_name: name }: Omit<NamedRequest, 'face' | 'method' | 'path'>,
  most?: number,
): string {
  if (name !== null) return `${type ?? 'query'} ${name}`;
  return operation === null ? '' : rootFieldsShown(operation, most);
}

/** The path without `/api/v1`, which all of REST have. */
export const shortPath = (path: string): string =>
  path.startsWith(`${REST_BASE}/`) ? path.slice(REST_BASE.length) : path;

/** Each root field once, and the number of those beyond `most`: `customer ×3`, `quotes, orders +18`. */
function rootFieldsShown(operation: string, most = Infinity): string {
  const fields = operation === '' ? [] : operation.split(' ');
  // longer ones are stored cut to this length; one of exactly this length looks the same
  const isTruncated = operation.length >= LOGGED_OPERATION_LENGTH;
  const counts = new Map<string, number>();
  for (const field of fields) counts.set(field, (counts.get(field) ?? 0) + 1);
  const shown = [...counts].slice(0, most);
  const names = shown.map(([name, count]) => (count > 1 ? `${name} ×${String(count)}` : name)).join(', ');
  const restCount = fields.length - shown.reduce((sum, [, count]) => sum + count, 0);
  return `${names}${restCount > 0 ? ` +${String(restCount)}` : ''}${isTruncated ? '…' : ''}`;
}
