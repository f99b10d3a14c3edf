import type { ValidElement, Element } from './elements';
import { identityOf, type Kind } from './kinds';

/* What the next elements of a call name, by which one command for each collection reads all of it. */

/** By member: the values by which objects of a kind are looked up. */
export type Values = ReadonlyMap<string, ReadonlySet<string>>;
type Growing = Map<Kind, Map<string, Set<string>>>;

export interface Wanted {
  /** The index of the first element that is left for the next piece. */
  readonly end: number;
  /** Objects whose whole rows are read: those to write, and of the same kinds those only referred to, so that each kind takes one command. */
  readonly rows: ReadonlyMap<Kind, Values>;
  /** Objects of other kinds, which are only referred to. */
  readonly referred: ReadonlyMap<Kind, Values>;
}

/** Takes elements from `start` on, at least one, while the rows that they may need fit into a piece: the smallest `rowsPerPiece` of their collections. */
export function nextWanted(
  elements: readonly Element[],
  start: number,
  rowsPerPiece: (collection: string) => number,
): Wanted {
  const rows: Growing = new Map();
  const referred: Growing = new Map();
  let end = start;
  let count = 0;
  let most = Infinity;
  for (; end < elements.length; end += 1) {
    const valid = elements[end]?.valid;
    if (!valid) continue;
    const more = rowsOf(valid).filter(([kind, member, value]) => !rows.get(kind)?.get(member)?.has(value));
    for (const [kind] of more) most = Math.min(most, rowsPerPiece(kind.resource.name));
    if (end > start && count + more.length > most) break;
    count += more.length;
    for (const name of more) want(rows, name);
    for (const name of referencesOf(valid)) want(referred, name);
  }
  // not counted in the piece: at most one for each element and reference, and the memory of what is read is held (Reading.hold)
  for (const [kind, values] of referred) {
    if (!rows.has(kind)) continue;
    for (const [member, all] of values) for (const value of all) want(rows, [kind, member, value]);
    referred.delete(kind);
  }
  return { end, rows, referred };
}

type Name = readonly [kind: Kind, member: string, value: string];

function want(all: Growing, [kind, member, value]: Name): void {
  const values = all.get(kind) ?? new Map<string, Set<string>>();
  all.set(kind, values.set(member, (values.get(member) ?? new Set()).add(value)));
}

function namesBy(kind: Kind, member: string, value: string | undefined): Name[] {
  return value === undefined ? [] : [[kind, member, value]];
}

/** Names of the object of an element, of others that may have one of its unique values, and of the object that it is part of. */
function rowsOf({ kind, members }: ValidElement): Name[] {
  const ownNames = [...new Set([...kind.identities, ...kind.unique])].flatMap((member) =>
    namesBy(kind, member, identityOf(members, member)),
  );
  return kind.owner ? [...ownNames, ...namesIn(members, kind.owner)] : ownNames;
}

function referencesOf({ kind, members }: ValidElement): Name[] {
  return kind.references.flatMap((reference) => (reference === kind.owner ? [] : namesIn(members, reference)));
}

function namesIn(members: ValidElement['members'], { member, refMember, to }: Kind['references'][number]): Name[] {
  return [
    ...namesBy(to, 'id', identityOf(members, member)),
    ...namesBy(to, 'external_ref', identityOf(members, refMember)),
  ];
}

/** The filter that finds the objects with these values. */
export function filterOf(values: Values): object {
  const conditions = [...values].map(([member, all]) => ({ [member === 'id' ? '_id' : member]: { $in: [...all] } }));
  const [first = {}] = conditions;
  return conditions.length === 1 ? first : { $or: conditions };
}

/** The most objects that can have these values, each of which is unique. */
export function mostOf(values: Values): number {
  return [...values.values()].reduce((sum, { size }) => sum + size, 0);
}
