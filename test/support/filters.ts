import { print } from 'graphql';
import type { ImportRecord } from '../../src/stored/records';
import { published } from '../../src/schema/model';
import { directiveOf } from '../../src/schema/sdl';
import { namedType } from '../../src/sdl/nodes';
import type { Arguments } from './faces';
import { type Filter, toRow } from './resources';

/* Filters of lists, and which rows they keep. */

type Rows = readonly ImportRecord[];

export function equal(name: string, value: unknown): Filter {
  return { args: { [name]: value }, keeps: (row) => row[name] === value };
}

export function oneOf(name: string, ...values: readonly string[]): Filter {
  return { args: { [name]: values }, keeps: (row) => values.includes(row[name]) };
}

/** What each comparison means, written independently of the code under test. */
const MEANINGS: Readonly<Record<string, (value: Value, bound: Value) => boolean>> = {
  EQUALS: (value, bound) => value === bound,
  SINCE: (value, bound) => value >= bound,
  BEFORE: (value, bound) => value < bound,
  EMAIL: (value, bound) => value.toLowerCase() === bound.toLowerCase(),
  METADATA: (value, bound) => textsOf(value).includes(bound),
};

type Value = string;

/** The pairs of a row's metadata as filters name them. */
function textsOf(metadata: unknown): string[] {
  return Object.entries(metadata ?? {}).map(([key, value]) => `${key}:${String(value)}`);
}

/** A value of a row, to test the bound itself. */
export function valueIn(rows: Rows, member: string, share = 0.5): Value {
  const values = rows.flatMap((row) => ((row[member] ?? null) === null ? [] : [row[member] as Value])).sort(compare);
  return values[Math.floor(values.length * share)]!;
}

function compare(one: Value, other: Value): number {
  return one < other ? -1 : Number(one > other);
}

/** A filter whose argument is written differently. */
export function written(filter: Filter, args: Arguments): Filter {
  return { ...filter, args };
}

export function both(one: Filter, other: Filter): Filter {
  return { args: { ...one.args, ...other.args }, keeps: (row) => one.keeps(row) && other.keeps(row) };
}

export interface Argument {
  readonly name: string;
  readonly member: string;
  readonly by: string;
  readonly type: string;
  readonly isList: boolean;
}

/** The arguments of a list that compare a member, except the search. */
export function argumentsOf(list: string): Argument[] {
  const field = published.rootField(list)!;
  return field.arguments!.flatMap((argument) => {
    const { member = argument.name.value, by = 'WORDS' } = directiveOf(argument, 'filter') ?? {};
    const { name, type } = argument;
    return by === 'WORDS'
      ? []
      : [{ name: name.value, member, by, type: namedType(type), isList: print(type).startsWith('[') }];
  });
}

export function filterBy({ name, member, by, isList }: Argument, value: Value): Filter {
  const means = MEANINGS[by];
  if (!means) throw new Error(`test/support/filters.ts does not say what @filter(by: ${by}) means`);
  const keeps: Filter['keeps'] = (row) => (row[member] ?? null) !== null && means(row[member], value);
  return { args: { [name]: isList ? [value] : value }, keeps };
}

export function filtersBy(rows: Rows, argument: Argument): Filter[] {
  const values =
    argument.by === 'METADATA'
      ? new Set(rows.flatMap((row) => textsOf(row[argument.member])))
      : argument.by === 'EQUALS' || argument.by === 'EMAIL'
        ? new Set(rows.map((row) => (row[argument.member] ?? null) as Value | null))
        : [0.5, 0.2, 0.8].map((share) => valueIn(rows, argument.member, share));
  return [...values].flatMap((value) => (value === null ? [] : [filterBy(argument, value)]));
}

/** Filters by each argument of a list, and by both ends of a span: one inside the rows, and one that ends before it begins. */
export function filtersOf(list: string, rows: Rows): Filter[] {
  const all = argumentsOf(list);
  const spans = all.flatMap((from) => {
    const to = all.find(({ member, by }) => from.by === 'SINCE' && by === 'BEFORE' && member === from.member);
    if (!to) return [];
    const [low, high] = [0.25, 0.75].map((share) => valueIn(rows, from.member, share)) as [Value, Value];
    return [both(filterBy(from, low), filterBy(to, high)), both(filterBy(from, high), filterBy(to, low))];
  });
  return [...all.flatMap((argument) => filtersBy(rows, argument).slice(0, 2)), ...spans];
}

/** Every pair of arguments, with values such that leaving out either would give other rows, and some rows match if possible. */
export function pairsOf(list: string, records: Rows): Filter[] {
  const rows = records.map(toRow);
  const all = argumentsOf(list).map((argument) => ({
    name: argument.name,
    filters: filtersBy(records, argument).map((filter) => ({ filter, kept: new Set(rows.filter(filter.keeps)) })),
  }));
  return all.flatMap((one, at) =>
    all.slice(at + 1).map((other) => {
      let first: Filter | undefined;
      for (const a of one.filters)
        for (const b of other.filters) {
          const [few, many] = a.kept.size < b.kept.size ? [a.kept, b.kept] : [b.kept, a.kept];
          let matching = 0;
          for (const row of few) if (many.has(row)) matching += 1;
          if (matching === few.size) continue;
          if (matching > 0) return both(a.filter, b.filter);
          first ??= both(a.filter, b.filter);
        }
      if (!first) throw new Error(`the rows of ${list} cannot tell ${one.name} from ${other.name}`);
      return first;
    }),
  );
}

/** All arguments at once, each in turn with a value that excludes a row which all others keep. */
export function allBut(list: string, records: Rows): Filter[] {
  const all = argumentsOf(list).map((argument) => filtersBy(records, argument));
  for (const row of records.map(toRow)) {
    const kept = all.map((filters) => filters.find(({ keeps }) => keeps(row)));
    const excluding = all.map((filters) => filters.find(({ keeps }) => !keeps(row)));
    if ([...kept, ...excluding].includes(undefined)) continue;
    return all.map((_filters, at) =>
      kept.map((filter, index) => (index === at ? excluding[at]! : filter!)).reduce(both),
    );
  }
  throw new Error(`no row of ${list} has a value for each of its filters`);
}
