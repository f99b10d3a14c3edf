import type { Pace } from '../async/yield';
import type { Check, Fault } from '../errors';
import { LISTED_OF_ELEMENT, roomAfter, faultsAt, type Faults, isObject, withFaults } from '../stored/elementFaults';
import { normalised } from '../schema/callerKeys';
import { METADATA } from '../schema/metadata';
import { escapePointer } from '../schema/validation';
import { replaceNegativeZero } from '../stored/brokenTexts';
import { normaliseIdentifiers } from '../stored/recordSchemas';
import { identityOf, type Kind, type Kinds, MAX_PARTS, type Members } from './kinds';

/* The elements of a call, checked before anything is looked up. */

export const ACTIONS = ['put', 'patch', 'delete'] as const;
export type Action = (typeof ACTIONS)[number];

export interface ValidElement {
  readonly kind: Kind;
  readonly action: Action;
  readonly members: Members;
  readonly version: number | undefined;
}

export interface Element extends Faults {
  /** Pointer to the element: /writes/3. */
  readonly at: string;
  /** The type and the external_ref as sent, for the result. */
  readonly type: unknown;
  readonly ref: unknown;
  /** Undefined if the element has faults. */
  readonly valid: ValidElement | undefined;
}

/** Checks elements as a caller sent them, and normalises those with a known type in place. `placeOf` gives the pointer of each; `check` is that of the input type. */
export async function readElements(
  sent: readonly unknown[],
  placeOf: (index: number) => string,
  { byName }: Kinds,
  check: Check,
  pace: Pace,
): Promise<Element[]> {
  const elements: Element[] = [];
  // faults that the response will list
  let listed = 0;
  for (const [index, element] of sent.entries()) {
    const pause = pace();
    if (pause) await pause;
    const at = placeOf(index);
    const outerFaults = faultsAt(at, withoutMembers(element), check, roomAfter(listed));
    // before members are normalised, since results repeat what was sent
    const { type, ref, actions } = outlineOf(element);
    const kind = typeof type === 'string' ? byName.get(type) : undefined;
    const [action, ...others] = actions;
    const faults: Fault[] = [];
    if (outerFaults.count === 0 && others.length > 0)
      faults.push({ pointer: at, code: 'not_allowed', detail: 'must have only one of put, patch and delete' });
    if (outerFaults.count === 0 && !action)
      faults.push({ pointer: at, code: 'required', detail: 'must have put, patch or delete' });
    const members = action ? ((element as Members)[action] as Record<string, unknown>) : {};
    if (outerFaults.count + faults.length === 0 && kind && action) {
      const place = `${at}/${action}`;
      if (hasMoreValues(members, Math.max(CHECKED_AT_LEAST, kind.mostValues)))
        faults.push({ pointer: place, code: 'size', detail: 'has more values than any valid object' });
      else {
        normaliseIdentifiers(members, kind.resource.stored.members);
        normaliseReferences(kind, members);
        replaceNegativeZero(members);
        faults.push(...memberFaults(kind, action, members, place));
      }
    }
    const checked = withFaults(outerFaults, faults);
    listed += Math.min(LISTED_OF_ELEMENT, checked.count);
    const valid =
      checked.count === 0 && kind && action ? { kind, action, members, version: versionOf(element) } : undefined;
    elements.push({ ...checked, at, type, ref, valid });
  }
  return elements;
}

/**
 * Up to so many values every object is checked, so that one with too many items in a list or keys of metadata gets the fault that names them: more
 * than an order with {@link MAX_PARTS} lines of 11 members, which is the largest of the published types, has.
 */
const CHECKED_AT_LEAST = 20_000;

/** Whether an object has more than `most` values, at any depth; stops once it has. */
function hasMoreValues(object: Members, most: number): boolean {
  let count = 0;
  /** Counts the values inside a value; whether there are too many. */
  const exceeds = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null) return false;
    return Object.values(value).some((member) => (count += 1) > most || exceeds(member));
  };
  return exceeds(object);
}

/** Normalises the external_refs of references. Of an id and an external_ref, a null is as if left out, since some serialisers write every member. */
function normaliseReferences({ references }: Kind, members: Record<string, unknown>): void {
  for (const { member, refMember } of references) {
    const ref = members[refMember];
    if (typeof ref === 'string') members[refMember] = normalised(ref);
    if (ref === null && member in members) members[refMember] = undefined;
    else if (members[member] === null && refMember in members) members[member] = undefined;
  }
}

/** An element with empty objects in place of put, patch and delete: their members are checked later, against the type that it names. */
function withoutMembers(element: unknown): unknown {
  if (!isObject(element)) return element;
  const empty = ACTIONS.filter((action) => isObject(element[action])).map((action) => [action, {}]);
  return { ...element, ...Object.fromEntries(empty) };
}

interface Outline extends Pick<Element, 'type' | 'ref'> {
  /** The actions that it has an object for: one, if it is valid. */
  readonly actions: readonly Action[];
}

/** What an element names, as sent and unchecked. */
export function outlineOf(element: unknown): Outline {
  if (!isObject(element)) return { type: undefined, ref: undefined, actions: [] };
  const actions = ACTIONS.filter((action) => isObject(element[action]));
  const [action] = actions;
  const members = action && (element[action] as Members);
  return { type: element.type, ref: members?.external_ref, actions };
}

function versionOf(element: unknown): number | undefined {
  const { version } = element as { readonly version?: number | null };
  return version ?? undefined;
}

/** Faults of an object's members that a check of the whole record would not find, or find too late. */
function memberFaults(kind: Kind, action: Action, members: Members, at: string): Fault[] {
  const { identities, lists, references } = kind;
  const faults: Fault[] = [];
  if (!identities.some((member) => identityOf(members, member) !== undefined)) {
    const names = identities.join(identities.length > 2 ? ', ' : ' or ');
    faults.push({ pointer: at, code: 'required', detail: `must have a text in ${names}` });
  }
  if (action === 'delete') {
    const unknown = Object.keys(members).filter((name) => !identities.includes(name));
    return [
      ...faults,
      ...unknown.map((name): Fault => {
        return { pointer: `${at}/${escapePointer(name)}`, code: 'unknown', detail: 'is not a known field' };
      }),
    ];
  }
  const { [METADATA]: metadata } = members;
  const { mostPairs } = kind.resource;
  if (isObject(metadata) && Object.keys(metadata).length > mostPairs) {
    const detail = `must not have more than ${String(mostPairs)} keys`;
    faults.push({ pointer: `${at}/${METADATA}`, code: 'length', detail });
  }
  for (const { name } of lists) {
    const list = members[name];
    if (!Array.isArray(list) || list.length <= MAX_PARTS) continue;
    const detail = `must not have more than ${String(MAX_PARTS)} items`;
    faults.push({ pointer: `${at}/${name}`, code: 'length', detail });
  }
  for (const { member, refMember } of references) {
    const ref = members[refMember];
    if (ref === undefined || ref === null) continue;
    const pointer = `${at}/${refMember}`;
    if (typeof ref !== 'string') faults.push({ pointer, code: 'type', detail: 'must be a string' });
    else if (members[member] !== undefined)
      faults.push({ pointer, code: 'not_allowed', detail: `must not be given together with ${member}` });
  }
  return faults;
}
