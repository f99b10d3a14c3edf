import type { DataContext } from '../operations/context';
import type { ClientSession } from 'mongoose';
import type { Check, Fault } from '../errors';
import type { Resolver, Resolvers } from '../operations/run';
import { ELEMENTS_PER_POINT } from '../units';
import { hasObjects } from '../schema/metadata';
import type { BulkUpsert, Outcome } from '../schema/upserts';
import { applyElements, type Bulk, type Step } from './applyElements';
import type { ChangeSpec } from './change';
import { runAdmitted, type OnCommitted } from './unrecorded';
import { refuseFaults, storeAgain } from './elementCalls';
import { faultLister, validateElements } from './elementFaults';
import { mergeOf } from './merge';
import type { Reference } from './referenceFaults';
import type { Resource } from './resource';

/**
 * Bulk upserts (contract, section 3): reads existing objects, compares, and writes only changes, in one transaction, a piece at a time, so
 * that a call keeps no more rows in memory than fit into a piece. An invalid element fails on its own unless the call is atomic.
 */

interface UpsertResult {
  readonly index: number;
  /** As sent; null if it is not a text. */
  readonly key: string | null;
  /** Null if the element failed, or would be created in a dry run. */
  readonly id: string | null;
  readonly outcome: Outcome;
  readonly errors: readonly Fault[];
}

type UpsertReport = Record<Outcome, number> & { results: UpsertResult[] };

/** A call with more elements than this waits for its turn among the organisation's large requests, however short they are. */
const SMALL_CALL = 100;

/** Resolvers for a bulk call: the call, and the member of its results with the element's key, which is named as in the type, such as `sku`. */
export function upsertResolvers(call: BulkUpsert, collection: Resource, references: readonly Reference[]): Resolvers {
  const merge = mergeOf(call, collection.words, collection.gatewayIds);
  const bulk = { ...call, collection, merge, references, rules: collection.elementRules } as Bulk;
  const resolve: Resolver = (_, args: Readonly<Record<string, unknown>>, context, { schema }) =>
    bulkUpsert(bulk, args, context, hasObjects(schema));
  return {
    Mutation: { [call.operation]: resolve },
    [call.result]: { [call.key]: (result) => (result as UpsertResult).key },
  };
}

/** How a PATCH changes one object of a bulk call's type: as the call does, whose elements always have the key, which a PATCH may leave out. */
export function changeSpec(call: BulkUpsert, collection: Resource): ChangeSpec<object> {
  const merge = mergeOf(call, collection.words, collection.gatewayIds);
  return {
    rules: collection.elementRules,
    merge: (before, input, organisation) => {
      const key = input[call.key] ?? (before as Readonly<Record<string, unknown>>)[call.key];
      return merge(before, { ...input, [call.key]: key }, organisation);
    },
  };
}

/** Elements are as sent, not validated. */
async function bulkUpsert(
  spec: Bulk,
  args: Readonly<Record<string, unknown>>,
  context: DataContext,
  metadataIsObject: boolean,
): Promise<UpsertReport> {
  const isAtomic = args.atomic === true;
  const dryRun = args.dry_run === true;
  if (dryRun) context.authorise({ scope: spec.readScope, role: undefined }, 'A dry run, which tells what is stored,');
  const elements = args[spec.list] as readonly unknown[];
  // the first point was charged with the request
  const more = Math.ceil(elements.length / ELEMENTS_PER_POINT) - 1;
  if (more > 0) await context.charge(more);
  if (elements.length > SMALL_CALL) await context.takeTurn?.();
  const how = { isAtomic, dryRun, metadataIsObject };
  if (dryRun) return storeElements(spec, elements, context, how);
  return runAdmitted(context, elements.length, (onCommitted) =>
    storeElements(spec, elements, context, { ...how, onCommitted }),
  );
}

interface StoreOptions {
  readonly isAtomic: boolean;
  readonly dryRun: boolean;
  readonly metadataIsObject: boolean;
  readonly onCommitted?: OnCommitted;
}

async function storeElements(
  spec: Bulk,
  elements: readonly unknown[],
  context: DataContext,
  { isAtomic, dryRun, metadataIsObject, onCommitted }: StoreOptions,
): Promise<UpsertReport> {
  const { data } = context;
  const check: Check = (element, room) => context.checkElement(spec.element, element, room, metadataIsObject);
  const validated = await validateElements(elements, spec, check, data.pace());
  return storeAgain(async () => {
    // of the last run of the work, which is the one that was committed
    let stored = 0;
    let committed: ClientSession | undefined;
    // with an Idempotency-Key, the transaction stores the answer, too
    const result = await context.write(
      async (session, now) => {
        const steps = await applyElements(context, spec, validated, { session, now, dryRun, isAtomic });
        if (isAtomic) refuseFaults(steps);
        const changed = steps.filter(({ outcome }) => outcome === 'created' || outcome === 'updated').length;
        stored = dryRun ? 0 : changed;
        committed = session;
        return report(steps, dryRun);
      },
      // a dry run leaves nothing behind, not even an empty collection
      { dryRun, writes: dryRun ? [] : [spec.collection], rows: elements.length },
    );
    onCommitted?.(stored, committed?.operationTime);
    return result;
  });
}

function report(steps: readonly Step[], dryRun: boolean): UpsertReport {
  const faultsToList = faultLister();
  const results = steps.map(({ checked, outcome, id }, index): UpsertResult => {
    const { shownKey: key } = checked;
    if (id === undefined) return { index, key, id: null, outcome, errors: faultsToList(checked) };
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
