import type { Fault } from '../errors';
import type { Arguments, RestOperation } from './routes';

/* `include` of a list adds a field that its rows otherwise lack, such as `lines`: they are then what reading each object would return. */

export const INCLUDE = 'include';

/** Maximum page size with `include`, since each row may have hundreds of lines. */
export const MOST_WITH = 50;

/** Whether the request has `include`. */
export function asksForAll({ include }: Arguments): boolean {
  return include !== undefined;
}

/** Faults of `include`, and of arguments that are too large with it. */
export function includeFaults({ include, limit }: Arguments, { rest: { includes } }: RestOperation): Fault[] {
  if (include === undefined) return [];
  const faults: Fault[] = [];
  if (include !== includes)
    faults.push({ parameter: INCLUDE, code: 'not_allowed', detail: `must be one of ${String(includes)}` });
  if (Number(limit ?? 0) > MOST_WITH)
    faults.push({ parameter: 'limit', code: 'range', detail: `must be <= ${String(MOST_WITH)} with include` });
  return faults;
}
