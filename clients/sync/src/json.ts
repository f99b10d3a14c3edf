import { types } from 'node:util';
import type { Fault } from './source.js';

/** The gateway's limit of a line, in bytes. */
export const LONGEST_LINE = 5 * 2 ** 20;
/** How deep objects are nested at most, and how many faults of a document are told. */
const [DEEPEST, MOST_FAULTS] = [100, 20];

/** Values that `map` returned and that JSON cannot hold. */
export class UnusableError extends TypeError {
  override readonly name = 'UnusableError';
  constructor(readonly errors: Fault['errors']) {
    super(errors.map(({ detail }) => detail).join('; '));
  }
}

export const tooLong = (): RangeError => new RangeError('more than 5 MiB of JSON');

/** What `map` returned as JSON, which has null for some of what it cannot hold. @throws UnusableError, or RangeError if it is too large */
export function jsonOf(mapped: object): string {
  const errors: Fault['errors'][number][] = [];
  const places = new Map<unknown, { readonly pointer: string; readonly depth: number }>();
  let length = 0;
  const text = JSON.stringify(mapped, function (this: Readonly<Record<string, unknown>>, key, value: unknown) {
    const holder = places.get(this);
    const pointer = holder ? `${holder.pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}` : '';
    const depth = holder ? holder.depth + 1 : 0;
    length += key.length + (typeof value === 'string' ? value.length : 1);
    if (length > LONGEST_LINE) throw tooLong();
    if (depth > DEEPEST) throw new RangeError(`${pointer.slice(0, 100)}… is nested more than ${String(DEEPEST)} deep`);
    // `value` is what toJSON returned, null of an invalid date
    const expected = expectedOf(value) ?? expectedOf(this[key]);
    if (expected !== undefined && errors.length < MOST_FAULTS)
      errors.push({ pointer, code: 'map', detail: `${pointer} must be ${expected}` });
    if (typeof value === 'object' && value !== null) places.set(value, { pointer, depth });
    // which JSON.stringify refuses without its pointer
    return typeof value === 'bigint' ? null : value;
  });
  if (errors.length > 0) throw new UnusableError(errors);
  return text;
}

function expectedOf(value: unknown): string | undefined {
  if (typeof value === 'bigint') return 'a number, and is a BigInt';
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a finite number';
  return types.isDate(value) && Number.isNaN(value.getTime()) ? 'a valid date' : undefined;
}
