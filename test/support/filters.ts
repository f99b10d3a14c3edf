import { print } from 'graphql';
import type { ImportRecord } from '../../src/stored/records';
import { directiveOf, loadDocument, namedType, rootFieldNodes } from '../../src/schema/sdl';
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

/** The exact time of a row, to test the bound itself. */
export function timeIn(rows: Rows, member: string, share = 0.5): string {
  const values = rows.map((row) => String(row[member])).sort();
  return values[Math.floor(values.length * share)]!;
}

export function since(member: string, bound: string): Filter {
  return { args: { [member.replace('_at', '_since')]: bound }, keeps: (row) => row[member] >= bound };
}

export function before(member: string, bound: string): Filter {
  return { args: { [member.replace('_at', '_before')]: bound }, keeps: (row) => row[member] < bound };
}

/** Filters by a time: from it on, before it, the middle half of the rows, and a period that ends before it begins. */
export function byTime(rows: Rows, member: string): Filter[] {
  const [from, middle, to] = [0.25, 0.5, 0.75].map((share) => timeIn(rows, member, share)) as [string, string, string];
  return [
    since(member, middle),
    before(member, middle),
    both(since(member, from), before(member, to)),
    both(since(member, to), before(member, from)),
  ];
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
  readonly type: string;
  readonly isList: boolean;
}

/** The arguments of a list that compare a member, but for the search. */
export function argumentsOf(list: string): Argument[] {
  const { field } = rootFieldNodes(loadDocument()).find(({ field: { name } }) => name.value === list)!;
  return field
    .arguments!.filter((argument) => directiveOf(argument, 'filter') && argument.name.value !== 'q')
    .map(({ name, type }) => ({ name: name.value, type: namedType(type), isList: print(type).startsWith('[') }));
}

/** Filters by one argument with different values from the rows; their meaning is that of the argument's name. */
export function filtersBy(rows: Rows, { name, type, isList }: Argument): Filter[] {
  const at = name.replace(/_(since|before)$/, '_at');
  if (type === 'DateTime') {
    const by = name.endsWith('_since') ? since : before;
    return [0.5, 0.2, 0.8].map((share) => by(at, timeIn(rows, at, share)));
  }
  const values = [...new Set(rows.map((row) => row[name] ?? undefined))].filter((value) => value !== undefined);
  return values.map((value) => (isList ? oneOf(name, value as string) : equal(name, value)));
}

/** Every pair of arguments, with values such that leaving out either would give other rows, and some rows match if possible. */
export function pairsOf(list: string, records: Rows): Filter[] {
  const [rows, all] = [records.map(toRow), argumentsOf(list)];
  return all.flatMap((one, at) =>
    all.slice(at + 1).map((other) => {
      const pairs = filtersBy(records, one).flatMap((a) => filtersBy(records, other).map((b) => [a, b] as const));
      const telling = pairs.filter(([a, b]) =>
        [a, b].every((own) => rows.some((row) => own.keeps(row) && !both(a, b).keeps(row))),
      );
      if (telling.length === 0) throw new Error(`the rows of ${list} cannot tell ${one.name} from ${other.name}`);
      const matching = telling.find(([a, b]) => rows.some(both(a, b).keeps));
      return both(...(matching ?? telling[0]!));
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
