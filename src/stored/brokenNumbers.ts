import { NUMBERS } from '../fastReads/rowWriter';
import { AppError, type Fault, shorten } from '../errors';
import { referenceTo, type StoredMember, type StoredType } from '../schema/storedTypes';

/*
 * Numbers that no API can return (NaN, Infinity, or outside the range of their scalar), stored by another program. One such number fails
 * every page that has its object, so the error names the object and the member.
 */

/** The first number of a row that cannot be returned. */
export type FindBroken = (row: object) => Fault | undefined;

/** Anything with a stored type. */
export interface Numbered {
  readonly stored: StoredType;
  /** Undefined if its rows have no numbers. */
  readonly brokenNumber: FindBroken | undefined;
}

type Row = Readonly<Record<string, unknown>>;

/** By scalar: whether a number fits, its range, and its description in messages. */
const SCALARS: Readonly<
  Record<string, readonly [fits: (value: number) => boolean, range: readonly [number, number], words: string]>
> = {
  Minor: [NUMBERS.minor, [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER], 'an integer from -(2^53-1) to 2^53-1'],
  Int: [NUMBERS.int, [-(2 ** 31), 2 ** 31 - 1], 'an integer of 32 bits'],
  Float: [NUMBERS.float, [-Number.MAX_VALUE, Number.MAX_VALUE], 'a finite number'],
};

/** Finds the first broken number of a row, ignoring members that were not read; undefined if the members have no numbers. */
export function brokenNumberIn(members: readonly StoredMember[]): FindBroken | undefined {
  const finders = members.flatMap((member) => finderOf(member) ?? []);
  if (finders.length === 0) return undefined;
  return (row) => {
    for (const find of finders) {
      const found = find(row);
      if (found) return found;
    }
    return undefined;
  };
}

function finderOf({ name, kind, type, isRequired, members }: StoredMember): FindBroken | undefined {
  const inner = kind === 'object' ? brokenNumberIn(members) : undefined;
  const scalar = kind === 'number' ? SCALARS[type] : undefined;
  if (!inner && !scalar) return undefined;
  const check = (value: unknown, place: string): Fault | undefined => {
    if (scalar) {
      const [fits, , words] = scalar;
      if (typeof value === 'number' ? fits(value) : value === undefined || (value === null && !isRequired))
        return undefined;
      return { pointer: place, code: 'range', detail: `is stored as ${shown(value)}, which is not ${words}` };
    }
    const found = typeof value === 'object' && value !== null ? inner?.(value) : undefined;
    return found && { ...found, pointer: place + (found.pointer ?? '') };
  };
  return (row) => {
    const value = (row as Row)[name];
    if (!Array.isArray(value)) return check(value, `/${name}`);
    for (let index = 0; index < value.length; index += 1) {
      const found = check(value[index], `/${name}/${String(index)}`);
      if (found) return found;
    }
    return undefined;
  };
}

/** The value if it is null, a number or of a BSON type; otherwise its JavaScript type. */
function shown(value: unknown): string {
  if (typeof value === 'number' || value === null) return String(value);
  const isOfBson = typeof value === 'object' && '_bsontype' in value;
  return isOfBson ? shorten((value as { toString(): string }).toString()) : `a ${typeof value}`;
}

/** Conditions that each find rows with a required number out of range. */
export function hasBrokenNumber(members: readonly StoredMember[], prefix = ''): object[] {
  return members.flatMap(({ name, type, isRequired, isList, members: inner }): object[] => {
    const path = prefix + name;
    if (!isList && inner.length > 0) return hasBrokenNumber(inner, `${path}.`);
    const within = hasBrokenNumber(inner);
    if (within.length > 0) return within.map((one) => ({ [path]: { $elemMatch: one } }));
    const range = isRequired && !isList ? SCALARS[type]?.[1] : undefined;
    return range ? [{ [path]: { $not: { $gte: range[0], $lte: range[1] } } }] : [];
  });
}

/** @throws AppError invalid_request that names the object and the member if a row has a number that cannot be returned */
export function requireNumbers({ stored: { type }, brokenNumber }: Numbered, row: { readonly _id: string }): void {
  const fault = brokenNumber?.(row);
  if (!fault) return;
  const name = referenceTo(type).replace(/_id$/, '').replaceAll('_', ' ');
  const detail = `The ${name} ${row._id} cannot be returned: ${String(fault.pointer)} ${fault.detail}. Another program wrote it; correct it in the database.`;
  throw new AppError('invalid_request', detail, { errors: [fault] });
}
