import { WITHOUT_SEARCH } from '../mongo/collection';
import { atMost } from '../mongo/native';
import { stampedWrite } from '../tenant/openWrites';
import type { OrganisationData } from '../tenant/organisationData';
import type { Writer } from '../tenant/slots';
import type { Fault } from '../errors';
import { converted } from './conversions';
import { withDefaults } from './merge';
import type { Resource, Row, Texts } from './resource';
import { changedAt, isSameMember, isSameRow, writeRows } from './rows';
import { idText } from '../units';

/*
 * What another program left out of its rows or stored with another type, and what follows from the rest (docs/decisions/invalid-rows.md):
 * search words and counters, which the tail (it reads the database's log) fills in too, and values that are converted, or have a default, by
 * `doctor --rows --fix` alone.
 */

/** What is wrong with a row, and what it becomes. */
export interface Correction {
  readonly before: Row;
  readonly row: Row;
  /** The names of the members that change. */
  readonly members: readonly string[];
  /** What keeps the row from being served after that. */
  readonly fault: Fault | undefined;
}

const memberOf = (row: object, name: string): unknown => (row as Readonly<Record<string, unknown>>)[name] ?? null;

const keyOf = ({ _id }: { readonly _id: unknown }): string => idText(_id);

/**
 * Looks at rows, and returns a correction for each that cannot be served or whose derived members are wrong. `converts` is their organisation if
 * values are to be converted too, and missing ones to get their default, which may be its currency. `texts` are as in {@link Resource.derive}.
 */
export async function correctionsOf(
  data: OrganisationData,
  resource: Resource,
  rows: readonly Row[],
  { converts, texts }: { readonly converts: { readonly currency: string } | undefined; readonly texts?: Texts },
): Promise<Correction[]> {
  if (rows.length === 0) return [];
  const faultIn = resource.faultIn(WITHOUT_SEARCH);
  const { members: all } = resource.stored;
  const hasTime = hasMember(resource, 'updated_at');
  const filledRows = rows.map((row) => {
    if (!converts) return row;
    const filledRow = withDefaults(all, converted(row, all), converts, true);
    return hasTime ? stamped(filledRow) : filledRow;
  });
  const derived = await resource.derive(data, filledRows, texts);
  const pace = data.pace();
  const corrections: Correction[] = [];
  for (const [at, before] of rows.entries()) {
    const pause = pace();
    if (pause) await pause;
    const derivedMembers = derived[at] ?? {};
    const whole = { ...filledRows[at], ...derivedMembers } as Row;
    // a row that cannot be served anyway keeps the values that somebody has to look at
    const row = faultIn(whole) ? ({ ...before, ...derivedMembers } as Row) : whole;
    const fault = faultIn(row);
    const members = Object.keys(row).filter((name) => {
      const value = memberOf(row, name);
      return !isSameMember(name, memberOf(before, name) ?? emptyValue(value), value);
    });
    if (fault || members.length > 0) corrections.push({ before, row, members, fault });
  }
  return corrections;
}

/** What stands for a missing member in the comparison with its new value: adding an empty list, of words, is no change. */
const emptyValue = (value: unknown): unknown => (Array.isArray(value) && value.length === 0 ? value : null);

/** Stands for the time of the write, which {@link withStamp} sets, while the row is checked. */
const NOW = new Date(0);

/** The row with a time of change, if it lacks one. */
function stamped(row: Row): Row {
  return memberOf(row, 'updated_at') === null ? ({ ...row, updated_at: NOW } as Row) : row;
}

/**
 * Stores corrections. Resolves with the ids of their rows, without those that have changed since they were looked at, which are not written: the
 * caller may look at them again.
 */
export async function storeCorrections(
  data: OrganisationData,
  resource: Resource,
  corrections: readonly Correction[],
  by: Writer,
): Promise<ReadonlySet<unknown>> {
  const toStore = corrections.filter(({ members }) => members.length > 0);
  if (toStore.length === 0) return new Set();
  const rows = data.collection(resource);
  const filter = { _id: { $in: toStore.map(({ before }) => before._id) } };
  return stampedWrite(
    data,
    async (session, now) => {
      const current = new Map<string, Row>();
      for await (const row of rows.find(filter, { session, ...atMost(toStore.length) })) current.set(keyOf(row), row);
      const same = toStore.filter(({ before }) => isSameRow(current.get(keyOf(before)) ?? {}, before));
      const changes = same.map((correction) => withStamp(resource, correction, now));
      await writeRows(rows, changes, { ordered: true, session });
      return new Set<unknown>(same.map(({ before }) => before._id));
    },
    { writes: [resource], rows: 0, by },
  );
}

/** The change with its time, unless it has only members that no API shows. */
function withStamp(resource: Resource, { before, row, members }: Correction, now: Date) {
  const isSeen = resource.stored.members.some(({ name }) => members.includes(name));
  const { updated_at: last } = before as { updated_at?: unknown };
  if (!isSeen || !hasMember(resource, 'updated_at')) return { before, row };
  return { before, row: { ...row, updated_at: last instanceof Date ? changedAt(last, now) : now } };
}

const hasMember = ({ stored }: Resource, member: string): boolean => stored.members.some(({ name }) => name === member);
