import type { ClientSession } from 'mongoose';
import type { OrganisationData } from '../tenant/organisationData';
import { partOf, readPiece } from '../mongo/readRows';
import { removeDetached } from '../stored/attachmentRows';
import { erasedCustomersOf } from '../stored/erasedCustomers';
import type { Row } from '../stored/resource';
import { isSameRow, type RowChange, stampedRow, writeRows } from '../stored/rows';
import type { Element } from './elements';
import type { Kind, Members } from './kinds';
import { type Names, readNames } from './names';
import { filterOf, mostOf, nextWanted, type Values } from './wanted';

/*
 * The rows that a piece of a call (as many elements as have rows that fit into memory) works on: read together, changed in memory, and written together.
 * An object may be part of another, its owner, which may sum up its parts: a thread counts its messages.
 */

/** Where and how elements are applied; see WriteCall. */
export interface ApplyOptions {
  readonly data: OrganisationData;
  readonly organisation: { readonly currency: string };
  readonly session: ClientSession;
  readonly now: Date;
  readonly dryRun: boolean;
  readonly isAtomic: boolean;
  readonly holdRows: ((bytes: number) => void) | undefined;
}

interface OpenRow {
  readonly kind: Kind;
  /** As it is in the database; undefined if there is none. */
  stored: Row | undefined;
  /** As the elements so far have changed it; undefined if there is none, or they have deleted it. */
  row: Row | undefined;
  /** Its parts as they were before they changed or were deleted: if there are any, what it sums up has to be read again. */
  formerParts: Row[];
}

export interface OpenRows {
  /** Looks up what the next elements name, so that `names` has it. Returns the index of the first element that is left for the next piece. */
  open(elements: readonly Element[], start: number): Promise<number>;
  /** Erased customers that open rows referred to when they were read. */
  readonly erasedCustomers: ReadonlySet<string>;
  /** An open row, as changed so far. */
  get(kind: Kind, id: string): Row | undefined;
  /** Changes a row, or deletes it with its parts if `row` is undefined. Its owner sums it up anew. */
  set(kind: Kind, id: string, row: Row | undefined): Promise<void>;
  /** Writes what has changed, and forgets the rows; keeps both if it may not store. */
  close(): Promise<void>;
  /** Releases the memory of rows that are counted, which are not used any more. */
  release(): void;
}

