import { randomUUID } from 'node:crypto';
import type { Fault, FaultLimits } from '../errors';
import { fromRecord, type ImportRecord } from '../stored/records';
import { MAX_WORDS, storedWords } from '../stored/search';
import { erasedCustomerFault, hasPersonalData } from '../stored/erasedCustomers';
import { faultsAt, type Faults, LISTED_OF_ELEMENT, roomAfter, withFaults } from '../stored/elementFaults';
import { referenceFault } from '../stored/referenceFaults';
import type { Row } from '../stored/resource';
import { changedAt, erasedFault, isSameRow } from '../stored/rows';
import type { ValidElement, Element } from './elements';
import type { Kind, Members } from './kinds';
import { createNames, type Names } from './names';
import { recordOf } from './record';
import { type ApplyOptions, openRows, type OpenRows } from './rows';
import { createVersions, type Versions } from './versions';

/* Applies the elements of a call in their order, a piece (the next elements whose rows fit into memory) at a time. */

export const OUTCOMES = ['created', 'updated', 'unchanged', 'deleted', 'stale', 'failed'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What becomes of an element. */
export interface Step {
  readonly element: Pick<Element, 'at' | 'type' | 'ref'>;
  readonly outcome: Outcome;
  /** Null if the element names no object that there is, or would create one in a dry run. */
  readonly id: string | null;
  /** Why it failed; no faults for any other outcome. */
  readonly checked: Faults;
}

const NO_FAULTS: Faults = { faults: [], count: 0, isTruncated: false };

/**
 * Returns what became of each element, in their order. A dry run stores nothing, an atomic call nothing more from the first fault on: what it stored
 * before is for the caller to undo, by aborting the transaction.
 */
export async function applyElements(elements: readonly Element[], applying: ApplyOptions): Promise<Step[]> {
  const { data, session, dryRun, isAtomic } = applying;
  const names = createNames();
  const versions = createVersions(data, session);
  // `listed`: faults that the response will list
  const state = { hasFailed: false, listed: 0 };
  const isStoring = (): boolean => !dryRun && !(isAtomic && state.hasFailed);
  const rows = openRows(applying, names, isStoring);
  const pace = data.pace();
  const steps: Step[] = [];
  try {
    for (let at = 0; at < elements.length;) {
      const next = await rows.open(elements, at);
      const validElements = elements.slice(at, next).flatMap(({ valid }) => valid ?? []);
      // if any needs a version then for all, since an element without one may give its object a name that a later one with a version uses
      if (validElements.some(({ version, action }) => version !== undefined || action === 'delete'))
        await versions.read(
          validElements.map(({ kind, members }) => ({ kind, members, id: names.idOf(kind, members) })),
        );
      at = next;
      for (let index = steps.length; index < at; index += 1) {
        const pause = pace();
        if (pause) await pause;
        const element = elements[index];
        if (!element) continue;
        const step = await applyOne(element, { ...applying, names, versions, rows, room: roomAfter(state.listed) });
        if (step.outcome === 'failed') state.hasFailed = true;
        state.listed += Math.min(LISTED_OF_ELEMENT, step.checked.count);
        steps.push(step);
      }
      await rows.close();
    }
  } finally {
    // the transaction may run again, and reads them anew
    rows.release();
  }
  if (isStoring()) await versions.store();
  return steps;
}

interface Applier extends ApplyOptions {
  readonly names: Names;
  readonly versions: Versions;
  readonly rows: OpenRows;
  /** How many faults to find in the element: those that the response has no room for are only counted. */
  readonly room: FaultLimits;
}

async function applyOne(element: Element, applier: Applier): Promise<Step> {
  const { valid, at } = element;
  const doneAs = (outcome: Outcome, id: string | null = null): Step => ({ element, outcome, id, checked: NO_FAULTS });
  const fail = (checked: Faults): Step => ({ element, outcome: 'failed', id: null, checked });
  if (!valid) return fail(element);
  const { kind, action, members, version } = valid;
  const { names, versions, rows } = applier;
  const place = `${at}/${action}`;
  const namedId = names.idOf(kind, members);
  const before = namedId === undefined ? undefined : rows.get(kind, namedId);
  // an earlier element deleted the object that this one is part of, and so this one, too
  if (namedId !== undefined && !before) names.set(kind, namedId, undefined);
  const id = before?._id;
  const knownVersion = versions.of({ kind, id, members });
  if (version !== undefined && knownVersion !== undefined && version < knownVersion) return doneAs('stale', id ?? null);
  const erased = erasedFault(before, place);
  if (erased) return fail(withFaults(NO_FAULTS, [erased]));
  if (action === 'delete') return doneAs(await remove(valid, before, applier), id ?? null);
  if (action === 'patch' && !before)
    return fail(withFaults(NO_FAULTS, [{ pointer: place, code: 'not_found', detail: 'names no object' }]));
  const newRow = newRowOf(valid, before, place, applier);
  if ('count' in newRow) return fail(newRow);
  const isUnchanged = before !== undefined && isSameRow(before, newRow);
  const personal = isUnchanged ? undefined : personalFault(kind, newRow, rows, place);
  if (personal) return fail(withFaults(NO_FAULTS, [personal]));
  if (version !== undefined) versions.noteWritten(kind, newRow._id, version);
  if (isUnchanged) return doneAs('unchanged', newRow._id);
  await store(valid, before, newRow, applier);
  return doneAs(before ? 'updated' : 'created', newRow._id);
}

/** The fault of a row with personal data whose customer, or the customer of the object that it is part of, was erased. */
function personalFault({ resource, owner }: Kind, row: Row, rows: OpenRows, place: string): Fault | undefined {
  if (!hasPersonalData(resource, row)) return undefined;
  const own = erasedCustomerFault(resource, row, rows.erasedCustomers, place);
  if (own || !owner) return own;
  const of = rows.get(owner.to, String((row as Row & Members)[owner.member]));
  const fault = erasedCustomerFault(owner.to.resource, of, rows.erasedCustomers, place);
  return (
    fault && {
      ...fault,
      pointer: `${place}/${owner.member}`,
      detail: 'is of an erased customer; only the operator can readmit the customer',
    }
  );
}

/** The row that an element makes of an object, still with its old updated_at, or the faults of the element. */
function newRowOf(valid: ValidElement, before: Row | undefined, place: string, applier: Applier): Row | Faults {
  const { kind, action, members } = valid;
  const { names, now, organisation, room } = applier;
  const { input, faults } = resolved(valid, place, names);
  const id = before?._id ?? (typeof members.id === 'string' ? members.id : randomUUID());
  const record = recordOf(kind, input, { id, now, before, isPatch: action === 'patch', organisation });
  const checked = withFaults(faultsAt(place, record, kind.check, room), faults);
  if (checked.count > 0) return checked;
  const brokenRules = [...kind.resource.elementRules(input), ...(kind.resource.rules?.(record as ImportRecord) ?? [])];
  const ruleFaults = [
    ...brokenRules.map((fault) => ({ ...fault, pointer: place + (fault.pointer ?? '') })),
    ...conflicts(kind, id, record, place, applier),
    ...ownerFaults(kind, before, record, place),
  ];
  if (ruleFaults.length > 0) return withFaults(NO_FAULTS, ruleFaults);
  return toRow(kind, record, before);
}

/** The members with ids in place of references by external_ref, and faults of references to what is not there. */
function resolved({ kind, members }: ValidElement, place: string, names: Names): { input: Members; faults: Fault[] } {
  const refs = new Set(kind.references.map(({ refMember }) => refMember));
  const input: Record<string, unknown> = Object.fromEntries(
    Object.entries(members).filter(([name]) => !refs.has(name)),
  );
  const faults: Fault[] = [];
  for (const { member, refMember, to } of kind.references) {
    const ref = members[refMember];
    if (ref === null) input[member] = null;
    if (typeof ref === 'string') input[member] = names.idWith(to, 'external_ref', ref);
    const id = input[member];
    const at = typeof ref === 'string' ? refMember : member;
    if (typeof ref === 'string' || typeof id === 'string') {
      const named = { pointer: `${place}/${at}`, name: to.name, identifier: refMember === at ? 'external_ref' : 'id' };
      const fault = referenceFault(typeof id === 'string' ? names.get(to, id) : undefined, named);
      if (fault) faults.push(fault);
    }
    // so that the check does not find the required id missing, too: the fault above names what is
    if (typeof ref === 'string' && id === undefined) input[member] = NOWHERE;
  }
  return { input, faults };
}

/** The id of no object. */
const NOWHERE = '00000000-0000-0000-0000-000000000000';

/** Faults of values of unique members that another object has. */
function conflicts(kind: Kind, id: string, record: Members, place: string, { names }: Applier): Fault[] {
  return kind.unique.flatMap((member): Fault[] => {
    const otherId = names.idWith(kind, member, record[member]);
    if (otherId === undefined || otherId === id) return [];
    const detail = `belongs to another ${kind.name} (id ${otherId})`;
    return [{ pointer: `${place}/${member}`, code: 'conflict', detail }];
  });
}

/** The fault of an element that would move a part (such as a message of a thread) to another object. */
function ownerFaults({ owner }: Kind, before: Row | undefined, record: Members, place: string): Fault[] {
  if (!owner || !before) return [];
  const oldOwner = (before as Row & Members)[owner.member];
  if (oldOwner === record[owner.member]) return [];
  const detail = `belongs to another ${owner.to.name} (id ${String(oldOwner)})`;
  return [{ pointer: `${place}/${owner.member}`, code: 'conflict', detail }];
}

function toRow(kind: Kind, record: Members, before: Row | undefined): Row {
  const { resource } = kind;
  const { summary, records } = resource;
  const row = fromRecord(record, resource.stored) as unknown as Row;
  if (!summary) return records ? ({ ...row, search: resource.words(row) } as Row) : row;
  if (!before) return summary.begin({ ...row, search: resource.words(row) } as Row);
  // keeps its words, since those of its parts (a thread is found by its messages) are not read here
  return { ...row, search: [...new Set([...resource.words(row), ...storedWords(before)])].slice(0, MAX_WORDS) } as Row;
}

async function store({ kind }: ValidElement, before: Row | undefined, newRow: Row, applier: Applier): Promise<void> {
  const { names, rows, now } = applier;
  const last = (before as { updated_at?: Date } | undefined)?.updated_at;
  const hasTime = 'updated_at' in newRow;
  const row = hasTime ? ({ ...newRow, updated_at: last ? changedAt(last, now) : now } as Row) : newRow;
  await rows.set(kind, row._id, row);
  names.set(kind, row._id, row);
}

async function remove(
  { kind, members, version }: ValidElement,
  before: Row | undefined,
  applier: Applier,
): Promise<Outcome> {
  const { names, versions, rows, now } = applier;
  const knownVersion = version ?? versions.of({ kind, id: before?._id, members });
  const allNames = before ? { ...members, ...before, id: before._id } : members;
  if (knownVersion !== undefined) versions.noteDeleted(kind, allNames, knownVersion, now);
  if (!before) return 'unchanged';
  await rows.set(kind, before._id, undefined);
  names.set(kind, before._id, undefined);
  return 'deleted';
}
