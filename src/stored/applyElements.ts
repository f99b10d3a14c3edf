import { randomUUID } from 'node:crypto';
import type { ClientSession } from 'mongoose';
import { atMost, READ_TIMEOUT } from '../mongo/native';
import { anyOf, readByKeys } from '../mongo/readRows';
import type { Fault } from '../errors';
import type { DataContext } from '../operations/context';
import type { BulkUpsert, Merge, Outcome } from '../schema/upserts';
import { brokenRules } from './brokenRules';
import { takenFault } from './change';
import { hasFaultAt, isObject, type ValidatedElement, withFaults } from './elementFaults';
import { erasedCustomerFault, erasedCustomersOf, hasPersonalData } from './erasedCustomers';
import { metadataFaults, tooManyPairs, withMetadata } from './metadata';
import { erasedReferences, type Reference, referenceChecks } from './referenceFaults';
import type { Resource, Row } from './resource';
import { changedAt, erasedFault, isSameRow, type RowChange, writeRows } from './rows';
import { uniqueClaims } from './uniqueClaims';

/* Applies the elements of a bulk upsert in pieces, so that a call keeps no more rows in memory than fit into one. */

/** A row of a type that bulk calls write. */
export interface BulkRow extends Row {
  readonly created_at: Date;
  /** Undefined in types without it. */
  readonly updated_at?: Date;
}

/** What the SDL says about a call, and the resource that it writes. */
export interface Bulk extends BulkUpsert {
  readonly collection: Resource<BulkRow>;
  readonly merge: Merge;
  readonly references: readonly Reference[];
  /** Checks that span several of the given members; pointers are relative to the element. */
  readonly rules?: ((input: unknown) => readonly Fault[]) | undefined;
}

/** What becomes of an element, with all of its faults. */
export interface Step {
  readonly checked: ValidatedElement;
  readonly outcome: Outcome;
  /** Undefined if it failed. */
  readonly id?: string;
}

/** What was looked up for a piece of elements. */
interface Looked {
  readonly erasedCustomers: ReadonlySet<string>;
  /** Keys that objects have which the caller may not know. */
  readonly taken: ReadonlySet<string>;
}

/** What an element stores. */
interface StoredChange extends RowChange<BulkRow> {
  readonly row: BulkRow;
  readonly element: ValidatedElement;
  /** Of the element in the call. */
  readonly index: number;
}

interface ApplyOptions {
  readonly session: ClientSession;
  /** The time of the write, by the database's clock. */
  readonly now: Date;
  readonly dryRun: boolean;
  readonly isAtomic: boolean;
}

/**
 * Reads, compares and writes in pieces. Returns a step for each element, in their order. If the call is atomic and one has failed, earlier pieces are
 * written already: the caller must abort the transaction.
 */