/** While `isStoring` is false, in a dry run or after a fault in an atomic call, it keeps the changes of all pieces instead of writing them. */
export function openRows(
  { data, session, now, holdRows }: ApplyOptions,
  names: Names,
  isStoring: () => boolean,
): OpenRows {
  /** Bytes that were counted by `holdRows`. */
  let held = 0;
  const hold = (bytes: number): void => {
    const before = held;
    // if it throws, none of them counts any more
    held = 0;
    holdRows?.(bytes);
    held = before + bytes;
  };
  const reading = data.reading(hold);
  const pace = data.pace();
  const open = new Map<Kind, Map<string, OpenRow>>();
  /** In the order in which they were first changed. */
  const changed = new Set<OpenRow>();
  /** Kinds of which a changed object has given up a unique value that it still has in the database. */
  const givingUp = new Set<Kind>();
  const erasedCustomers = new Set<string>();

  const rowsOf = (kind: Kind): Map<string, OpenRow> => {
    const rows = open.get(kind) ?? new Map<string, OpenRow>();
    open.set(kind, rows);
    return rows;
  };

  /** Reads rows of a kind. Those that are open stay as they are: in a dry run, elements before have changed them only here. */
  async function read(kind: Kind, values: Values): Promise<void> {
    const rows = rowsOf(kind);
    const named = filterOf(values);
    const most = mostOf(values);
    const ids: string[] = [];
    for (let isWhole = false; !isWhole;) {
      const filter = ids.length === 0 ? named : { $and: [named, { _id: { $nin: ids } }] };
      const piece = await readPiece(
        data.collection(kind.resource),
        { upTo: () => ({ filter, most, session }) },
        reading,
      );
      ({ isWhole } = piece);
      for (const id of await erasedCustomersOf(data, kind.resource, piece.rows, session)) erasedCustomers.add(id);
      for (const row of piece.rows) {
        ids.push(row._id);
        if (rows.has(row._id)) continue;
        const owner = kind.owner && ownerIn(kind.owner, row);
        // in a dry run, the parts of an object that an element deleted are still in the database
        const stored = owner && !owner.row ? undefined : row;
        rows.set(row._id, { kind, stored, row: stored, formerParts: [] });
        names.set(kind, row._id, stored);
      }
    }
  }

  /** Reads the objects that open parts belong to, where the elements named the parts alone. */
  async function readOwners({ member, to }: NonNullable<Kind['owner']>, parts: Iterable<OpenRow>): Promise<void> {
    const ids = [...parts].map(({ row }) => valueIn(row, member));
    const unreadIds = new Set(ids.filter((id) => typeof id === 'string').filter((id) => !rowsOf(to).has(id)));
    if (unreadIds.size > 0) await read(to, new Map([['id', unreadIds]]));
  }

  async function write(): Promise<void> {
    if (!isStoring()) return;
    const groups = new Map<string, { readonly kind: Kind; readonly own: OpenRow[] }>();
    for (const openRow of changed) {
      const name = `${String(turnOf(openRow))} ${openRow.kind.name}`;
      const group = groups.get(name) ?? { kind: openRow.kind, own: [] };
      group.own.push(openRow);
      groups.set(name, group);
    }
    // the name begins with the turn; within one, the order of the kinds does not matter
    for (const [, { kind, own }] of [...groups].sort(([left], [right]) => left.localeCompare(right))) {
      for (const openRow of own) await renew(openRow);
      const changes = own.flatMap(({ row, stored }): RowChange<Row>[] => {
        const isSame = row && stored ? isSameRow(stored, row) : row === stored;
        return isSame ? [] : [{ row, before: stored }];
      });
      await writeRows(data.collection(kind.resource), changes, { ordered: true, session, pace });
      for (const change of changes) await removeDetached(data, kind.resource.name, change, session);
      for (const openRow of own) openRow.stored = openRow.row;
    }
    changed.clear();
    givingUp.clear();
  }

  const ownerIn = ({ to, member }: NonNullable<Kind['owner']>, part: Row | undefined): OpenRow | undefined =>
    open.get(to)?.get(String(valueIn(part, member)));

  /** Whether what has changed must be written before another change of an object, or its deletion. */
  function mustWriteBefore(openRow: OpenRow, row: Row | undefined): boolean {
    const { kind, stored, row: before } = openRow;
    const hasParts = kind.parts.length > 0;
    // so that changes of its parts, which would be lost with it, have their events
    if (!row && hasParts) return true;
    // a unique value must be given up in the database before another object takes it, in the order of the elements
    if (changed.has(openRow) && hasOtherUnique(kind, before, row)) return true;
    // the same for a new object with parts, which would be written before the others (turnOf)
    if (hasParts && !stored && givingUp.has(kind)) return true;
    // a new owner adds up its parts here; when one changes, they are counted in the database, where they must be then
    const owner = kind.owner && before && ownerIn(kind.owner, before);
    return owner !== undefined && !owner.stored;
  }

  /** Reads again what a row sums up of its parts, if some have changed or are gone, or another program left it out and an element made it up. */
  async function renew(openRow: OpenRow): Promise<void> {
    const { kind, stored, row, formerParts } = openRow;
    const { summary, computed } = kind.resource;
    const isMadeUp = computed.some((name) => stored && valueIn(stored, name) === null && valueIn(row, name) !== null);
    if (!summary || !row || (formerParts.length === 0 && !isMadeUp)) return;
    openRow.row = await summary.renew(data, row, formerParts, session);
    openRow.formerParts = [];
  }

  async function removeParts(kind: Kind, id: string): Promise<void> {
    for (const part of kind.parts) {
      const member = String(part.owner?.member);
      if (isStoring()) await data.collection(part.resource).deleteMany({ [member]: id }, { session });
      for (const [partId, openRow] of rowsOf(part)) {
        if (valueIn(openRow.row, member) !== id) continue;
        openRow.row = openRow.stored = undefined;
        names.set(part, partId, undefined);
      }
    }
  }

  /** Notes that a part of another object was added, or if it was `before`, that it has changed or is gone. */
  function noteOwner(reference: NonNullable<Kind['owner']>, part: Row, before: Row | undefined): void {
    const owner = ownerIn(reference, part);
    if (!owner?.row) return;
    const { summary } = reference.to.resource;
    const row = !before && summary ? summary.add(owner.row, part) : owner.row;
    owner.row = stampedRow(row, row, now);
    if (before) owner.formerParts.push(before);
    changed.add(owner);
  }

  return {
    erasedCustomers,
    async open(elements, start) {
      const { end, rows, referred } = nextWanted(elements, start, (name) => reading.sizes.rowsPerPiece(partOf(name)));
      for (const [kind, values] of rows) await read(kind, values);
      for (const [kind] of rows) if (kind.owner) await readOwners(kind.owner, rowsOf(kind).values());
      for (const [kind, values] of referred)
        for (const row of await readNames(data, kind, values, session))
          if (!rowsOf(kind).has(row._id)) names.set(kind, row._id, row);
      return end;
    },
    get: (kind, id) => open.get(kind)?.get(id)?.row,
    async set(kind, id, row) {
      const openRow = rowsOf(kind).get(id) ?? { kind, stored: undefined, row: undefined, formerParts: [] };
      const before = openRow.row;
      if (mustWriteBefore(openRow, row)) await write();
      if (!row) await removeParts(kind, id);
      openRow.row = row;
      if (openRow.stored && hasOtherUnique(kind, openRow.stored, row)) givingUp.add(kind);
      rowsOf(kind).set(id, openRow);
      changed.add(openRow);
      const part = row ?? before;
      if (kind.owner && part) noteOwner(kind.owner, part, before);
    },
    async close() {
      await write();
      if (!isStoring()) return;
      open.clear();
      hold(-held);
    },
    release() {
      hold(-held);
    },
  };
}

/** When a row is written: an owner is created before its parts (0), so that events are in that order, but changed after them (2), since it sums them up. */
function turnOf({ kind, stored }: OpenRow): number {
  if (kind.owner) return 1;
  return stored || kind.parts.length === 0 ? 2 : 0;
}

/** Whether the value of a unique member changes; it does if one of the rows is missing. */
function hasOtherUnique(kind: Kind, before: Row | undefined, row: Row | undefined): boolean {
  return kind.unique.some((member) => valueIn(before, member) !== valueIn(row, member));
}

function valueIn(row: object | undefined, member: string): unknown {
  return (row as Members | undefined)?.[member] ?? null;
}
