import { invalidRequest } from '../errors';

/** Elements of lists, and members that are lists or objects: more than 1 MiB of bulk calls has, unless they are nearly empty. */
const MOST = 20_000;

/**
 * Refuses variables that are too large together, before they are coerced: each coercion takes a microsecond or more for each element, and
 * there are two or three before the arguments are checked (docs/decisions/loop.md).
 * @throws AppError invalid_request
 */
export function refuseLargeVariables(values: Readonly<Record<string, unknown>>): void {
  let size = 0;

  function add(count: number): void {
    size += count;
    if (size <= MOST) return;
    const detail = `have more than ${MOST.toLocaleString('en')} elements and members that are lists or objects`;
    throw invalidRequest([{ parameter: 'variables', code: 'size', detail }]);
  }

  function look(value: unknown): void {
    if (Array.isArray(value)) {
      add(value.length);
      value.forEach(look);
    } else if (typeof value === 'object' && value !== null) {
      for (const member of Object.values(value)) {
        if (typeof member === 'object' && member !== null) add(1);
        look(member);
      }
    }
  }

  for (const value of Object.values(values)) look(value);
}