export async function applyElements(
  { data, principal, holdRows }: DataContext,
  spec: Bulk,
  validated: readonly ValidatedElement[],
  { session, now, dryRun, isAtomic }: ApplyOptions,
): Promise<Step[]> {
  const steps: Step[] = [];
  const collection = data.collection(spec.collection);
  const reading = data.reading(holdRows);
  const pace = data.pace();
  // not every own type has it
  const hasTime = spec.stored.members.some(({ name }) => name === 'updated_at');
  let hasFailed = false;
  const valid = validated.filter(({ count }) => count === 0).map(({ element }) => element);
  const checkReferences = await referenceChecks(data, spec.references, valid, session);
  const referenceFaultsOf = ({ element, at, count }: ValidatedElement, existing: BulkRow | undefined): Fault[] =>
    count === 0 ? checkReferences(element, at, existing) : [];

  /** Which of the keys without an object that the caller's key has are those of other objects: it cannot be hidden that they are taken. */
  async function takenKeys(keys: readonly string[]): Promise<ReadonlySet<string>> {
    if (!data.customerIds || keys.length === 0) return new Set();
    const projection = { [spec.key]: 1 };
    const options = { session, projection, maxTimeMS: READ_TIMEOUT, ...atMost(keys.length) };
    const others = data.whole.collection(spec.collection).find({ [spec.key]: anyOf(keys) } as object, options);
    return new Set((await others.toArray()).map((row) => keyOf(row, spec)));
  }

  /** Decides what becomes of an element. Returns the row to store, if any. */
  function decide(
    index: number,
    element: ValidatedElement,
    existing: BulkRow | undefined,
    { erasedCustomers, taken }: Looked,
  ): StoredChange[] {
    const compared = withFaults(element, [
      ...faultsBeside(existing, element, spec),
      ...referenceFaultsOf(element, existing),
    ]);
    const checked = withRules(compared, spec);
    if (checked.count > 0) return fail(index, checked);
    const input = checked.element as Readonly<Record<string, unknown>>;
    const merged = withMetadata(spec.merge(existing, input, principal.organisation), input, existing);
    const tooMany = tooManyPairs(merged, existing, spec.collection.mostPairs);
    if (tooMany.length > 0) return fail(index, withOwnFaults(checked, tooMany));
    const { outcome, row, before } = stepOf(existing, merged, now, hasTime);
    if (outcome === 'unchanged') {
      steps[index] = { checked, outcome, id: row._id };
      return [];
    }
    const erased = erasedReferences(checkReferences, checked.element, checked.at);
    if (erased.length > 0) return fail(index, withFaults(checked, erased));
    const personal = hasPersonalData(spec.collection, row)
      ? erasedCustomerFault(spec.collection, row, erasedCustomers, checked.at)
      : undefined;
    if (personal) return fail(index, withFaults(checked, [personal]));
    const broken = brokenRules(spec.collection, row);
    if (broken.length > 0) return fail(index, withOwnFaults(checked, broken));
    // storing the row would refuse the whole call
    const notOwn = data.restrictionFault(spec.collection, row);
    if (notOwn) return fail(index, withOwnFaults(checked, [notOwn]));
    if (element.key !== null && taken.has(element.key))
      return fail(index, withOwnFaults(checked, [takenFault(spec, spec.key)]));
    steps[index] = { checked, outcome, id: row._id };
    return [{ index, element: checked, row, before }];
  }

  async function apply(
    rowsByKey: ReadonlyMap<string, BulkRow>,
    indexes: Iterable<number>,
    taken: ReadonlySet<string> = new Set(),
  ): Promise<void> {
    const changes: StoredChange[] = [];
    const erasedCustomers = await erasedCustomersOf(data, spec.collection, rowsByKey.values(), session);
    const looked = { erasedCustomers, taken };
    for (const index of indexes) {
      const pause = pace();
      if (pause) await pause;
      const element = validated[index];
      if (element) changes.push(...decide(index, element, rowsByKey.get(element.key ?? ''), looked));
    }
    const untaken = await withoutTaken(changes);
    if (!dryRun && !(isAtomic && hasFailed)) await writeRows(collection, untaken, { ordered: false, session, pace });
  }

  /** The changes without those that give a row a value, other than the key, that another has, also if this call changes that one. */
  async function withoutTaken(changes: readonly StoredChange[]): Promise<StoredChange[]> {
    const claims = await uniqueClaims(data.whole, spec.collection, changes, { session, except: spec.key });
    return changes.filter(({ index, element, row }) => {
      const taken = claims.filter(({ ownerOf }) => ownerOf(row) !== undefined);
      const faults = taken.map(({ member }) => takenFault(spec, member));
      if (faults.length > 0) fail(index, withOwnFaults(element, faults));
      else for (const { take } of claims) take(row);
      return faults.length === 0;
    });
  }

  /** Nothing is stored of a failed element. */
  function fail(index: number, checked: ValidatedElement): [] {
    hasFailed = true;
    steps[index] = { checked, outcome: 'failed' };
    return [];
  }

  const byKey = indexesByKey(validated, spec);
  // without a key there is no row to read: these fail, with all of their faults
  await apply(new Map(), byKey.get(null) ?? []);
  byKey.delete(null);
  const keyedFind = { member: spec.key, keys: [...byKey.keys()] as string[], session };
  for await (const { rows, keys, held } of readByKeys(collection, keyedFind, reading)) {
    const rowsByKey = new Map(rows.map((row) => [keyOf(row, spec), row]));
    const indexes = [...keys].flatMap((key) => byKey.get(key) ?? []);
    const store = async (): Promise<void> =>
      apply(rowsByKey, indexes, await takenKeys([...keys].filter((key) => !rowsByKey.has(key))));
    await store().finally(() => holdRows?.(-held));
  }
  return steps;
}

