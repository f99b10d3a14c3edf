/* Filters of the request log (requestLog.ts). Imports nothing, since the command line's help needs it and must start fast. */

/** The APIs that take keys. */
export const KEY_FACES = ['rest', 'graphql', 'mcp'] as const;
export type KeyFace = (typeof KEY_FACES)[number];

export interface RequestFilters {
  readonly key_id?: string | null | undefined;
  readonly operation?: string | null | undefined;
  readonly face?: KeyFace | null | undefined;
  /** A status (404) or class of statuses (4xx). */
  readonly status?: string | null | undefined;
  /** The error code of the answer. */
  readonly code?: string | null | undefined;
  /** Only requests that failed, or only others (requestRows.ts says when one failed). */
  readonly failed?: boolean | null | undefined;
  readonly request_id?: string | null | undefined;
  /** What requestSearch.ts finds. */
  readonly search?: string | null | undefined;
  /** ISO 8601; the first moment of the period, and the first one after it. */
  readonly since?: string | null | undefined;
  readonly until?: string | null | undefined;
}

/** The first status that a filter matches, and the first one beyond; undefined if the filter is invalid. */
export function statusesOf(filter: string): readonly [from: number, before: number] | undefined {
  const [, hundreds, rest = ''] = /^([1-5])(\d\d|xx)$/i.exec(filter) ?? [];
  if (hundreds === undefined) return undefined;
  const isClass = rest.toLowerCase() === 'xx';
  const from = Number(hundreds) * 100 + (isClass ? 0 : Number(rest));
  return [from, from + (isClass ? 100 : 1)];
}
