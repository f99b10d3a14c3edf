import { randomUUID } from 'node:crypto';
import { type ClientSession, trusted } from 'mongoose';
import type { RequestContext } from '../../context';
import { isDuplicateKey, isWriteConflict } from '../../database/faults';
import type { Collection } from '../../database/collection';
import type { OrganisationData, UnitOfWork } from '../../database/organisationData';
import { AppError, type Fault, type Findings, validationFailed } from '../../errors';
import { isSameRow, writeRows } from './rows';
import { faultLister, hasFaultAt, isObject, type Judged, judge, LISTED_OF_CALL, withFaults } from './elementFaults';

/**
 * Bulk upserts (contract, section 3): reads existing objects, compares, and writes only changes, in one transaction with one
 * unordered bulkWrite. An invalid element fails on its own unless the call is atomic.
 */

interface Stored {
  readonly _id: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface UpsertSpec<Document extends Stored, Input> {
  readonly collection: Collection<Document>;
  /** The member with the caller's key of an object: sku, external_ref. */
  readonly key: string;
  /** Name of the list in the call, for pointers. */
  readonly list: string;
  /** The object after the write, from `existing` if there is one. bulkUpsert sets its times. */
  readonly merge: (existing: Document | undefined, input: Input) => Omit<Document, keyof Stored>;
}

/** Arguments of every bulk call, beside the list of its elements. */
export interface UpsertArguments {
  readonly atomic?: boolean | null;
  readonly dry_run?: boolean | null;
}

/** The options of a bulk call whose elements have an input type. */
export function upsertOptions(
  type: string,
  { atomic, dry_run: dryRun }: UpsertArguments,
  context: Pick<RequestContext, 'write' | 'checkElement'>,
): UpsertOptions {
  return {
    atomic: atomic ?? false,
    dryRun: dryRun ?? false,
    write: context.write,
    check: (element) => context.checkElement(type, element),
  };
}

export interface UpsertOptions {
  readonly atomic: boolean;
  readonly dryRun: boolean;
  /** Runs the call as one transaction. */
  readonly write: UnitOfWork;
  /** Validates an element against its input type. */
  readonly check: (element: unknown) => Findings;
}

type Outcome = 'created' | 'updated' | 'unchanged' | 'failed';

export interface UpsertResult {
  readonly index: number;
  readonly key: string | null;
  readonly id: string | null;
  readonly outcome: Outcome;
  readonly errors: readonly Fault[];
}

export type UpsertReport = Record<Outcome, number> & { results: UpsertResult[] };

/** Maximum attempts of a call, if others store the same keys at the same time. */
const ATTEMPTS = 5;

/** Elements are as sent, not validated. */
export async function bulkUpsert<Document extends Stored, Input>(
  data: OrganisationData,
  spec: UpsertSpec<Document, Input>,
  elements: readonly unknown[],
  options: UpsertOptions,
): Promise<UpsertReport> {
  const judged = await judge(elements, spec, options.check, () => data.giveWay());
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await options.write(async (session, now) => {
        const steps = await plan(data, spec, judged, session, now);
        if (options.atomic) refuseFaults(steps);
        const changed = steps.flatMap((found) =>
          found.outcome === 'created' || found.outcome === 'updated'
            ? { row: found.document, isNew: found.outcome === 'created' }
            : [],
        );
        if (!options.dryRun) await writeRows(data.collection(spec.collection), changed, { ordered: false, session });
        return report(steps, options);
      }, options);
    } catch (error) {
      if (!isDuplicateKey(error) && !isWriteConflict(error)) throw error;
      if (attempt === ATTEMPTS)
        throw new AppError('conflict', 'Other requests kept changing the same objects; nothing was stored.');
    }
  }
}

interface Sound<Document> {
  readonly outcome: Exclude<Outcome, 'failed'>;
  readonly document: Document;
}

type Step<Document> = { readonly of: Judged } & ({ readonly outcome: 'failed' } | Sound<Document>);

/** Decides the outcome of each element. */
async function plan<Document extends Stored, Input>(
  data: OrganisationData,
  spec: UpsertSpec<Document, Input>,
  judged: readonly Judged[],
  session: ClientSession,
  now: Date,
): Promise<Step<Document>[]> {
  const keys = judged.filter(({ at, key, faults }) => key !== null && !hasFaultAt(faults, `${at}/${spec.key}`));
  const rows = (await data
    .collection(spec.collection)
    .find({ [spec.key]: trusted({ $in: keys.map(({ key }) => key) }) } as object, undefined, { session })
    .lean()) as Document[];
  const existing = new Map(rows.map((row) => [(row as Record<string, unknown>)[spec.key], row]));
  return judged.map((one) => {
    const stands = existing.get(one.key);
    const of = withFaults(one, faultsBeside(stands, one, spec.key));
    return of.count > 0 ? { of, outcome: 'failed' } : { of, ...step(spec, stands, of.element as Input, now) };
  });
}

/** Faults of an element in relation to the existing object with its key, if any. */
function faultsBeside(existing: Stored | undefined, { at, element, key, faults }: Judged, member: string): Fault[] {
  if (!isObject(element)) return [];
  const found: Fault[] = [];
  const { id, name } = element;
  if (!existing && name === undefined) {
    found.push({ pointer: `${at}/name`, code: 'required', detail: 'is required for a new object' });
  }
  const isJudged = typeof id === 'string' && key !== null && !hasFaultAt(faults, `${at}/id`);
  if (isJudged && id.toLowerCase() !== existing?._id) {
    const detail = existing
      ? `is not the id of the object with this ${member}`
      : `must not be set: there is no object with this ${member} yet`;
    found.push({ pointer: `${at}/id`, code: 'conflict', detail });
  }
  return found;
}

/** @throws AppError validation_failed with the first faults of all elements, and the number of the others. */
function refuseFaults(steps: readonly Step<unknown>[]): void {
  const total = steps.reduce((sum, { of }) => sum + of.count, 0);
  if (total === 0) return;
  const faults = steps.flatMap(({ of }) => of.faults).slice(0, LISTED_OF_CALL);
  throw validationFailed(faults, total - faults.length);
}

function step<Document extends Stored, Input>(
  spec: UpsertSpec<Document, Input>,
  existing: Document | undefined,
  element: Input,
  now: Date,
): Sound<Document> {
  const merged = spec.merge(existing, element);
  if (!existing) {
    const document = { _id: randomUUID(), ...merged, created_at: now, updated_at: now } as unknown as Document;
    return { outcome: 'created', document };
  }
  const { _id, created_at, updated_at, ...before } = existing;
  if (isSameRow(before, { ...merged })) return { outcome: 'unchanged', document: existing };
  // updated_at must not go back if the clock was set back
  const changedAt = new Date(Math.max(now.getTime(), updated_at.getTime()));
  return { outcome: 'updated', document: { _id, ...merged, created_at, updated_at: changedAt } as unknown as Document };
}

function report(steps: readonly Step<Stored>[], { dryRun }: { dryRun: boolean }): UpsertReport {
  const list = faultLister();
  const results = steps.map((found, index): UpsertResult => {
    const { shownKey: key } = found.of;
    if (found.outcome === 'failed') return { index, key, id: null, outcome: 'failed', errors: list(found.of) };
    const { outcome, document } = found;
    return { index, key, id: dryRun && outcome === 'created' ? null : document._id, outcome, errors: [] };
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