const keyOf = (row: object, { key }: Pick<BulkUpsert, 'key'>): string =>
  (row as Readonly<Record<string, unknown>>)[key] as string;

/** The positions of elements by the key to look up; null for those whose key is invalid. */
function indexesByKey(
  validated: readonly ValidatedElement[],
  { key: member }: Pick<BulkUpsert, 'key'>,
): Map<string | null, number[]> {
  const isValid = ({ at, faults }: ValidatedElement): boolean => !hasFaultAt(faults, `${at}/${member}`);
  const validKeys = new Set(validated.filter(isValid).map(({ key }) => key));
  const indexes = new Map<string | null, number[]>();
  for (const [index, { key }] of validated.entries()) {
    // an element that repeats a valid key has a fault there, but its other faults depend on the same object
    const keyToFind = validKeys.has(key) ? key : null;
    const others = indexes.get(keyToFind);
    if (others) others.push(index);
    else indexes.set(keyToFind, [index]);
  }
  return indexes;
}

/** Adds the faults found by the rules across members, which apply only to an element with no other faults. */
function withRules(validated: ValidatedElement, { rules }: Pick<Bulk, 'rules'>): ValidatedElement {
  if (validated.count > 0) return validated;
  const faults = [
    ...metadataFaults(validated.element as Readonly<Record<string, unknown>>),
    ...(rules?.(validated.element) ?? []),
  ];
  return withOwnFaults(validated, faults);
}

/** Adds faults whose pointers are relative to the element. */
function withOwnFaults(validated: ValidatedElement, faults: readonly Fault[]): ValidatedElement {
  return withFaults(
    validated,
    faults.map((fault) => ({ ...fault, pointer: validated.at + (fault.pointer ?? '') })),
  );
}

/** Faults of an element in relation to the existing object with its key, if any. */
function faultsBeside(
  existing: BulkRow | undefined,
  { at, element, key, faults }: ValidatedElement,
  { key: member, needed, stored }: Pick<BulkUpsert, 'key' | 'needed' | 'stored'>,
): Fault[] {
  if (!isObject(element)) return [];
  const erased = erasedFault(existing, at);
  if (erased) return [erased];
  const before = existing as Readonly<Record<string, unknown>> | undefined;
  // another program may have stored a row without it
  const isLacking = (name: string): boolean =>
    (before?.[name] ?? null) === null && stored.members.some((one) => one.name === name && one.isRequired);
  const missingMembers = needed.filter((name) => element[name] === undefined && (!before || isLacking(name)));
  const missingFaults = missingMembers.map((name): Fault => {
    const detail = existing ? 'is required, since the stored object lacks it' : 'is required for a new object';
    return { pointer: `${at}/${name}`, code: 'required', detail };
  });
  const { id } = element;
  const isComparable = typeof id === 'string' && key !== null && !hasFaultAt(faults, `${at}/id`);
  if (isComparable && id.toLowerCase() !== existing?._id) {
    const detail = existing
      ? `is not the id of the object with this ${member}`
      : `must not be set: there is no object with this ${member} yet`;
    missingFaults.push({ pointer: `${at}/id`, code: 'conflict', detail });
  }
  return missingFaults;
}

/** What the merge of an element changes; an unchanged row is returned as it is. `hasTime`: whether the type has an updated_at. */
function stepOf(
  existing: BulkRow | undefined,
  merged: object,
  now: Date,
  hasTime: boolean,
): RowChange<BulkRow> & { readonly row: BulkRow; readonly outcome: Outcome } {
  if (!existing) {
    const row = { _id: randomUUID(), ...merged, created_at: now, ...(hasTime && { updated_at: now }) };
    return { outcome: 'created', row, before: undefined };
  }
  const { _id, created_at, updated_at } = existing;
  const mergedRow = { _id, ...merged, created_at, ...(updated_at !== undefined && { updated_at }) };
  if (isSameRow(existing, mergedRow)) return { outcome: 'unchanged', row: existing, before: existing };
  const row = Object.assign(mergedRow, hasTime && { updated_at: changedAt(updated_at, now) });
  return { outcome: 'updated', row, before: existing };
}
