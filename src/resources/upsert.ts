import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type ClientSession, trusted } from 'mongoose';
import { isDuplicateKey, isWriteConflict } from '../database/faults';
import type { Collection } from '../database/collection';
import type { OrganisationData, UnitOfWork } from '../database/organisationData';
import { AppError, type Fault, validationFailed } from '../errors';
import { brokenTexts } from './brokenTexts';

/**
 * Bulk upserts (contract, section 3): read what exists, compare, and write only what changed, in one transaction as one
 * unordered bulkWrite. A bad element fails alone unless the call is atomic.
 */

interface Stored {
  readonly _id: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface UpsertSpec<Document extends Stored, Input> {
  readonly collection: Collection<Document>;
  /** The member that names an object in the caller's own words: sku, external_ref. */
  readonly key: string;
  /** Name of the list in the call, for pointers. */
  readonly list: string;
  /** The object as it would be after the write: from `existing`, or new. Its times are set by the engine. */
  readonly merge: (existing: Document | undefined, input: Input) => Omit<Document, keyof Stored>;
}

export interface UpsertOptions {
  readonly atomic: boolean;
  readonly dryRun: boolean;
  /** Runs the call as one transaction. */
  readonly write: UnitOfWork;
  /** Faults of one element against its input type. */
  readonly check: (element: unknown) => Fault[];
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

/** How often a call starts again when another one stored the same key at the same moment. */
const ATTEMPTS = 5;

export async function bulkUpsert<Document extends Stored, Input>(
  data: OrganisationData,
  spec: UpsertSpec<Document, Input>,
  elements: readonly Input[],
  options: UpsertOptions,
): Promise<UpsertReport> {
  const faults = findFaults(spec, elements, options.check);
  if (options.atomic && faults.some((found) => found.length > 0)) throw validationFailed(faults.flat());
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await options.write(async (session, now) => {
        const steps = await plan(data, spec, elements, faults, session, now);
        if (!options.dryRun) await write(data, spec, steps, session);
        return report(spec, elements, faults, steps, options);
      }, options);
    } catch (error) {
      if (!isDuplicateKey(error) && !isWriteConflict(error)) throw error;
      if (attempt === ATTEMPTS)
        throw new AppError('conflict', 'Other calls kept changing the same objects; nothing was stored.');
    }
  }
}

function findFaults<Document extends Stored, Input>(
  spec: UpsertSpec<Document, Input>,
  elements: readonly Input[],
  check: (element: unknown) => Fault[],
): Fault[][] {
  const seen = new Map<unknown, number>();
  return elements.map((element, index) => {
    const at = `/${spec.list}/${String(index)}`;
    const found = [...check(element), ...brokenTexts(element)].map((fault) => ({
      ...fault,
      pointer: at + (fault.pointer ?? ''),
    }));
    const key = keyOf(spec, element);
    const first = seen.get(key);
    if (key !== null && first !== undefined) {
      const detail = `is the same as in element ${String(first)} of this call`;
      return [...found, { pointer: `${at}/${spec.key}`, code: 'duplicate', detail }];
    }
    seen.set(key, index);
    return found;
  });
}

interface Step<Document> {
  readonly outcome: Exclude<Outcome, 'failed'>;
  readonly document: Document;
}

/** What each sound element comes to; undefined for those with faults. */
async function plan<Document extends Stored, Input>(
  data: OrganisationData,
  spec: UpsertSpec<Document, Input>,
  elements: readonly Input[],
  faults: readonly Fault[][],
  session: ClientSession,
  now: Date,
): Promise<(Step<Document> | undefined)[]> {
  const sound = elements.filter((_element, index) => faults[index]?.length === 0);
  const keys = sound.map((element) => keyOf(spec, element));
  const rows = (await data
    .collection(spec.collection)
    .find({ [spec.key]: trusted({ $in: keys }) } as object, undefined, { session })
    .lean()) as Document[];
  const existing = new Map(rows.map((row) => [(row as Record<string, unknown>)[spec.key], row]));
  return elements.map((element, index) =>
    faults[index]?.length === 0 ? step(spec, existing.get(keyOf(spec, element)), element, now) : undefined,
  );
}

function step<Document extends Stored, Input>(
  spec: UpsertSpec<Document, Input>,
  existing: Document | undefined,
  element: Input,
  now: Date,
): Step<Document> {
  const merged = spec.merge(existing, element);
  if (!existing) {
    const document = { _id: randomUUID(), ...merged, created_at: now, updated_at: now } as unknown as Document;
    return { outcome: 'created', document };
  }
  const { _id, created_at, updated_at, ...before } = existing;
  if (isDeepStrictEqual(before, { ...merged })) return { outcome: 'unchanged', document: existing };
  // a clock that was set back must not make updated_at go back
  const changedAt = new Date(Math.max(now.getTime(), updated_at.getTime()));
  return { outcome: 'updated', document: { _id, ...merged, created_at, updated_at: changedAt } as unknown as Document };
}

async function write<Document extends Stored, Input>(
  data: OrganisationData,
  spec: UpsertSpec<Document, Input>,
  steps: readonly (Step<Document> | undefined)[],
  session: ClientSession,
): Promise<void> {
  const operations = steps.flatMap((found): object[] => {
    if (!found || found.outcome === 'unchanged') return [];
    const { document } = found;
    return found.outcome === 'created'
      ? [{ insertOne: { document } }]
      : [{ replaceOne: { filter: { _id: document._id }, replacement: document } }];
  });
  if (operations.length === 0) return;
  // the driver's own bulkWrite: these documents were checked, and casting a thousand of them again costs more than storing
  const { collection } = data.collection(spec.collection);
  await collection.bulkWrite(operations as unknown as Parameters<typeof collection.bulkWrite>[0], {
    ordered: false,
    session,
  });
}

function report<Document extends Stored, Input>(
  spec: UpsertSpec<Document, Input>,
  elements: readonly Input[],
  faults: readonly Fault[][],
  steps: readonly (Step<Document> | undefined)[],
  { dryRun }: { dryRun: boolean },
): UpsertReport {
  const results = elements.map((element, index): UpsertResult => {
    const found = steps[index];
    const wouldBeMade = dryRun && found?.outcome === 'created';
    return {
      index,
      key: keyOf(spec, element),
      id: found && !wouldBeMade ? found.document._id : null,
      outcome: found?.outcome ?? 'failed',
      errors: faults[index] ?? [],
    };
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

function keyOf<Document extends Stored, Input>(spec: UpsertSpec<Document, Input>, element: Input): string | null {
  const key = (element as Record<string, unknown>)[spec.key];
  return typeof key === 'string' ? key : null;
}
