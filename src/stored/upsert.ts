import type { RequestContext } from '../operations/context';
import type { ClientSession } from 'mongoose';
import { isDuplicateKey, isWriteConflict } from '../database/faults';
import { AppError, type Check, type Fault, validationFailed } from '../errors';
import type { Resolver, Resolvers } from '../operations/run';
import { published } from '../schema/model';
import type { Merge, Outcome } from '../schema/upserts';
import { applyElements, type Bulk, type Step, type Stored, type UpsertSpec } from './applyElements';
import { type ChangeArguments, changeObject } from './change';
import { admitted, type OnCommitted } from './unrecorded';
import { faultLister, LISTED_OF_CALL, validateElements } from './elementFaults';

/**
 * Bulk upserts (contract, section 3): reads existing objects, compares, and writes only changes, in one transaction, a piece at a time, so
 * that a call keeps no more rows in memory than fit into a piece. An invalid element fails on its own unless the call is atomic.
 */

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
  const [isAtomic, dryRun] = [args.atomic === true, args.dry_run === true];
  if (dryRun) context.authorise({ scope: spec.readScope, role: undefined }, 'A dry run, which tells what is stored,');
  const elements = args[spec.list] as readonly unknown[];
  // the first point was charged with the request
  const more = Math.ceil(elements.length / ELEMENTS_PER_POINT) - 1;
  if (more > 0) await context.charge(more);
  if (elements.length > SMALL_CALL) await context.takeTurn?.();
  if (dryRun) return storeElements(spec, elements, context, { isAtomic, dryRun });
  return admitted(context, elements.length, (onCommitted) =>
    storeElements(spec, elements, context, { isAtomic, dryRun, onCommitted }),
  );
}

interface Storing {
  readonly isAtomic: boolean;
  readonly dryRun: boolean;
  readonly onCommitted?: OnCommitted;
}

async function storeElements<Document extends Stored, Input extends object>(
  spec: Bulk<Document, Input>,
  elements: readonly unknown[],
  context: RequestContext,
  { isAtomic, dryRun, onCommitted }: Storing,
): Promise<UpsertReport> {
  const { data } = context;
  const check: Check = (element, room) => context.checkElement(spec.element, element, room);
  const validated = await validateElements(elements, spec, check, data.pace());
  for (let attempt = 1; ; attempt += 1) {
    try {
      let [stored, inSession] = [0, undefined as ClientSession | undefined];
      const done = await context.write(
        async (session, now) => {
          const steps = await applyElements(context, spec, validated, { session, now, dryRun, isAtomic });
          if (isAtomic) refuseFaults(steps);
          const changed = steps.filter(({ outcome }) => outcome === 'created' || outcome === 'updated').length;
          [stored, inSession] = [dryRun ? 0 : changed, session];
          return report(steps, dryRun);
        },
        // a dry run leaves nothing behind, not even an empty collection
        { dryRun, writes: dryRun ? [] : [spec.collection], rows: elements.length },
      );
      onCommitted?.(stored, inSession?.operationTime);
      return done;
    } catch (error) {
      if (!isDuplicateKey(error) && !isWriteConflict(error)) throw error;
      if (attempt === ATTEMPTS)
        throw new AppError('conflict', 'Other requests kept changing the same objects; nothing was stored.');
    }
  }
}

/** @throws AppError validation_failed with the first faults of all elements, and the number of the others. */
function refuseFaults(steps: readonly Step[]): void {
  const total = steps.reduce((sum, { checked }) => sum + checked.count, 0);
  if (total === 0) return;
  const faults = steps.flatMap(({ checked }) => checked.faults).slice(0, LISTED_OF_CALL);
  const isCut = steps.some(({ checked }) => checked.isCut);
  throw validationFailed(faults, total - faults.length, isCut);
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
