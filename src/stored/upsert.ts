import { randomUUID } from 'node:crypto';
import type { ClientSession } from 'mongoose';
import type { RequestContext } from '../operations/context';
import { isDuplicateKey, isWriteConflict } from '../database/faults';
import { pieceOf, readPiece } from '../database/readRows';
import { AppError, type Check, type Fault, validationFailed } from '../errors';
import type { Resolver, Resolvers } from '../operations/run';
import { published } from '../schema/model';
import type { BulkUpsert, Merge, Outcome } from '../schema/upserts';
import { type ChangeArguments, changeObject } from './change';
import type { Resource } from './resource';
import { admitChanges, noteChanges } from './unrecorded';
import { changedAt, erasedFault, isSameRow, type RowChange, writeRows } from './rows';
import {
  faultLister,
  hasFaultAt,
  isObject,
  validateElements,
  type ValidatedElement,
  LISTED_OF_CALL,
  withFaults,
} from './elementFaults';

/**
 * Bulk upserts (contract, section 3): reads existing objects, compares, and writes only changes, in one transaction, a piece at a time, so
 * that a call keeps no more rows in memory than fit into a piece. An invalid element fails on its own unless the call is atomic.
 */

interface Stored {
  readonly _id: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface UpsertSpec<Document extends Stored, Input extends object> {
  readonly collection: Resource<Document>;
  /** The object to store, based on `existing` if there is one; the write adds its id and times. */
  readonly merge: (
    existing: Document | undefined,
    input: Input,
    organisation: RequestContext['principal']['organisation'],
  ) => Omit<Document, keyof Stored>;
  /** Checks that span several of the given members; pointers are relative to the input. */
  readonly rules?: (given: Input) => readonly Fault[];
}

/** The spec, with what the SDL says about the call. */
type Bulk<Document extends Stored, Input extends object> = UpsertSpec<Document, Input> & BulkUpsert;

interface UpsertResult {
  readonly index: number;
  readonly key: string | null;
  readonly id: string | null;
  readonly outcome: Outcome;
  readonly errors: readonly Fault[];
}

type UpsertReport = Record<Outcome, number> & { results: UpsertResult[] };

/** Elements per point, rounded up (contract, section 6). */
const ELEMENTS_PER_POINT = 100;
/** A call with more elements than this waits for its turn among the organisation's large requests, however short they are. */
const SMALL_CALL = 100;
/** How often a call is attempted if other calls store the same keys at the same time. */
const ATTEMPTS = 5;

/**
 * Resolvers for a collection: its bulk call (the mutation whose list argument has the collection's name), the key in that call's results,
 * and the PATCH of one object, which works like the bulk call except that it may change the key.
 * @throws Error if the SDL has no such call: the server must not start
 */
export function upsertResolvers<Document extends Stored, Input extends object>(
  spec: UpsertSpec<Document, Input>,
): Resolvers {
  const { name } = spec.collection;
  const call = published.upserts.find(({ list }) => list === name);
  if (!call)
    throw new Error(`schema/ has no mutation that takes ${name} with @per_element and matches a unique member`);
  const bulk = { ...call, ...spec };
  const resolve: Resolver = (_, args: Readonly<Record<string, unknown>>, context) => bulkUpsert(bulk, args, context);
  const changeOne: Resolver = (_, args, context, info) =>
    changeObject(spec.collection, args as ChangeArguments, context, info, {
      rules: (given) => spec.rules?.(given as Input) ?? [],
      merge: (before, given, organisation) => {
        const key = given[call.key] ?? (before as Readonly<Record<string, unknown>>)[call.key];
        return spec.merge(before, { ...given, [call.key]: key } as unknown as Input, organisation);
      },
    });
  return {
    Mutation: {
      [call.operation]: Object.assign(resolve, { merge: spec.merge as Merge }),
      ...(call.change !== undefined && { [call.change]: changeOne }),
    },
    [call.result]: { [call.key]: (result) => (result as UpsertResult).key },
  };
}

/** Elements are as sent, not validated. */
async function bulkUpsert<Document extends Stored, Input extends object>(
  spec: Bulk<Document, Input>,
  args: Readonly<Record<string, unknown>>,
  context: RequestContext,
): Promise<UpsertReport> {
  const { data } = context;
  const [isAtomic, dryRun] = [args.atomic === true, args.dry_run === true];
  const check: Check = (element, room) => context.checkElement(spec.element, element, room);
  const elements = args[spec.list] as readonly unknown[];
  // the first point was charged with the request
  const more = Math.ceil(elements.length / ELEMENTS_PER_POINT) - 1;
  if (more > 0) await context.charge(more);
  if (!dryRun) await admitChanges(context);
  if (elements.length > SMALL_CALL) await context.takeTurn?.();
  const validated = await validateElements(elements, spec, check, data.pace());
  for (let attempt = 1; ; attempt += 1) {
    try {
      let stored = 0;
      const done = await context.write(
        async (session, now) => {
          const steps = await applyElements(context, spec, validated, { session, now, dryRun, isAtomic });
          if (isAtomic) refuseFaults(steps);
          stored = dryRun ? 0 : steps.filter(({ outcome }) => outcome === 'created' || outcome === 'updated').length;
          return report(steps, dryRun);
        },
        // a dry run leaves nothing behind, not even an empty collection
        { dryRun, writes: dryRun ? [] : [spec.collection], rows: elements.length },
      );
      if (stored > 0) noteChanges(data, stored);
      return done;
    } catch (error) {
      if (!isDuplicateKey(error) && !isWriteConflict(error)) throw error;
      if (attempt === ATTEMPTS)
        throw new AppError('conflict', 'Other requests kept changing the same objects; nothing was stored.');
    }
  }
}

/** What becomes of an element. */
interface Step {
  readonly checked: ValidatedElement;
  readonly outcome: Outcome;
  /** Undefined if it failed. */
  readonly id?: string;
}

interface Applying {
  readonly session: ClientSession;
  readonly now: Date;
  readonly dryRun: boolean;
  readonly isAtomic: boolean;
}

/** Reads, compares and writes in pieces. Returns a step for each element, in their order. */
async function applyElements<Document extends Stored, Input extends object>(
  { data, principal, holdRows }: RequestContext,
  spec: Bulk<Document, Input>,
  validated: readonly ValidatedElement[],
  { session, now, dryRun, isAtomic }: Applying,
): Promise<Step[]> {
  const steps: Step[] = [];
  const collection = data.collection(spec.collection);
  const reading = data.reading(holdRows);
  const { pace } = reading;
  let hasFailed = false;

  /** Decides what becomes of an element. Returns the row to store, if any. */
  function decide(index: number, existing: Document | undefined): RowChange<Document>[] {
    const one = validated[index] as ValidatedElement;
    const checked = withRules(withFaults(one, faultsBeside(existing, one, spec)), spec);
    if (checked.count > 0) {
      hasFailed = true;
      steps[index] = { checked, outcome: 'failed' };
      return [];
    }
    const merged = spec.merge(existing, checked.element as Input, principal.organisation);
    const { outcome, row, before } = step(existing, merged, now);
    steps[index] = { checked, outcome, id: row._id };
    return outcome === 'unchanged' ? [] : [{ row, before }];
  }

  async function apply(pieces: ReadonlyMap<string, Document>, indexes: Iterable<number>): Promise<void> {
    const changes: RowChange<Document>[] = [];
    for (const index of indexes) {
      const pause = pace();
      if (pause) await pause;
      changes.push(...decide(index, pieces.get(validated[index]?.key ?? '')));
    }
    if (!dryRun && !(isAtomic && hasFailed)) await writeRows(collection, changes, { ordered: false, session, pace });
  }

  const byKey = indexesByKey(validated, spec);
  await apply(new Map(), byKey.get(null) ?? []);
  byKey.delete(null);
  let keys = [...byKey.keys()];
  while (keys.length > 0) {
    const wanted = keys.slice(0, pieceOf(collection, {}, reading));
    const find = { filter: { [spec.key]: { $in: wanted } }, most: wanted.length, session };
    const piece = await readPiece(collection, find, reading);
    try {
      const rows = new Map(piece.rows.map((row) => [(row as Record<string, unknown>)[spec.key] as string, row]));
      const found = piece.isWhole ? new Set(wanted) : new Set(rows.keys());
      await apply(
        rows,
        [...found].flatMap((key) => byKey.get(key) ?? []),
      );
      keys = keys.filter((key) => !found.has(key));
    } finally {
      holdRows?.(-piece.bytes);
    }
  }
  return steps;
}

/** The positions of elements by the key to look up; null for those whose key is invalid. */
function indexesByKey(
  validated: readonly ValidatedElement[],
  { key: member }: Pick<BulkUpsert, 'key'>,
): Map<string | null, number[]> {
  const isValid = ({ at, faults }: ValidatedElement): boolean => !hasFaultAt(faults, `${at}/${member}`);
  const looked = new Set(validated.filter(isValid).map(({ key }) => key));
  const indexes = new Map<string | null, number[]>();
  for (const [index, { key }] of validated.entries()) {
    // another occurrence of a key has a fault there, but is compared with the same object
    const known = looked.has(key) ? key : null;
    const others = indexes.get(known);
    if (others) others.push(index);
    else indexes.set(known, [index]);
  }
  return indexes;
}

/** Adds the faults found by the rules across members, which apply only to an element with no other faults. */
function withRules<Input extends object>(
  one: ValidatedElement,
  { rules }: Pick<UpsertSpec<never, Input>, 'rules'>,
): ValidatedElement {
  if (one.count > 0 || !rules) return one;
  const faults = rules(one.element as Input);
  return withFaults(
    one,
    faults.map((fault) => ({ ...fault, pointer: one.at + (fault.pointer ?? '') })),
  );
}

/** Faults of an element in relation to the existing object with its key, if any. */
function faultsBeside(
  existing: Stored | undefined,
  { at, element, key, faults }: ValidatedElement,
  { key: member, needed }: Pick<BulkUpsert, 'key' | 'needed'>,
): Fault[] {
  if (!isObject(element)) return [];
  const erased = erasedFault(existing, at);
  if (erased) return [erased];
  const missing = existing ? [] : needed.filter((name) => element[name] === undefined);
  const found = missing.map((name): Fault => {
    return { pointer: `${at}/${name}`, code: 'required', detail: 'is required for a new object' };
  });
  const { id } = element;
  const isComparable = typeof id === 'string' && key !== null && !hasFaultAt(faults, `${at}/id`);
  if (isComparable && id.toLowerCase() !== existing?._id) {
    const detail = existing
      ? `is not the id of the object with this ${member}`
      : `must not be set: there is no object with this ${member} yet`;
    found.push({ pointer: `${at}/id`, code: 'conflict', detail });
  }
  return found;
}

/** @throws AppError validation_failed with the first faults of all elements, and the number of the others. */
function refuseFaults(steps: readonly Step[]): void {
  const total = steps.reduce((sum, { checked }) => sum + checked.count, 0);
  if (total === 0) return;
  const faults = steps.flatMap(({ checked }) => checked.faults).slice(0, LISTED_OF_CALL);
  const isCut = steps.some(({ checked }) => checked.isCut);
  throw validationFailed(faults, total - faults.length, isCut);
}

function step<Document extends Stored>(
  existing: Document | undefined,
  merged: Omit<Document, keyof Stored>,
  now: Date,
): RowChange<Document> & { readonly outcome: Outcome } {
  if (!existing) {
    const row = { _id: randomUUID(), ...merged, created_at: now, updated_at: now } as unknown as Document;
    return { outcome: 'created', row, before: undefined };
  }
  const { _id, created_at, updated_at } = existing;
  const kept = { _id, ...merged, created_at, updated_at };
  if (isSameRow(existing, kept)) return { outcome: 'unchanged', row: existing, before: existing };
  const row = Object.assign(kept, { updated_at: changedAt(updated_at, now) }) as unknown as Document;
  return { outcome: 'updated', row, before: existing };
}

function report(steps: readonly Step[], dryRun: boolean): UpsertReport {
  const list = faultLister();
  const results = steps.map(({ checked, outcome, id }, index): UpsertResult => {
    const { shownKey: key } = checked;
    if (id === undefined) return { index, key, id: null, outcome, errors: list(checked) };
    return { index, key, id: dryRun && outcome === 'created' ? null : id, outcome, errors: [] };
  });
  const count = (outcome: Outcome): number => results.filter((result) => result.outcome === outcome).length;
  return {
    created: count('created'),
    updated: count('updated'),
    unchanged: count('unchanged'),
    failed: count('failed'),
    results,
  };
}

/** The value of a member after an upsert: the given value; the cleared value for null; the existing or cleared value if omitted. */
export function choose<T>(given: T | null | undefined, existing: T | undefined, cleared: T): T {
  if (given === undefined && existing !== undefined) return existing;
  return given ?? cleared;
}

/** Members given in an upsert: omitted ones are unchanged, null clears them. */
export type Given<T> = { readonly [Member in keyof T]?: T[Member] | null };

export function chooseAll<T extends object>(given: Given<NoInfer<T>>, existing: NoInfer<T> | undefined, cleared: T): T {
  const chosen = { ...cleared };
  for (const name in cleared) {
    const value = choose<T[typeof name]>(given[name], existing?.[name], cleared[name]);
    if (value !== cleared[name]) chosen[name] = value;
  }
  return chosen;
}
