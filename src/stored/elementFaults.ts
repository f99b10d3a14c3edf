import { type Check, type Fault, type FaultLimits, type Findings, MAX_FAULTS, shorten } from '../errors';
import type { Pace } from '../async/yield';
import { findBrokenTexts, replaceNegativeZero } from './brokenTexts';
import { normaliseKeys } from '../schema/callerKeys';

/* Faults of the elements of a bulk call, and how many of them a response lists. */

/** Maximum faults listed per element, of the {@link MAX_FAULTS} of a call; the rest are counted. */
export const LISTED_OF_ELEMENT = 10;

/** Maximum characters of a caller's key or pointer to repeat: enough for any valid key, and to recognise a member's name. */
const REPEATED_KEY = 64;
const REPEATED_POINTER = 120;

/** How many values are searched for broken texts in an element that has faults already; in others, which the schema bounds, all are. */
const SEARCHED_IF_INVALID = 10_000;

/** An element, validated before any lookup. */
export interface ValidatedElement {
  /** Pointer to the element: /products/3. */
  readonly at: string;
  /** As sent, but with its keys normalised and, if it has no faults, -0 replaced by 0. */
  readonly element: unknown;
  /** The normalised key; null if it is not a string. */
  readonly key: string | null;
  /** The key as sent, truncated for the response. */
  readonly shownKey: string | null;
  /** The first faults, as many as a response can list. */
  readonly faults: readonly Fault[];
  /** The number of all that were found. */
  readonly count: number;
  /** Whether there may be more: counting stops once there are many more than a response can list. */
  readonly isTruncated: boolean;
}

/** Limits for an element while the response has room: how many faults to keep, and how many more to count. */
const ROOMY: FaultLimits = { kept: MAX_FAULTS, counted: MAX_FAULTS };
/** Limits once the response is full: counting all faults of 1,000 elements took most of the time for the worst body. */
const FULL: FaultLimits = { kept: 1, counted: 20 };

interface KeyedList {
  /** The argument with the elements: products, customers. */
  readonly list: string;
  /** The member that identifies an object: sku, external_ref. */
  readonly key: string;
}

/** Validates each element individually, and checks its key against those of earlier elements. */
export async function validateElements(
  elements: readonly unknown[],
  { list, key: keyMember }: KeyedList,
  check: Check,
  pace: Pace,
): Promise<ValidatedElement[]> {
  const indexByKey = new Map<string, number>();
  const validated: ValidatedElement[] = [];
  // faults that the response will list
  let listed = 0;
  for (const [index, sent] of elements.entries()) {
    const pause = pace();
    if (pause) await pause;
    const checkedElement = validateOne(sent, `/${list}/${String(index)}`, keyMember, (element) =>
      faultsIn(element, check, roomAfter(listed)),
    );
    listed += Math.min(LISTED_OF_ELEMENT, checkedElement.count);
    const first = checkedElement.key === null ? undefined : indexByKey.get(checkedElement.key);
    if (checkedElement.key !== null && first === undefined) indexByKey.set(checkedElement.key, index);
    validated.push(first === undefined ? checkedElement : asRepeated(checkedElement, keyMember, first));
  }
  return validated;
}

/** How many faults to find in the next element: those that the response has no room for are only counted. */
export function roomAfter(listed: number): FaultLimits {
  return listed < MAX_FAULTS ? ROOMY : FULL;
}

function validateOne(
  sent: unknown,
  at: string,
  keyMember: string,
  check: (element: unknown) => Findings,
): ValidatedElement {
  const sentKey = isObject(sent) ? sent[keyMember] : undefined;
  if (!isObject(sent) || typeof sentKey !== 'string') {
    return { at, element: sent, key: null, shownKey: null, ...withPointers(checked(sent, check), at) };
  }
  // not its key alone: an element of an own type may have an external_ref as well
  const element = normaliseKeys(sent);
  const key = element[keyMember] as string;
  return { at, element, key, shownKey: repeatedKey(sentKey), ...withPointers(checked(element, check), at) };
}

/** Checks an element, and replaces -0 in a valid one; others may be too large to walk. */
function checked(element: unknown, check: (element: unknown) => Findings): Findings {
  const findings = check(element);
  if (findings.faults.length + findings.more === 0) replaceNegativeZero(element);
  return findings;
}

function asRepeated(validated: ValidatedElement, keyMember: string, firstIndex: number): ValidatedElement {
  const detail = `is the same as in element ${String(firstIndex)} of this call`;
  return withFaults(validated, [{ pointer: `${validated.at}/${keyMember}`, code: 'duplicate', detail }]);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function hasFaultAt(faults: readonly Fault[], pointer: string): boolean {
  return faults.some((fault) => fault.pointer === pointer);
}

export type Faults = Pick<ValidatedElement, 'faults' | 'count' | 'isTruncated'>;

export function withFaults<T extends Faults>(validated: T, more: readonly Fault[]): T {
  if (more.length === 0) return validated;
  return { ...validated, faults: [...validated.faults, ...more], count: validated.count + more.length };
}

/** The faults of a value, with pointers from the root of the call. */
export function faultsAt(at: string, value: unknown, check: Check, room: FaultLimits): Faults {
  return withPointers(faultsIn(value, check, room), at);
}

/** Faults that the schema finds, then broken texts, which it does not. */
function faultsIn(element: unknown, check: Check, room: FaultLimits): Findings {
  const findings = check(element, room);
  if (findings.isTruncated) return findings;
  const isValid = findings.faults.length + findings.more === 0;
  const most = room.kept + room.counted;
  const { faults, isTruncated } = findBrokenTexts(element, most, isValid ? Infinity : SEARCHED_IF_INVALID);
  return { ...findings, faults: [...findings.faults, ...faults], isTruncated };
}

/** Faults with pointers from the root of the call instead of the element, which is `at`. */
function withPointers({ faults: all, more, isTruncated }: Findings, at: string): Faults {
  const faults = all.slice(0, MAX_FAULTS).map((fault) => ({
    ...fault,
    pointer: at + shortened(fault.pointer ?? '', REPEATED_POINTER),
  }));
  return { faults, count: all.length + more, isTruncated };
}

/** A caller's own key as a result repeats it; null if it is not a text. */
export function repeatedKey(sent: unknown): string | null {
  return typeof sent === 'string' ? shortened(sent, REPEATED_KEY) : null;
}

/** Truncates a caller's string, and replaces lone surrogates, as a database does when it stores them. */
function shortened(text: string, most: number): string {
  const cut = shorten(text, most);
  // half an escape would be an invalid pointer
  return cut === text ? text.toWellFormed() : cut.replace(/~…$/, '…');
}

/** Returns a function that gives the faults to list for an element; call it once for each element of the call, in order. */
export function faultLister(): (validated: Faults & Pick<ValidatedElement, 'at'>) => readonly Fault[] {
  let left = MAX_FAULTS;
  return ({ at: pointer, faults, count: all, isTruncated }) => {
    const room = Math.min(left, LISTED_OF_ELEMENT);
    left -= Math.min(room, all);
    const rest = all - room;
    if (rest <= 0) return faults;
    const count = `${isTruncated ? 'at least ' : ''}${String(rest)}${room > 0 ? ' more' : ''} ${rest === 1 ? 'fault' : 'faults'}`;
    const detail = room > 0 ? count : `${count}, not listed: a call lists at most ${String(MAX_FAULTS)}`;
    return [...faults.slice(0, room), { pointer, code: 'more', detail }];
  };
}
