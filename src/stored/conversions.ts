import { accepts, DAY, scalars } from '../schema/scalars';
import type { StoredMember } from '../schema/storedTypes';
import { isEmbedded, numberType } from './invalidRows';

/*
 * Values that another program stored with another type, and of which only one value can have been meant
 * (docs/decisions/invalid-rows.md).
 */

type Members = Readonly<Record<string, unknown>>;

/** The row with such values converted to the types of its members; the row itself if it has none. */
export function converted<T extends object>(row: T, members: readonly StoredMember[]): T {
  const changes: [string, unknown][] = [];
  for (const member of members) {
    const value = (row as Members)[member.name];
    const result = convertedValue(value, member);
    if (result !== value) changes.push([member.name, result]);
  }
  return changes.length === 0 ? row : { ...row, ...Object.fromEntries(changes) };
}

function convertedValue(value: unknown, member: StoredMember): unknown {
  if (member.isList) {
    if (!Array.isArray(value)) return value;
    const elements = value.map((element: unknown) => convertedOne(element, member));
    return elements.every((element, at) => element === value[at]) ? value : elements;
  }
  return convertedOne(value, member);
}

function convertedOne(value: unknown, { kind, type, members }: StoredMember): unknown {
  if (value === undefined || value === null) return value;
  if (kind === 'object') return isEmbedded(value) ? converted(value, members) : value;
  if (kind === 'number') return typeof value === 'number' ? value : (numberOf(value, type) ?? value);
  if (kind === 'dateTime') return typeof value === 'string' && isTime(value) ? timeOf(value) : value;
  if (type === 'Date' && value instanceof Date && !Number.isNaN(value.getTime())) {
    const day = value.toISOString().slice(0, 'YYYY-MM-DD'.length);
    return DAY.test(day) ? day : value;
  }
  return value;
}

/** Types of BSON whose text is a number. */
const NUMERIC: readonly unknown[] = ['Decimal128', 'Long'];
/** Digits that a double holds exactly. */
const MOST_DIGITS = 15;

/** The number that a text, a Decimal128 or a Long says, if the type has it exactly. */
function numberOf(value: unknown, type: string): number | undefined {
  const isNumeric = typeof value === 'string' || NUMERIC.includes((value as { _bsontype?: unknown })._bsontype);
  const match = isNumeric ? /^-?(\d+)(?:\.(\d+))?$/.exec(String(value)) : null;
  if (!match) return undefined;
  const { isWhole, fits } = numberType(type);
  const [text, whole = '', fraction = ''] = match;
  // 5.00 is whole, too
  if (isWhole ? /[1-9]/.test(fraction) : whole.length + fraction.length > MOST_DIGITS) return undefined;
  const number = Number(text);
  return fits(number) ? number : undefined;
}

/** Whether a text is a time with its offset from UTC. */
function isTime(text: string): boolean {
  return !DAY.test(text) && accepts(scalars.DateTime, text);
}

/** The time that a caller's text would be stored as: finer fractions than milliseconds round up. */
function timeOf(text: string): Date {
  return new Date(scalars.DateTime.parseValue(text));
}
