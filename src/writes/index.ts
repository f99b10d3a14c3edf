import type { ClientSession } from 'mongoose';
import { stampedWrite } from '../tenant/openWrites';
import type { OrganisationData } from '../tenant/organisationData';
import type { UnitOfWork } from '../tenant/unitOfWork';
import type { Writer } from '../tenant/slots';
import type { Check, Fault } from '../errors';
import { refuseFaults, storeAgain } from '../stored/elementCalls';
import { faultLister, repeatedKey } from '../stored/elementFaults';
import { applyElements, type Outcome, OUTCOMES, type Step } from './apply';
import { type Element, outlineOf, readElements } from './elements';
import type { Kind, Kinds } from './kinds';
import { writeVersions } from '../stored/writeVersions';

export { kindsOf, type Kinds } from './kinds';
export type { Outcome } from './apply';

/* Writes of operators to the data of an organisation (docs/decisions/operator-writes.md). */

/** The most characters that a result repeats of what a caller sent as a type. */
const REPEATED_TYPE = 32;

/** What became of an element, for the answer. */
export interface WriteResult {
  /** Of the element in the call. */
  readonly index: number;
  readonly type: string | null;
  readonly id: string | null;
  readonly external_ref: string | null;
  readonly outcome: Outcome;
  readonly errors: readonly Fault[];
}

export type WriteReport = Record<Outcome, number> & { readonly results: readonly WriteResult[] };

/** Where a call writes, and how. */
export interface WriteCall {
  readonly data: OrganisationData;
  readonly organisation: { readonly currency: string };
  readonly kinds: Kinds;
  /** Checks an element, without the members of its object. */
  readonly check: Check;
  readonly dryRun: boolean;
  readonly isAtomic: boolean;
  /** Counts the memory of rows, in bytes; a negative number releases it. @throws AppError if that is too many */
  readonly holdRows: ((bytes: number) => void) | undefined;
  readonly by: Writer;
  /** Runs the transaction of a call with an Idempotency-Key, and may resolve with an earlier answer; left out without one. */
  readonly write?: UnitOfWork | undefined;
}

/**
 * Writes elements, as a caller sent them, in their order and in one transaction. `placeOf` gives the pointer of an element by its index.
 * @throws AppError validation_failed if one is invalid and the call is atomic; conflict; and what a write throws
 */
export async function writeElements(
  sent: readonly unknown[],
  placeOf: (index: number) => string,
  call: WriteCall,
): Promise<WriteReport> {
  const { data, kinds, check, dryRun, isAtomic } = call;
  const elements = await readElements(sent, placeOf, kinds, check, data.pace());
  const write: UnitOfWork = call.write ?? ((work, how) => stampedWrite(data, work, { ...how, by: call.by }));
  const work = async (session: ClientSession, now: Date): Promise<WriteReport> => {
    const steps = await applyElements(elements, { ...call, session, now });
    if (isAtomic) refuseFaults(steps);
    return report(steps, dryRun);
  };
  // an element adds up to one row to each collection, but a deletion a version for each name of its object
  const mostNames = Math.max(1, ...[...kinds.byName.values()].map(({ identities }) => identities.length));
  const rows = elements.length * mostNames;
  const options = { dryRun, writes: dryRun ? [] : changedCollections(elements), rows };
  return storeAgain(() => write(work, options));
}

/** The collections that elements may change: their own, and those of the objects that they are part of, and of their parts. */
function changedCollections(elements: readonly Element[]): OrganisationData['collections'] {
  const validElements = elements.flatMap(({ valid }) => valid ?? []);
  const ownerAndParts = ({ owner, parts }: Kind): Kind[] => [...(owner ? [owner.to] : []), ...parts];
  const kinds = new Set(validElements.flatMap(({ kind }) => [kind, ...ownerAndParts(kind)]));
  // without one in the call, versions are only written if there are some already
  const hasVersions = validElements.some(({ version }) => version !== undefined);
  return [...[...kinds].map(({ resource }) => resource), ...(hasVersions ? [writeVersions] : [])];
}

type ShownNames = Pick<WriteResult, 'type' | 'external_ref'>;

/** What a result repeats of an element whose call failed before it was read. */
export const namesOf = (element: unknown): ShownNames => shownNames(outlineOf(element));

const shownNames = ({ type, ref }: Pick<Element, 'type' | 'ref'>): ShownNames => ({
  type: typeof type === 'string' ? type.slice(0, REPEATED_TYPE).toWellFormed() : null,
  external_ref: repeatedKey(ref),
});

function report(steps: readonly Step[], dryRun: boolean): WriteReport {
  const faultsToList = faultLister();
  const results = steps.map(({ element, outcome, id, checked }, index): WriteResult => {
    const { type, external_ref } = shownNames(element);
    return {
      index,
      type,
      id: dryRun && outcome === 'created' ? null : id,
      external_ref,
      outcome,
      errors: checked.count > 0 ? faultsToList({ ...checked, at: element.at }) : [],
    };
  });
  const counts = OUTCOMES.map((outcome) => [outcome, results.filter((result) => result.outcome === outcome).length]);
  return { ...(Object.fromEntries(counts) as Record<Outcome, number>), results };
}
